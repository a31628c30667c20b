// The line between the federated and the local model, method beside method, under one λ.

const MOST_PANELS = 6;

function drawExplorer(place) {
  const mixing = data.methods.filter((method) => method.mixes);
  const grid = [...new Set(mixing.flatMap((method) => method.runs.flatMap((run) => run.lambdas)))].sort(
    (a, b) => a - b,
  );
  const withPeople = mixing.filter((method) => method.runs.some((run) => run.clients));
  if (!state.panels || !mixing.some((method) => state.panels.has(method.name)))
    state.panels = new Set(mixing.slice(0, Math.min(4, MOST_PANELS)).map((method) => method.name));
  state.lambda = grid[columnOf(grid, state.lambda)];

  const slider = html("input", {
    type: "range",
    id: "lambda",
    min: 0,
    max: grid.length - 1,
    step: 1,
    value: grid.indexOf(state.lambda),
    "aria-label": "λ, from the federated model at 0 to the local model at 1",
    list: "lambdas",
  });
  const said = html("output", { for: "lambda", class: "big" });
  slider.addEventListener("input", () => moveTo(grid[Number(slider.value)]));
  const seeds = [...new Set(withPeople.flatMap((method) => method.runs.map((run) => run.seed)))].sort((a, b) => a - b);
  const seed = html(
    "select",
    {
      onchange: () => {
        state.seed = seed.value;
        redraw();
      },
    },
    html("option", { value: "all" }, "all"),
    ...seeds.map((one) => html("option", { value: one }, String(one))),
  );
  seed.value = String(state.seed);
  if (seed.selectedIndex < 0) seed.value = state.seed = "all";
  const bar = html(
    "div",
    { class: "lambda-bar" },
    html("label", { for: "lambda", class: "lambda-now" }, "λ = ", said),
    html(
      "div",
      { class: "slide-box" },
      slider,
      html(
        "div",
        { class: "slide-ends", "aria-hidden": "true" },
        html("span", {}, "0 federated"),
        html("span", {}, "local 1"),
      ),
    ),
    seeds.length > 1 ? html("label", {}, "seeds ", seed) : "",
  );
  const panels = html("div", { class: "panels" });
  const client = withPeople.length ? makeClient(choose) : null;
  place.replaceChildren(
    bar,
    ...(mixing.length > 2 ? [panelChoice(mixing, redraw)] : []),
    panels,
    client ? client.node : "",
  );

  let drawn = [];

  function redraw() {
    const shown = mixing.filter((method) => state.panels.has(method.name));
    const across = contentWidth();
    const columns = Math.max(1, Math.min(shown.length, Math.floor((across + 24) / 330)));
    const width = Math.floor((across - 24 * (columns - 1)) / columns);
    const range = accuracyRange(shown);
    const reference = bestWithout(range);
    drawn = shown.map((method) => makePanel(method, Math.min(width, 560), range, reference, choose, moveTo));
    panels.replaceChildren(...drawn.map((panel) => panel.node));
    show(false);
  }

  function show(glide) {
    const value = lambdaName(state.lambda);
    said.textContent = value;
    slider.value = String(grid.indexOf(state.lambda));
    slider.setAttribute(
      "aria-valuetext",
      state.lambda === 0
        ? "λ = 0, the federated model"
        : state.lambda === 1
          ? "λ = 1, the local model"
          : `λ = ${value}`,
    );
    for (const panel of drawn) panel.show(glide);
  }

  function moveTo(lambda) {
    const next = grid[columnOf(grid, lambda)];
    if (next === state.lambda) return;
    state.lambda = next;
    show(true);
  }

  function choose(who) {
    state.client = who;
    for (const panel of drawn) panel.showPicked();
    if (client) client.show();
  }

  redraw();
  if (client) choose(stillThere(state.client, withPeople) || firstClient(withPeople));
}

function panelChoice(mixing, redraw) {
  const boxes = mixing.map((method) => {
    const box = html("input", {
      type: "checkbox",
      onchange: () => {
        if (box.checked) state.panels.add(method.name);
        else state.panels.delete(method.name);
        redraw();
      },
    });
    box.checked = state.panels.has(method.name);
    return html("label", {}, box, key(method.index), method.name);
  });
  return html("fieldset", { class: "control choice" }, html("legend", {}, "Side by side"), boxes);
}

// Every client at every λ is to be seen in it.
function accuracyRange(methods) {
  let low = 1;
  for (const method of methods) {
    for (const run of runsOf(method)) for (const value of accuracyOf(run)) if (value < low) low = value;
    for (const run of method.runs) for (const value of run.top1.mean) if (known(value) && value < low) low = value;
  }
  return [Math.max(0, Math.min(0.9, Math.floor(low * 10 + 1e-9) / 10)), 1];
}

// The best method that has no λ, to measure the others by.
function bestWithout(range) {
  const found = data.methods
    .filter((method) => !method.mixes)
    .map((method) => ({ name: method.name, value: mean(method.runs.map((run) => run.top1.mean[0])) }))
    .filter((one) => known(one.value) && one.value > range[0]);
  return found.sort((a, b) => b.value - a.value)[0] || null;
}

function firstClient(methods) {
  const run = methods[0].runs.find((one) => one.clients);
  return { seed: run.seed, id: unpack(run.clients.ids)[0] };
}

function stillThere(who, methods) {
  return who &&
    methods.some((method) => {
      const run = runWithSeed(method, who.seed);
      return run && rowOf(run, who.id) >= 0;
    })
    ? who
    : null;
}
