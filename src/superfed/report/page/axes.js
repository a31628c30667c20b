// Where things stand in a picture: a frame with two axes, round marks, and labels that do not cover each other.

function frame(width, height, margins, x, y) {
  const [top, right, bottom, left] = margins;
  const box = { width, height, top, left, right: width - right, bottom: height - bottom, x, y };
  box.across = (value) => box.left + ((value - x[0]) / (x[1] - x[0])) * (box.right - box.left);
  box.down = (value) => box.bottom - ((value - y[0]) / (y[1] - y[0])) * (box.bottom - box.top);
  return box;
}

function marks(low, high, most) {
  if (!(high > low)) return [low];
  const least = (high - low) / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 2.5, 5, 10].map((s) => s * power).find((s) => s >= least * 0.999999);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++)
    found.push(Number((i * step).toPrecision(12)));
  return found;
}

// A range around values that begins and ends at round numbers, within limits.
function around(values, limits = [-Infinity, Infinity], most = 5) {
  const there = values.filter(known);
  let low = there.length ? Math.min(...there) : 0;
  let high = there.length ? Math.max(...there) : 1;
  if (high - low < 1e-9) [low, high] = [low - 0.5, high + 0.5];
  const least = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 2.5, 5, 10].map((s) => s * power).find((s) => s >= least * 0.999999);
  return [
    Math.max(limits[0], Math.floor(low / step + 1e-9) * step),
    Math.min(limits[1], Math.ceil(high / step - 1e-9) * step),
  ];
}

// Horizontal rules with their numbers, and marks along the bottom with theirs.
function axes(box, { xMarks = [], yMarks = [], xName = String, yName = String, xTitle = "", yTitle = "" }) {
  const parts = [];
  for (const mark of yMarks) {
    const y = round1(box.down(mark));
    parts.push(svg("path", { d: `M${box.left} ${y}H${box.right}`, class: "grid" }));
    parts.push(words(yName(mark), box.left - 6, y + 4, "end"));
  }
  for (const mark of xMarks) {
    const x = round1(box.across(mark));
    parts.push(svg("path", { d: `M${x} ${box.bottom}v4`, class: "axis" }));
    parts.push(words(xName(mark), x, box.bottom + 17, "middle"));
  }
  parts.push(svg("path", { d: `M${box.left} ${box.bottom}H${box.right}`, class: "axis" }));
  if (xTitle) parts.push(words(xTitle, (box.left + box.right) / 2, box.bottom + 34, "middle", "title"));
  if (yTitle) parts.push(words(yTitle, box.left - 6 < 40 ? 0 : box.left - 40, box.top - 8, "start", "title"));
  return parts;
}

function trail(points) {
  return points.length ? "M" + points.map(([x, y]) => `${round1(x)} ${round1(y)}`).join("L") : "";
}

// Places as near to those wanted as they can be while a gap apart, between low and high if there is room.
function spaced(wanted, gap, low, high) {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b]);
  const places = [];
  let floor = low;
  for (const i of order) floor = (places[i] = Math.max(wanted[i], floor)) + gap;
  let ceiling = high;
  for (const i of order.reverse()) ceiling = (places[i] = Math.min(places[i], ceiling)) - gap;
  return places;
}

function axisPercent(share) {
  return String(Number((100 * share).toFixed(1)));
}
