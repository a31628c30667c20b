// One client: its curve with every method, the classes it holds, and whether its models know what they know.

const MOST_CLASSES = 14;

function makeClient(choose) {
  const input = html("input", {
    type: "number",
    min: 0,
    step: 1,
    id: "client",
    "aria-label": "Number of a client",
    onchange: () => go(Number(input.value)),
  });
  const seeds = html("select", {
    "aria-label": "Seed of the run the client is in",
    onchange: () => go(state.client.id, Number(seeds.value)),
  });
  const seedLabel = html("label", {}, "seed ", seeds);
  const step = (words, pick) => html("button", { type: "button", onclick: () => pick() }, words);
  const body = html("div", { class: "client-body" });
  const name = html("span", { class: "client-name" });
  const controls = html(
    "div",
    { class: "control", role: "group", "aria-label": "Pick a client" },
    html("label", { for: "client" }, "Client "),
    input,
    seedLabel,
    step("previous", () => neighbour(-1)),
    step("next", () => neighbour(1)),
    html("span", { class: "note" }, "at this λ the "),
    step("worst", () => ranked(0)),
    step("median", () => ranked(0.5)),
    step("best", () => ranked(1)),
  );
  const node = html("div", { class: "client" }, html("h3", {}, "One client ", name), controls, body);

  const mixing = data.methods.filter((method) => method.mixes);
  const run = (seed = state.client.seed) =>
    runWithSeed(
      mixing.find((method) => runWithSeed(method, seed)),
      seed,
    );

  // To a client by its number, or to the nearest there is.
  function go(id, seed = state.client.seed) {
    const ids = unpack(run(seed).clients.ids);
    if (rowOf(run(seed), id) < 0)
      id = ids.reduce((best, one) => (Math.abs(one - id) < Math.abs(best - id) ? one : best), ids[0]);
    choose({ seed, id });
  }

  function neighbour(by) {
    const ids = unpack(run().clients.ids);
    const row = Math.max(0, rowOf(run(), state.client.id));
    choose({ seed: state.client.seed, id: ids[(row + by + ids.length) % ids.length] });
  }

  function ranked(share) {
    const seed = state.client.seed;
    const one = run();
    const column = columnOf(one.clients.lambdas, state.lambda);
    const order = Array.from(unpack(one.clients.ids), (id, row) => [at(one, row, column), id])
      .filter(([value]) => Number.isFinite(value))
      .sort((a, b) => a[0] - b[0]);
    if (order.length) choose({ seed, id: order[Math.round(share * (order.length - 1))][1] });
  }

  function show() {
    const { seed, id } = state.client;
    const known = [
      ...new Set(mixing.flatMap((method) => method.runs.filter((one) => one.clients).map((one) => one.seed))),
    ].sort((a, b) => a - b);
    seeds.replaceChildren(...known.map((one) => html("option", { value: one }, String(one))));
    seeds.value = String(seed);
    seedLabel.hidden = known.length < 2;
    input.value = String(id);
    name.textContent = clientName(run(), id) + (known.length > 1 ? `, seed ${seed}` : "");
    const here = data.methods
      .map((method) => ({ method, run: runWithSeed(method, seed) }))
      .filter((one) => one.run)
      .map((one) => ({ ...one, row: rowOf(one.run, id) }))
      .filter((one) => one.row >= 0);
    body.replaceChildren(...clientParts(here, id));
  }

  return { node, show };
}

