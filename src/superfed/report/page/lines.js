// Lines with bands, named at their right ends with their values: the last ones, or those under the pointer.

const MOST_LINES = 16;

// series: {name, index, points: [[x, y, low, high]…], spot: [x, y, note] or nothing}; format says a value, xName a place.
function lineChart({
  width,
  height = 300,
  series,
  xRange,
  yRange,
  xMarks,
  xTitle,
  yTitle,
  xName = String,
  yName = axisPercent,
  format = percent,
  description,
  steps = false,
  atRest = true,
}) {
  const shown = series.filter((line) => line.points.length).slice(0, MOST_LINES);
  const beside = width >= 560;
  const longest = Math.max(0, ...shown.map((line) => line.name.length));
  const room = beside ? Math.min(72 + 7.4 * Math.min(longest, 26), width * 0.4) : 12;
  const box = frame(width, height, [26, room, 44, 46], xRange, yRange);
  const yMarks = marks(yRange[0], yRange[1], 5);
  const chart = picture(width, height, description, axes(box, { xMarks, yMarks, xName, yName, xTitle, yTitle }));
  for (const line of [...shown].reverse()) {
    const there = line.points.filter((point) => known(point[1]));
    if (there.some((point) => known(point[2]) && point[3] > point[2])) {
      const above = there.map((p) => [box.across(p[0]), box.down(clamp(p[3], yRange))]);
      const below = there.map((p) => [box.across(p[0]), box.down(clamp(p[2], yRange))]).reverse();
      chart.append(svg("path", { d: trail([...above, ...below]) + "Z", class: tint("band", line.index) }));
    }
    let corners = there.map((p) => [box.across(p[0]), box.down(p[1])]);
    if (steps) corners = corners.flatMap((corner, i) => (i ? [[corner[0], corners[i - 1][1]], corner] : [corner]));
    chart.append(svg("path", { d: trail(corners), class: tint("stroke", line.index) }));
    if (line.spot && known(line.spot[1]))
      chart.append(
        svg(
          "circle",
          {
            cx: round1(box.across(line.spot[0])),
            cy: round1(box.down(line.spot[1])),
            r: 5,
            class: tint("mark", line.index),
          },
          svg("title", {}, line.spot[2]),
        ),
      );
  }
  const hair = svg("path", { class: "hair", d: "" });
  const where = words("", 0, box.bottom + 17, "middle", "where");
  chart.append(hair, where);
  const names = beside ? namesBeside(chart, box, shown) : legendBelow(shown);
  const last = xRange[1];
  const say = (x) => names.say((line) => format((steps ? stepAt : valueAt)(line.points, x)));
  const rest = () => (atRest ? say(last) : names.say(() => ""));
  rest();
  const places = [...new Set(shown.flatMap((line) => line.points.map((point) => point[0])))].sort((a, b) => a - b);
  const target = svg("rect", {
    x: box.left,
    y: box.top,
    width: Math.max(1, box.right - box.left),
    height: box.bottom - box.top,
    class: "catch",
  });
  target.addEventListener("pointermove", (event) => {
    const at = xRange[0] + ((pointIn(chart, event)[0] - box.left) / (box.right - box.left)) * (xRange[1] - xRange[0]);
    const near = places.reduce((best, x) => (Math.abs(x - at) < Math.abs(best - at) ? x : best), places[0]);
    hair.setAttribute("d", `M${round1(box.across(near))} ${box.top}V${box.bottom}`);
    where.textContent = xName(near);
    where.setAttribute("x", round1(box.across(near)));
    chart.classList.add("pointed");
    say(near);
  });
  target.addEventListener("pointerleave", () => {
    hair.setAttribute("d", "");
    where.textContent = "";
    chart.classList.remove("pointed");
    rest();
  });
  chart.append(target);
  const more = series.length - shown.length;
  return html(
    "div",
    {},
    chart,
    names.node,
    more > 0 ? html("p", { class: "note" }, `The best ${shown.length} of ${series.length} are drawn.`) : null,
  );
}

function namesBeside(chart, box, shown) {
  const ends = shown.map((line) => {
    const there = line.points.filter((point) => known(point[1]));
    return there.length ? there[there.length - 1] : [box.x[1], box.y[0]];
  });
  const places = spaced(
    ends.map((end) => box.down(end[1])),
    16,
    box.top,
    box.bottom,
  );
  const most = Math.floor((box.width - box.right - 64) / 7);
  const values = shown.map((line, i) => {
    const y = places[i];
    const x = box.right;
    chart.append(
      svg("path", {
        d: `M${round1(box.across(ends[i][0])) + 2} ${round1(box.down(ends[i][1]))}L${x + 8} ${round1(y)}`,
        class: "hair",
      }),
    );
    const value = words("", box.width, y + 4, "end", "value");
    const name = words(shortened(line.name, most), x + 12, y + 4, "start", tint("name", line.index));
    name.append(svg("title", {}, line.name));
    chart.append(value, name);
    return value;
  });
  return { node: null, say: (told) => shown.forEach((line, i) => (values[i].textContent = told(line))) };
}

function legendBelow(shown) {
  const values = shown.map(() => html("span", { class: "value" }));
  const items = shown.map((line, i) => html("li", {}, key(line.index), `${line.name} `, values[i]));
  return {
    node: html("ul", { class: "legend" }, items),
    say: (told) => shown.forEach((line, i) => (values[i].textContent = told(line))),
  };
}

function valueAt(points, x) {
  let found = null;
  for (const point of points) if (found === null || Math.abs(point[0] - x) < Math.abs(found[0] - x)) found = point;
  return found === null ? null : found[1];
}

// Of a staircase, the height of the last step that was taken.
function stepAt(points, x) {
  let found = null;
  for (const point of points) if (point[0] <= x + 1e-9) found = point;
  return found === null ? null : found[1];
}

function pointIn(chart, event) {
  const box = chart.getBoundingClientRect();
  const scale = chart.viewBox.baseVal.width / box.width;
  return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
}

function clamp(value, [low, high]) {
  return Math.min(high, Math.max(low, value));
}

function shortened(name, most) {
  if (name.length <= most) return name;
  const end = Math.floor(most / 2);
  return `${name.slice(0, most - end - 1)}…${name.slice(name.length - end)}`;
}
