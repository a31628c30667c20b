// How accuracy falls on clients, from the worst-off to the best-off, and how many are below a level.

const MOST_CORNERS = 400;

function drawFairness(place) {
  const methods = data.methods
    .filter((method) => method.runs.some((run) => run.clients))
    .map((method) => {
      const values = peopleIn(runsOf(method, "all"))
        .map(({ run, row }) => validatedAccuracy(run, row))
        .filter(Number.isFinite);
      return { name: method.name, index: method.index, values: Float64Array.from(values).sort() };
    })
    .filter((method) => method.values.length);
  const width = halfWidth();
  const lowest = Math.min(...methods.map((method) => method.values[0]));
  const range = around([lowest, 1], [0, 1]);
  const shares = [0, 0.25, 0.5, 0.75, 1];
  const sorted = methods.map(({ name, index, values }) => ({
    name,
    index,
    points: thinned(values).map((i) => [values.length > 1 ? i / (values.length - 1) : 0, values[i]]),
  }));
  const below = methods.map(({ name, index, values }) => ({
    name,
    index,
    points: [
      [range[0], shareBelow(values, range[0])],
      ...thinned(values).map((i) => [values[i], (i + 1) / values.length]),
      [1, 1],
    ],
  }));
  const tell = (share) => `${Math.round(100 * share)} %`;
  place.replaceChildren(
    html(
      "div",
      { class: "pair" },
      figure(
        "Clients from the worst-off to the best-off, each at its validated λ. A flat line is a fair method.",
        lineChart({
          width,
          height: 290,
          series: sorted,
          xRange: [0, 1],
          yRange: range,
          xMarks: shares,
          xTitle: "clients, sorted",
          xName: tell,
          yTitle: "accuracy, %",
          atRest: false,
          description: "Clients' accuracies in ascending order, by method.",
        }),
      ),
      figure(
        "The share of clients at or below an accuracy. Further right is better.",
        lineChart({
          width,
          height: 290,
          series: below,
          steps: true,
          atRest: false,
          xRange: range,
          yRange: [0, 1],
          xMarks: marks(range[0], range[1], 5),
          xTitle: "accuracy, %",
          xName: axisPercent,
          yTitle: "share of clients, %",
          format: (share) => (known(share) ? tell(share) : NOTHING),
          description: "Cumulative distribution of clients' accuracies, by method.",
        }),
      ),
    ),
  );
}

// Of very many values, enough for a line.
function thinned(values) {
  const count = Math.min(values.length, MOST_CORNERS);
  return Array.from({ length: count }, (_, i) => (count > 1 ? Math.round((i * (values.length - 1)) / (count - 1)) : 0));
}

function shareBelow(values, level) {
  let n = 0;
  while (n < values.length && values[n] < level) n += 1;
  return n / values.length;
}
