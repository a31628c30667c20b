// The clients of a run, and how each fares at a λ.

const accuracies = new WeakMap();

// Accuracy of every client at every λ, one client after another; NaN without test samples.
function accuracyOf(run) {
  if (!accuracies.has(run)) {
    const { samples, hits, lambdas } = run.clients;
    const [of, right] = [unpack(samples), unpack(hits)];
    const found = new Float64Array(right.length);
    for (let i = 0; i < right.length; i++) {
      const n = of[Math.floor(i / lambdas.length)];
      found[i] = n ? right[i] / n : NaN;
    }
    accuracies.set(run, found);
  }
  return accuracies.get(run);
}

function columnOf(lambdas, lambda) {
  let best = 0;
  lambdas.forEach((one, i) => {
    if (Math.abs(one - lambda) < Math.abs(lambdas[best] - lambda) - 1e-12) best = i;
  });
  return best;
}

function at(run, row, column) {
  return accuracyOf(run)[row * run.clients.lambdas.length + column];
}

function validatedAccuracy(run, row) {
  return at(run, row, unpack(run.clients.chosen)[row]);
}

// The runs of a method that the choice of a seed leaves.
function runsOf(method, seed = state.seed) {
  return method.runs.filter((run) => run.clients && (seed === "all" || run.seed === Number(seed)));
}

// A statistic over clients at a λ, averaged over runs.
function overRuns(runs, name, lambda) {
  return mean(runs.map((run) => run.top1[name][columnOf(run.lambdas, lambda)]));
}

// Everybody in these runs: {run, row, id, seed}.
function peopleIn(runs) {
  return runs.flatMap((run) => Array.from(unpack(run.clients.ids), (id, row) => ({ run, row, id, seed: run.seed })));
}

function rowOf(run, id) {
  const ids = unpack(run.clients.ids);
  let [low, high] = [0, ids.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (ids[middle] === id) return middle;
    if (ids[middle] < id) low = middle + 1;
    else high = middle - 1;
  }
  return Array.prototype.indexOf.call(ids, id);
}

function runWithSeed(method, seed) {
  return method.runs.find((run) => run.clients && run.seed === seed) || null;
}

function clientBins(run, row) {
  if (!run.bins) return null;
  const starts = unpack(run.bins.starts);
  const [bin, samples, confidence, hits] = ["bin", "samples", "confidence", "hits"].map((name) =>
    unpack(run.bins[name]),
  );
  const found = Array.from({ length: 15 }, () => [0, 0, 0]);
  for (let i = starts[row]; i < starts[row + 1]; i++) found[bin[i]] = [samples[i], confidence[i], hits[i] / samples[i]];
  return found;
}

// What a client holds, largest first: [[name of the class, samples, its share with everybody]…]; null if nobody counted.
function classMix(run, id) {
  const held = data.holdings[run.data];
  if (!held) return null;
  const row = Array.prototype.indexOf.call(unpack(held.clients), id);
  if (row < 0) return null;
  const [starts, classes, samples] = [unpack(held.starts), unpack(held.classes), unpack(held.samples)];
  const found = [];
  for (let i = starts[row]; i < starts[row + 1]; i++) {
    const name = held.class_names ? held.class_names[classes[i]] : `class ${classes[i]}`;
    found.push([visible(name), samples[i], held.all[classes[i]]]);
  }
  return found.sort((a, b) => b[1] - a[1]);
}

function clientName(run, id) {
  const held = data.holdings[run.data];
  const row = held && held.names ? Array.prototype.indexOf.call(unpack(held.clients), id) : -1;
  return row < 0 ? `client ${id}` : `client ${id}: ${visible(held.names[row])}`;
}

// A name that can be read: classes may be characters, such as a space or the end of a line.
function visible(name) {
  return name.trim() && !/\p{C}/u.test(name) ? name : JSON.stringify(name);
}