function clientParts(here, id) {
  const width = Math.min(560, contentWidth());
  const mixing = here.filter(({ run }) => run.clients.lambdas.length > 1);
  const curves = mixing.map(({ method, run, row }) => ({
    name: method.name,
    index: method.index,
    points: run.clients.lambdas.map((lambda, i) => [lambda, at(run, row, i)]),
    spot: validatedSpot(method, run, row),
  }));
  const values = curves.flatMap((line) => line.points.map((point) => point[1]));
  const chart = lineChart({
    width,
    height: 240,
    series: curves,
    xRange: [0, 1],
    yRange: around(values, [0, 1]),
    xMarks: [0, 0.2, 0.4, 0.6, 0.8, 1],
    xTitle: "λ, from federated to local",
    yTitle: "its test accuracy, %",
    xName: lambdaName,
    description: `Test accuracy of client ${id} over λ.`,
  });
  const below = html("div", { class: "client-curves" }, classChart(here, id, Math.min(380, width)));
  const parts = [html("div", { class: "client-curves" }, chart, clientTable(here)), below];
  const diagrams = here
    .map(({ method, run, row }) => ({ method, bins: clientBins(run, row) }))
    .filter((one) => one.bins);
  if (diagrams.length) {
    below.append(
      html(
        "div",
        { class: "client-diagrams" },
        html("h4", {}, "How often its models are right, in %, by how sure they are"),
        html(
          "div",
          { class: "multiples small" },
          diagrams.map(({ method, bins }) =>
            html(
              "div",
              { class: "multiple" },
              reliabilityDiagram(
                bins,
                method.index,
                150,
                shortened(method.name, 18),
                `Reliability diagram of ${method.name} for client ${id}, at its validated λ.`,
              ),
            ),
          ),
        ),
      ),
    );
  }
  return parts;
}

function validatedSpot(method, run, row) {
  const lambda = run.clients.lambdas[unpack(run.clients.chosen)[row]];
  const accuracy = validatedAccuracy(run, row);
  return [
    lambda,
    accuracy,
    `${method.name}: λ = ${lambdaName(lambda)}, chosen on its validation data; ${percent(accuracy)} %`,
  ];
}

function clientTable(here) {
  const rows = here.map(({ method, run, row }) => {
    const chosen = run.clients.lambdas[unpack(run.clients.chosen)[row]];
    const bins = clientBins(run, row);
    return html(
      "tr",
      { "data-method": method.name },
      html("th", { scope: "row" }, key(method.index), method.name),
      html("td", {}, chosen === null ? NOTHING : lambdaName(chosen)),
      html("td", {}, percent(validatedAccuracy(run, row))),
      html("td", {}, bins ? percent(calibrationErrors(bins).ece) : NOTHING),
    );
  });
  const samples = here.length ? unpack(here[0].run.clients.samples)[here[0].row] : 0;
  return html(
    "div",
    { class: "scroll" },
    html(
      "table",
      {},
      html(
        "thead",
        {},
        html(
          "tr",
          {},
          ["method", "validated λ", "accuracy, %", "ECE, %"].map((words) => html("th", { scope: "col" }, words)),
        ),
      ),
      html("tbody", {}, rows),
    ),
    html(
      "p",
      { class: "note" },
      `On ${count(samples)} test samples, at its validated λ, which is the dot on its curve.`,
    ),
  );
}

function classChart(here, id, width) {
  const mix = here.length ? classMix(here[0].run, id) : null;
  if (!mix) return html("p", { class: "note" }, "Which classes it holds was not stored.");
  const total = mix.reduce((sum, [, n]) => sum + n, 0);
  const shown = mix.slice(0, mix.length > MOST_CLASSES ? MOST_CLASSES - 1 : MOST_CLASSES);
  const rest = mix.slice(shown.length);
  if (rest.length)
    shown.push([
      `${rest.length} other classes`,
      rest.reduce((sum, [, n]) => sum + n, 0),
      rest.reduce((sum, [, , share]) => sum + share, 0),
    ]);
  const rows = shown.map(([name, n, everybody]) => ({
    name,
    parts: [
      {
        value: n,
        kind: "fill plain",
        note:
          `${name}: ${count(n)} of its ${count(total)} samples (${percent(n / total)} %); ` +
          `of everybody's, ${percent(everybody)} %`,
      },
    ],
    value: count(n),
  }));
  const chart = barChart({
    width,
    rows,
    most: shown[0][1],
    height: 20,
    description: `Classes that client ${id} holds: ${shown.map(([name, n]) => `${name} ${n}`).join(", ")}.`,
  });
  return html("div", {}, html("h4", {}, `Its ${count(total)} samples, by class`), chart);
}
