// Numbers as text, the same as in the page's tables.

const NOTHING = "–";
const known = (value) => value !== null && value !== undefined && Number.isFinite(value);

// To so many decimals; what lies just between goes to the even one, as in the tables.
function fixed(value, digits) {
  const unit = 10 ** digits;
  const scaled = value * unit;
  const below = Math.floor(scaled);
  if (scaled - below !== 0.5) return value.toFixed(digits);
  return ((below % 2 === 0 ? below : below + 1) / unit).toFixed(digits);
}

function percent(share) {
  return known(share) ? fixed(100 * share, 2) : NOTHING;
}

function decimal(value) {
  return known(value) ? String(Number(value.toPrecision(4))) : NOTHING;
}

function lambdaName(lambda) {
  return String(Number(lambda.toFixed(4)));
}

function amount(bytes) {
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (bytes < 1000) return `${Number(bytes.toPrecision(3))} ${unit}`;
    bytes /= 1000;
  }
  return `${bytes.toFixed(1)} TB`;
}

function duration(seconds) {
  if (seconds < 100) return `${Number(seconds.toPrecision(2))} s`;
  if (seconds < 6000) return `${(seconds / 60).toFixed(0)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

function count(number) {
  return number.toLocaleString("en");
}

function mean(values) {
  const there = values.filter(known);
  return there.length ? there.reduce((sum, value) => sum + value, 0) / there.length : NaN;
}
