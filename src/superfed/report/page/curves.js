// What of a method's panel stays as it is while λ moves.

const MOST_THREADS = 150; // so many clients' own curves can be seen through each other

function drawReference(chart, box, { name, value }) {
  const y = round1(box.down(value));
  chart.append(
    svg(
      "path",
      { d: `M${box.left} ${y}H${box.right}`, class: "reference" },
      svg("title", {}, `${name}, without a λ: ${percent(value)} %`),
    ),
  );
  chart.append(
    words(
      `${shortened(name, 16)} ${percent(value)}`,
      box.right - 3,
      y > box.top + 16 ? y - 4 : y + 13,
      "end",
      "reference-name",
    ),
  );
}

// The mean with its band; faintly each client's own curve, or of very many where four fifths of them lie.
function drawCurves(chart, box, index, runs, people, lambdas) {
  const points = lambdas
    .map((lambda) => ({ lambda, mean: overRuns(runs, "mean", lambda), std: overRuns(runs, "std", lambda) }))
    .filter((point) => known(point.mean));
  const place = (lambda, value) => [box.across(lambda), box.down(clamp(value, box.y))];
  const deviation = (point) => (known(point.std) ? point.std : 0);
  const above = points.map((point) => place(point.lambda, Math.min(1, point.mean + deviation(point))));
  const below = points.map((point) => place(point.lambda, Math.max(0, point.mean - deviation(point)))).reverse();
  if (points.length) chart.append(svg("path", { d: trail([...above, ...below]) + "Z", class: tint("band", index) }));
  if (people.length && people.length <= MOST_THREADS) {
    const threads = people.map(({ run, row }) =>
      trail(
        run.clients.lambdas
          .map((lambda, i) => [box.across(lambda), box.down(at(run, row, i))])
          .filter((p) => Number.isFinite(p[1])),
      ),
    );
    chart.append(svg("path", { d: threads.join(""), class: tint("thread stroke", index) }));
  } else if (people.length) {
    for (const share of [0.1, 0.9]) {
      const edge = lambdas.map((lambda) =>
        place(
          lambda,
          quantile(
            people.map(({ run, row }) => at(run, row, columnOf(run.clients.lambdas, lambda))),
            share,
          ),
        ),
      );
      chart.append(
        svg(
          "path",
          { d: trail(edge), class: tint("edge stroke", index) },
          svg("title", {}, `${share * 100} % of clients are below`),
        ),
      );
    }
  }
  chart.append(
    svg("path", {
      d: trail(points.map((point) => place(point.lambda, point.mean))),
      class: tint("stroke", index),
    }),
  );
}

function quantile(values, share) {
  const ordered = Float64Array.from(values.filter(Number.isFinite)).sort();
  return ordered.length ? ordered[Math.min(ordered.length - 1, Math.floor(share * ordered.length))] : NaN;
}

// How many clients chose each λ on their own validation data.
function drawChosen(chart, box, runs, lambdas, index) {
  const counts = lambdas.map(() => 0);
  for (const run of runs)
    for (const chosen of unpack(run.clients.chosen)) counts[columnOf(lambdas, run.clients.lambdas[chosen])] += 1;
  const all = counts.reduce((sum, n) => sum + n, 0);
  if (!all) return;
  const base = box.height - 4;
  const most = Math.max(...counts);
  const width = Math.max(2, Math.min(14, ((box.right - box.left) / lambdas.length) * 0.72));
  counts.forEach((n, i) => {
    if (!n) return;
    const tall = Math.max(1, (n / most) * 30);
    const note = `${count(n)} of ${count(all)} clients chose λ = ${lambdaName(lambdas[i])} on their validation data`;
    chart.append(
      svg(
        "rect",
        {
          x: round1(box.across(lambdas[i]) - width / 2),
          y: round1(base - tall),
          width: round1(width),
          height: round1(tall),
          class: tint("chosen fill", index),
        },
        svg("title", {}, note),
      ),
    );
  });
  chart.append(svg("path", { d: `M${box.left} ${base}H${box.right}`, class: "grid" }));
  chart.append(
    words("clients by their", box.right + 14, base - 14, "start"),
    words("validated λ", box.right + 14, base, "start"),
  );
}
