// What is sent, and where the time goes.

const PHASES = ["training", "evaluation", "checkpoints", "final evaluation"];

function drawBytes(place) {
  const most = Math.max(1, ...data.methods.map((method) => method.bytes.up + method.bytes.down));
  const rows = data.methods.map((method) => ({
    name: method.name,
    parts: [
      { value: method.bytes.up, kind: "fill part0", note: `${method.name}: ${amount(method.bytes.up)} sent up` },
      { value: method.bytes.down, kind: "fill part2", note: `${method.name}: ${amount(method.bytes.down)} sent down` },
    ],
    value: amount(method.bytes.up + method.bytes.down),
  }));
  place.replaceChildren(
    figure(
      legend("Bytes exchanged by one run: ", [
        ["part0", "from clients"],
        ["part2", "to clients"],
      ]),
      barChart({
        width: halfWidth(),
        rows,
        most,
        nameWidth: 150,
        description: `Bytes exchanged by method: ${rows.map((row) => `${row.name} ${row.value}`).join(", ")}.`,
      }),
    ),
  );
}

function drawSeconds(place) {
  const there = data.methods.filter((method) => Object.keys(method.seconds).length);
  if (!there.length) return place.replaceChildren(html("p", { class: "note" }, "How long the runs took was not kept."));
  const phases = [...new Set([...PHASES, ...there.flatMap((method) => Object.keys(method.seconds))])].filter((phase) =>
    there.some((method) => phase in method.seconds),
  );
  const total = (method) => Object.values(method.seconds).reduce((sum, value) => sum + value, 0);
  const most = Math.max(...there.map(total), 1e-9);
  const kind = (phase) => `fill part${Math.min(phases.indexOf(phase), 3)}`;
  const rows = there.map((method) => ({
    name: method.name,
    parts: phases.map((phase) => ({
      value: method.seconds[phase] || 0,
      kind: kind(phase),
      note: `${method.name}, ${phase}: ${duration(method.seconds[phase] || 0)}`,
    })),
    value: duration(total(method)),
  }));
  const samples = phases.map((phase) => [`part${Math.min(phases.indexOf(phase), 3)}`, phase]);
  place.replaceChildren(
    figure(
      legend("Time of one run, by phase; runs that were computed together share it: ", samples),
      barChart({
        width: halfWidth(),
        rows,
        most,
        nameWidth: 150,
        description: `Time by method: ${rows.map((row) => `${row.name} ${row.value}`).join(", ")}.`,
      }),
    ),
  );
}

function legend(words, samples) {
  return html(
    "span",
    {},
    words,
    samples
      .map(([kind, name], i) => [
        i ? ", " : "",
        svg(
          "svg",
          { viewBox: "0 0 10 10", class: "sample", "aria-hidden": "true" },
          svg("rect", { width: 10, height: 10, class: `fill ${kind}` }),
        ),
        ` ${name}`,
      ])
      .flat(),
    ".",
  );
}
