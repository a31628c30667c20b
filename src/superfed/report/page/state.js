// What the page is about, and what its reader has chosen, which outlives a newer page.

let data = null;

const state = {
  lambda: 0.5,
  seed: "all",
  client: null, // {seed, id}
  panels: null, // names of the methods that are shown side by side
  calibration: "validated",
  roundsLambda: null,
  reading: "validated",
  sorts: new Map(),
};

const calm = matchMedia("(prefers-reduced-motion: reduce)");
