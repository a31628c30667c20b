// The loss on the way between the two models, and the straight line that a hill would rise above.

function drawBarrier(place) {
  const methods = data.methods.filter((method) => method.path);
  const range = around([0, ...methods.flatMap((method) => method.path.loss)], [0, Infinity]);
  place.replaceChildren(
    html(
      "div",
      { class: "multiples" },
      methods.map((method) => html("div", { class: "multiple" }, barrierChart(method, 250, range))),
    ),
  );
}

function barrierChart(method, width, range) {
  const { lambdas, loss, barrier, at: highest } = method.path;
  const height = 190;
  const box = frame(width, height, [24, 12, 46, 40], [0, 1], range);
  const told = barrier > 0 ? `a barrier of ${decimal(barrier)} at λ = ${lambdaName(highest)}` : "no barrier";
  const chart = picture(width, height, `${method.name}: mean test loss over λ, ${told}.`);
  chart.append(words(shortened(method.name, 32), box.left, 12, "start", tint("name", method.index)));
  chart.append(
    ...axes(box, {
      xMarks: [0, 0.5, 1],
      xName: lambdaName,
      yMarks: marks(range[0], range[1], 4),
      yName: (v) => String(v),
    }),
  );
  chart.append(
    words("federated", box.left - 4, box.bottom + 32, "start", "end-of-axis"),
    words("local", box.right + 4, box.bottom + 32, "end", "end-of-axis"),
  );
  const last = loss.length - 1;
  chart.append(
    svg("path", {
      d: trail([
        [box.across(0), box.down(loss[0])],
        [box.across(1), box.down(loss[last])],
      ]),
      class: "reference",
    }),
  );
  chart.append(
    svg("path", {
      d: trail(lambdas.map((lambda, i) => [box.across(lambda), box.down(loss[i])])),
      class: tint("stroke", method.index),
    }),
  );
  if (barrier > 0) {
    const line = loss[0] * (1 - highest) + loss[last] * highest;
    const x = round1(box.across(highest));
    chart.append(
      svg("path", { d: `M${x} ${round1(box.down(line))}V${round1(box.down(line + barrier))}`, class: "measure" }),
    );
  }
  chart.append(words(told, (box.left + box.right) / 2, box.bottom + 32, "middle", "value"));
  return chart;
}
