// Elements. Text is only ever given as text, so that no name can become markup.

const SVG_SPACE = "http://www.w3.org/2000/svg";

function html(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG_SPACE, name), attributes, children);
}

function filled(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

function picture(width, height, description, ...children) {
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": description, class: "chart drawn" },
    ...children,
  );
}

function words(text, x, y, anchor = "start", kind = null) {
  return svg("text", { x: round1(x), y: round1(y), "text-anchor": anchor, class: kind }, text);
}

function round1(value) {
  return Math.round(value * 10) / 10;
}

// The colour of a method, and after the last colour its dashes.
function tint(kind, index) {
  return `${kind} c${index % COLOURS}${index >= COLOURS ? " again" : ""}`;
}

const COLOURS = 6;

function key(index) {
  return svg(
    "svg",
    { viewBox: "0 0 18 12", class: "key", "aria-hidden": "true" },
    svg("path", { d: "M1 6H17", class: tint("stroke", index) }),
  );
}

function figure(caption, ...inside) {
  return html("figure", {}, ...inside, caption ? html("figcaption", {}, caption) : null);
}
