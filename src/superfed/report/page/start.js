// Everything begins here, after the page itself was painted.

const PLOTS = {
  explorer: drawExplorer,
  rounds: drawRounds,
  fairness: drawFairness,
  calibration: drawCalibration,
  barrier: drawBarrier,
  bytes: drawBytes,
  seconds: drawSeconds,
};

function contentWidth() {
  return Math.max(280, document.querySelector("main").clientWidth);
}

// Of two pictures side by side, where there is room for that.
function halfWidth() {
  const all = contentWidth();
  return all >= 900 ? Math.floor((all - 32) / 2) : all;
}

function draw() {
  for (const place of document.querySelectorAll(".plot")) PLOTS[place.dataset.plot](place);
}

function begin() {
  data = JSON.parse(document.getElementById("page-data").textContent);
  document.documentElement.classList.add("js");
  makeSortable();
  makeReadings();
  draw();
  document.documentElement.dataset.drawn = String(data.version || "once");
}

requestAnimationFrame(() =>
  setTimeout(() => {
    begin();
    keepFresh();
    let width = contentWidth();
    let waiting = 0;
    new ResizeObserver(() => {
      if (Math.abs(contentWidth() - width) < 2) return;
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        width = contentWidth();
        draw();
      }, 120);
    }).observe(document.querySelector("main"));
  }),
);
