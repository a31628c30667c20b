"""The pictures of docs/idea.md: python benchmarks/idea.py [--again]

With --again it trains on the digits (a minute on one core) and keeps what was measured in results/idea.json; the pictures
are drawn from that file.
"""

import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
KEPT, PICTURES = ROOT / "results" / "idea.json", ROOT / "docs" / "images"
SETTINGS = (
    "algorithm=[{name: fedavg}, {name: local}, {name: superfed, nu: [0.0, 1.0, 5.0]}]",
    "seed=[0, 1]",
    "data.seed=0",
    "data.num_clients=10",
    "data.partition={name: dirichlet, alpha: 0.3}",
    "model.width=50",
    "training.rounds=30",
    "training.local_epochs=3",
    "evaluation.every=30",
    "engine.workers=1",
)
POINTS, SURFACE = 21, 29
NUS = ("0.0", "1.0", "5.0")
Numbers = dict[str, Any]


def measured(*changes: str, points: int = POINTS, surface: int = SURFACE) -> Numbers:
    """Lines of models, and the loss around one of them.

    The line between models that were trained apart goes from FedAvg's to each client's own of another seed, which has
    another beginning and the same data.
    """
    import superfed
    from superfed.experiments.load import load_config
    from superfed.experiments.runner import load_run, start
    from superfed.experiments.surface import surface_of, three_of
    from superfed.reproduce.landscape import Landscape

    with tempfile.TemporaryDirectory() as folder:
        out = start(load_config("demo", [*SETTINGS, *changes]), Path(folder) / "idea")
        fedavg, local = superfed.load(out / "fedavg-seed0"), superfed.load(out / "local-seed1")
        apart = [(fedavg.global_weights(), local.client(i).weights()) for i in fedavg.members]
        lines = {"apart": line(fedavg, apart, points)}
        for nu in NUS:
            run = superfed.load(out / f"superfed-mm-nu{nu}-seed0")
            ends = [(run.client(i).weights(0.0), run.client(i).weights(1.0)) for i in run.members]
            lines[f"nu{nu}"] = line(run, ends, points)
        trained, _ = load_run(out / "superfed-mm-nu1.0-seed0")
        three = three_of(trained)
        around = surface_of(trained, three=three, samples_of=three.clients[:1], points=surface)
    return {"lines": lines, "surface": vars(Landscape.of(around))}


def line(run: Any, ends: list[Any], points: int) -> Numbers:
    """Between two models of each client: accuracy and loss on its test samples, mean and deviation over clients.

    And of the two models: their cosine, and the share of test samples on which they give different answers.
    """
    import torch
    from torch.nn.functional import cosine_similarity, cross_entropy

    accuracy, loss, differ = [], [], []
    for client, (one, other) in zip(run.members, ends, strict=True):
        samples = run.task.data.test(client)
        places = [torch.lerp(one, other, step / (points - 1)) for step in range(points)]
        with torch.no_grad():
            scores = [run.task.model.apply(w, samples.x) for w in places]
        accuracy.append([float((s.argmax(1) == samples.y).float().mean()) for s in scores])
        loss.append([float(cross_entropy(s, samples.y)) for s in scores])
        differ.append(float((scores[0].argmax(1) != scores[-1].argmax(1)).float().mean()))
    return {
        "accuracy": [_mean_and_deviation(values) for values in zip(*accuracy, strict=True)],
        "loss": [_mean_and_deviation(values) for values in zip(*loss, strict=True)],
        "cosine": _mean_and_deviation([float(cosine_similarity(*pair, dim=0)) for pair in ends]),
        "differ": _mean_and_deviation(differ),
    }


def _mean_and_deviation(values: Any) -> list[float]:
    return [round(statistics.mean(values), 4), round(statistics.pstdev(values), 4)]


def pictures(kept: Numbers) -> dict[str, str]:
    """By file name."""
    from superfed.report.contour import contour
    from superfed.report.panels import Panel, panels
    from superfed.report.relief import relief
    from superfed.report.scale import Axis, round_axis
    from superfed.report.svg import Line, Point

    along = Axis(0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0))
    percent = Axis(70.0, 100.0, (70.0, 80.0, 90.0, 100.0))
    heights = round_axis([0.0, *(sum(point) for one in kept["lines"].values() for point in one["loss"])], marks=6)

    def panel(title: str, name: str, quantity: str, factor: float, index: int) -> Panel:
        values, cosine = kept["lines"][name][quantity], kept["lines"][name]["cosine"][0]
        points = [
            Point(
                place / (len(values) - 1),
                factor * mean,
                factor * (mean - deviation),
                factor * (mean + deviation),
                f"λ = {place / (len(values) - 1):g}: {factor * mean:.3g}",
            )
            for place, (mean, deviation) in enumerate(values)
        ]
        return Panel(title, [Line(name, points, index)], [f"cosine {cosine:.2f}"])

    def row(title: str, shown: list[Panel], axis: Axis, words: str) -> str:
        return panels(title, [shown], along, axis, "λ", words, (250, 180))

    scene = terrain(kept["surface"])
    return {
        "idea-line.svg": row(
            "Between two models: accuracy on clients' test samples",
            [
                panel("trained apart", "apart", "accuracy", 100, 1),
                panel("trained as a line", "nu1.0", "accuracy", 100, 0),
            ],
            percent,
            "accuracy in %",
        ),
        "idea-loss.svg": row(
            "Between two models: loss on clients' test samples",
            [panel("trained apart", "apart", "loss", 1, 1), panel("trained as a line", "nu1.0", "loss", 1, 0)],
            heights,
            "loss",
        ),
        "idea-nu.svg": row(
            "SuPerFed's lines by ν: loss on clients' test samples",
            [panel(f"ν = {float(nu):g}", f"nu{nu}", "loss", 1, place) for place, nu in enumerate(NUS)],
            heights,
            "loss",
        ),
        "idea-above.svg": contour(scene),
        "idea-side.svg": relief(scene),
    }


def terrain(surface: Numbers) -> Any:
    from superfed.report.terrain import Spot, Terrain
    from superfed.reproduce.landscape import Landscape

    landscape = Landscape(**surface)
    whose = landscape.corners[1]["name"].rpartition(" of ")[2]
    return Terrain(
        title=f"The loss on the samples of {whose}",
        xs=landscape.xs,
        ys=landscape.ys,
        values=landscape.heights,
        spots=[
            Spot(one["name"].replace(" model of", " of"), one["x"], one["y"], one["loss"]) for one in landscape.corners
        ],
        lines=[(0, 1), (0, 2)],
        x_title="distance from the global model",
    )


def main() -> None:
    if "--again" in sys.argv[1:]:
        KEPT.write_text(json.dumps(measured(), ensure_ascii=False) + "\n")
    for name, picture in pictures(json.loads(KEPT.read_text())).items():
        (PICTURES / name).write_text(f"{picture}\n")


if __name__ == "__main__":
    main()
