// Horizontal bars, each made of parts, one row after another, with their numbers in line.

// rows: {name, index, parts: [{value, kind, note}], value}
function barChart({ width, rows, most, description, nameWidth = 120, valueWidth = 74, height = 22 }) {
  const left = Math.min(nameWidth, width * 0.4);
  const right = width - valueWidth;
  const across = (value) => (most > 0 ? (value / most) * (right - left) : 0);
  const chart = picture(width, rows.length * height + 4, description);
  rows.forEach((row, i) => {
    const y = i * height + 2;
    const name = words(shortened(row.name, Math.floor(left / 6.9)), left - 8, y + height / 2 + 4, "end", "name");
    name.append(svg("title", {}, row.name));
    chart.append(name);
    let x = left;
    for (const part of row.parts) {
      const length = Math.max(part.value > 0 ? 1 : 0, across(part.value));
      chart.append(
        svg(
          "rect",
          { x: round1(x), y: y + 3, width: round1(length), height: height - 6, class: part.kind },
          svg("title", {}, part.note),
        ),
      );
      x += length + (length > 0 ? 1 : 0);
    }
    chart.append(words(row.value, x + 6, y + height / 2 + 4, "start", "value"));
  });
  return chart;
}
