// One method in the explorer: its curve over λ, and beside it, on the same scale of accuracy, every client as a dot.

const CROWD = 3000; // more dots than this jump instead of gliding

function makePanel(method, width, yRange, reference, choose, moveTo) {
  const runs = runsOf(method);
  const people = peopleIn(runs);
  const measured = runs.length ? runs : method.runs; // their means are known where their clients are not
  const lambdas = runs.length ? runs[0].clients.lambdas : method.runs[0].lambdas;
  const height = 292;
  const dotsWidth = Math.round(width * 0.36);
  const box = frame(width, height, [12, dotsWidth + 12, 78, 34], [0, 1], yRange);
  const dots = { left: box.right + 14, right: width - 4 };
  const chart = picture(width, height, `${method.name}: mean test accuracy over λ, and each client's at the chosen λ.`);
  chart.append(
    ...axes(box, {
      xMarks: [0, 0.5, 1],
      yMarks: marks(yRange[0], yRange[1], 5),
      yName: axisPercent,
      xName: (x) => lambdaName(x),
    }),
  );
  chart.append(
    words("federated", box.left - 4, box.bottom + 32, "start", "end-of-axis"),
    words("local", box.right + 4, box.bottom + 32, "end", "end-of-axis"),
    words("λ", (box.left + box.right) / 2, box.bottom + 32, "middle", "title"),
  );
  for (const mark of marks(yRange[0], yRange[1], 5))
    chart.append(svg("path", { d: `M${dots.left} ${round1(box.down(mark))}H${dots.right}`, class: "grid faint" }));
  drawCurves(chart, box, method.index, measured, people, lambdas);
  if (reference) drawReference(chart, box, reference);
  drawChosen(chart, box, runs, lambdas, method.index);
  const hair = svg("path", { class: "hair now" });
  const bead = svg("circle", { r: 5, class: tint("mark bead", method.index) });
  const own = svg("path", { class: "thread picked" });
  const cloud = svg("path", { class: tint("dots stroke", method.index) });
  const ring = svg("circle", { r: 5.5, class: "ring", visibility: "hidden" });
  const target = svg("rect", {
    x: box.left - 6,
    y: box.top,
    width: box.right - box.left + 12,
    height: box.bottom - box.top + 24,
    class: "catch slide",
  });
  const dotTarget = svg("rect", {
    x: dots.left - 8,
    y: 0,
    width: dots.right - dots.left + 12,
    height: box.bottom + 8,
    class: "catch pick",
  });
  chart.append(own, hair, bead, cloud, ring, target, dotTarget);
  const number = html("output", { class: "big" });
  const more = html("span", { class: "note" });
  const absent = runs.reduce((sum, run) => sum + run.clients.of, 0) - people.length;
  const node = html(
    "div",
    { class: "panel", "data-method": method.name },
    html("h3", {}, key(method.index), method.name),
    html("p", { class: "reading" }, number, more),
    chart,
    absent > 0
      ? html(
          "p",
          { class: "note" },
          `Drawn are ${count(people.length)} of ${count(people.length + absent)} clients; the numbers are of all.`,
        )
      : "",
  );
  node.style.width = `${width}px`;

  let places = [];
  let frameId = 0;

  const follow = (event) => {
    if (event.type !== "pointerdown" && !(event.buttons & 1)) return;
    const share = (pointIn(chart, event)[0] - box.left) / (box.right - box.left);
    moveTo(lambdas[columnOf(lambdas, clamp(share, [0, 1]))]);
  };
  target.addEventListener("pointerdown", (event) => {
    target.setPointerCapture(event.pointerId);
    follow(event);
  });
  target.addEventListener("pointermove", follow);
  dotTarget.addEventListener("click", (event) => {
    const [x, y] = pointIn(chart, event);
    let best = -1;
    let nearest = 20 ** 2;
    places.forEach(([px, py], i) => {
      const distance = (px - x) ** 2 + (py - y) ** 2;
      if (distance < nearest) [nearest, best] = [distance, i];
    });
    if (best >= 0) choose({ seed: people[best].seed, id: people[best].id });
  });

  function show(glide) {
    const column = columnOf(lambdas, state.lambda);
    const lambda = lambdas[column];
    const [average, std, worst] = ["mean", "std", "worst10"].map((name) => overRuns(measured, name, lambda));
    const elsewhere = lambda === state.lambda ? "" : `, at λ = ${lambdaName(lambda)}, the nearest it has`;
    number.textContent = `${percent(average)} %`;
    more.textContent = `±${percent(std)} over clients, worst 10 % ${percent(worst)}${elsewhere}`;
    const x = round1(box.across(lambda));
    hair.setAttribute("d", `M${x} ${box.top}V${box.bottom}`);
    bead.setAttribute("cx", x);
    if (known(average)) bead.setAttribute("cy", round1(box.down(average)));
    const values = people.map(({ run, row }) => at(run, row, columnOf(run.clients.lambdas, lambda)));
    const next = stack(values, box, dots, people.length);
    arrive(next, glide && !calm.matches && people.length <= CROWD && places.length === next.places.length);
    showPicked(column);
  }

  function arrive(next, glide) {
    cancelAnimationFrame(frameId);
    cloud.style.strokeWidth = `${next.size}px`;
    const from = places;
    const settle = (share) => {
      places = next.places.map(([x, y], i) =>
        share < 1 ? [from[i][0] + share * (x - from[i][0]), from[i][1] + share * (y - from[i][1])] : [x, y],
      );
      cloud.setAttribute(
        "d",
        places.map(([x, y]) => (Number.isFinite(y) ? `M${round1(x)} ${round1(y)}h0` : "")).join(""),
      );
      moveRing();
    };
    if (!glide) return settle(1);
    const began = performance.now();
    const step = (now) => {
      const share = Math.min(1, (now - began) / 180);
      settle(share < 1 ? 1 - (1 - share) ** 3 : 1);
      if (share < 1) frameId = requestAnimationFrame(step);
    };
    frameId = requestAnimationFrame(step);
  }

  function pickedPlace() {
    return state.client ? people.findIndex(({ id, seed }) => id === state.client.id && seed === state.client.seed) : -1;
  }

  function moveRing() {
    const place = pickedPlace();
    const there = place >= 0 && places[place] && Number.isFinite(places[place][1]);
    ring.setAttribute("visibility", there ? "visible" : "hidden");
    if (!there) return;
    ring.setAttribute("cx", round1(places[place][0]));
    ring.setAttribute("cy", round1(places[place][1]));
  }

  function showPicked() {
    const place = pickedPlace();
    if (place < 0) own.setAttribute("d", "");
    else {
      const { run, row } = people[place];
      const points = run.clients.lambdas.map((lambda, i) => [box.across(lambda), box.down(at(run, row, i))]);
      own.setAttribute("d", trail(points.filter((point) => Number.isFinite(point[1]))));
    }
    moveRing();
  }

  return { node, show, showPicked };
}
