// Where every client's dot stands.

// Dots side by side where accuracies are alike: a histogram in which everybody can be seen.
function stack(values, box, dots, count) {
  const size = count <= 40 ? 8 : count <= 120 ? 6 : count <= 600 ? 4 : 2.4;
  const bins = new Map();
  const spots = values.map((value) => {
    if (!Number.isFinite(value)) return null;
    const level = Math.round((box.bottom - box.down(value)) / size);
    const place = bins.get(level) || 0;
    bins.set(level, place + 1);
    return [place, level];
  });
  const most = Math.max(1, ...bins.values());
  const step = Math.min(size * 1.06, (dots.right - dots.left - size) / Math.max(1, most - 1));
  const places = spots.map((spot) =>
    spot ? [dots.left + size / 2 + spot[0] * step, box.bottom - spot[1] * size] : [dots.left, NaN],
  );
  return { places, size: size * 0.86 };
}
