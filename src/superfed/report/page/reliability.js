// Reliability diagrams: how often a model was right, by how sure it was.

// bins: [[samples, confidence, accuracy]…]; the area of a dot is its samples, and a line ties it to the diagonal.
function reliabilityDiagram(bins, index, width, title, description) {
  const height = width + 34;
  const box = frame(width, height, [28, 12, 34, 30], [0, 1], [0, 1]);
  const most = Math.max(1, ...bins.map((bin) => bin[0]));
  const chart = picture(width, height, description);
  chart.append(words(title, box.left, 11, "start", "title"));
  for (const mark of [0, 0.5, 1]) {
    chart.append(svg("path", { d: `M${box.left} ${round1(box.down(mark))}H${box.right}`, class: "grid" }));
    chart.append(words(axisPercent(mark), box.left - 5, box.down(mark) + 4, "end"));
    chart.append(words(axisPercent(mark), box.across(mark), box.bottom + 15, "middle"));
  }
  chart.append(svg("path", { d: `M${box.left} ${box.bottom}L${box.right} ${box.top}`, class: "diagonal" }));
  const largest = Math.min(9, width / 18);
  for (const [samples, confidence, accuracy] of bins) {
    if (!samples) continue;
    const x = box.across(confidence);
    const y = box.down(accuracy);
    const radius = Math.max(1.6, largest * Math.sqrt(samples / most));
    chart.append(
      svg("path", {
        d: `M${round1(x)} ${round1(y)}V${round1(box.down(confidence))}`,
        class: tint("gap stroke", index),
      }),
    );
    chart.append(
      svg(
        "circle",
        { cx: round1(x), cy: round1(y), r: round1(radius), class: tint("mark", index) },
        svg("title", {}, `${count(samples)} samples, ${percent(confidence)} % sure, ${percent(accuracy)} % right`),
      ),
    );
  }
  chart.append(words("confidence, %", (box.left + box.right) / 2, box.bottom + 30, "middle"));
  return chart;
}

function calibrationErrors(bins) {
  const samples = bins.reduce((sum, bin) => sum + bin[0], 0);
  const gaps = bins.map(([n, confidence, accuracy]) => (n ? Math.abs(confidence - accuracy) : 0));
  if (!samples) return { ece: NaN, mce: NaN };
  return { ece: bins.reduce((sum, bin, i) => sum + bin[0] * gaps[i], 0) / samples, mce: Math.max(...gaps) };
}

function drawCalibration(place) {
  const methods = data.methods.filter((method) => method.bins);
  const mixed = methods.find((method) => method.bins.lambdas.length > 1);
  const choices = mixed ? mixed.bins.lambdas : [];
  const select = html(
    "select",
    {
      onchange: () => {
        state.calibration = select.value;
        show();
      },
    },
    html("option", { value: "validated" }, "each client's validated λ"),
    ...choices.map((lambda) => html("option", { value: lambda }, `λ = ${lambdaName(lambda)}`)),
  );
  select.value = state.calibration;
  if (select.selectedIndex < 0) select.value = state.calibration = "validated";
  const grid = html("div", { class: "multiples" });
  const show = () => {
    grid.replaceChildren(
      ...methods.map((method) => {
        const { lambdas, by_lambda: byLambda, validated } = method.bins;
        const column = lambdas.findIndex((lambda) => lambda !== null && lambda === Number(select.value));
        const bins = select.value === "validated" || column < 0 ? validated : byLambda[column];
        const { ece, mce } = calibrationErrors(bins);
        const told = `all samples together: ECE ${percent(ece)} %, MCE ${percent(mce)} %`;
        return html(
          "div",
          { class: "multiple", "data-method": method.name },
          reliabilityDiagram(bins, method.index, 208, "right, %", `Reliability diagram of ${method.name}; ${told}.`),
          html(
            "p",
            { class: "caption" },
            html("strong", {}, key(method.index), method.name),
            html("br"),
            `ECE ${percent(ece)} %  MCE ${percent(mce)} %`,
          ),
        );
      }),
    );
  };
  show();
  place.replaceChildren(mixed ? html("p", { class: "control" }, html("label", {}, "At ", select)) : "", grid);
}
