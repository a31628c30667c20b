// Accuracy by round, at a λ that can be chosen.

function drawRounds(place) {
  const lines = [...data.methods, ...data.under_way].filter((one) => one.curve);
  const lambdas = [...new Set(lines.flatMap((one) => one.curve.lambdas).filter((lambda) => lambda !== null))].sort(
    (a, b) => a - b,
  );
  if (lambdas.length)
    state.roundsLambda = lambdas[columnOf(lambdas, state.roundsLambda === null ? 0.5 : state.roundsLambda)];
  const select = html(
    "select",
    {
      id: "rounds-lambda",
      onchange: () => {
        state.roundsLambda = Number(select.value);
        show();
      },
    },
    lambdas.map((lambda) => html("option", { value: lambda }, lambdaName(lambda))),
  );
  if (lambdas.length) select.value = String(state.roundsLambda);
  const body = html("div", {});
  const several = lines.some((one) => one.runs.length > 1);

  function show() {
    const series = lines.map((one) => {
      const { lambdas: own, rounds, mean: means, spread } = one.curve;
      const column = own[0] === null ? 0 : columnOf(own, state.roundsLambda);
      return {
        name: one.name,
        index: one.index,
        points: rounds.map((r, i) => [
          r,
          means[column][i],
          means[column][i] - spread[column][i],
          means[column][i] + spread[column][i],
        ]),
      };
    });
    const last = Math.max(1, ...series.flatMap((line) => line.points.map((point) => point[0])));
    const values = series.flatMap((line) => line.points.flatMap((point) => [point[1], point[2], point[3]]));
    const where = lambdas.length ? "; methods that mix, at the λ chosen above" : "";
    const bands = several ? " Bands: ± standard deviation over seeds." : "";
    const caption = `Mean test accuracy of the clients that are followed through training${where}.${bands}`;
    body.replaceChildren(
      figure(
        caption,
        lineChart({
          width: contentWidth(),
          height: 340,
          series,
          xRange: [0, last],
          yRange: around(values, [0, 1]),
          xMarks: marks(0, last, 8).filter(Number.isInteger),
          xTitle: "rounds",
          yTitle: "accuracy, %",
          description: `Mean test accuracy by round, for ${series.map((line) => line.name).join(", ")}.`,
        }),
      ),
    );
  }

  show();
  place.replaceChildren(
    lambdas.length > 1 ? html("p", { class: "control" }, html("label", {}, "At λ = ", select)) : "",
    body,
  );
}
