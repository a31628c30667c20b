"""The page of training curves: python benchmarks/curves.py [RUN …]

Takes what finished experiments measured into results/curves.json, and writes docs/training-curves.md and its pictures from
that file; without experiments it only writes the page anew. Seconds to the first round and memory peaks, measured by
benchmarks/first_round.py, are in results/first-round.json.
"""

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
KEPT, FIRST = ROOT / "results" / "curves.json", ROOT / "results" / "first-round.json"
PAGE, PICTURES = ROOT / "docs" / "training-curves.md", ROOT / "docs" / "images"
COLOURS = ("#0050d0", "#c2410c", "#15803d")
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 260, 48, 36, 12, 150

TITLES = {
    "mnist": "MNIST with TwoNN",
    "mnist-writers": "MNIST by writer with VGG",
    "femnist": "FEMNIST with VGG",
    "cifar10": "CIFAR-10 with TwoCNN",
    "cifar100": "CIFAR-100 with ResNet",
    "tiny-imagenet": "Tiny-ImageNet with MobileNet",
    "shakespeare": "Shakespeare with StackedLSTM",
}
NOTES = {
    "femnist": "A part of FEMNIST: 5,997 digits of 12 writers, 10 of the 62 classes.",
    "tiny-imagenet": "A part of Tiny-ImageNet: the first 96 of each class's 500 training images. Chance is 0.5 %.",
    "cifar100": "Chance is 1 %.",
    "shakespeare": "The next of 80 characters; always answering with a space would be right about 19 % of the time.",
}

INTRO = """# Training curves

Each dataset that was at hand with its network: FedAvg and SuPerFed-MM, short runs of one seed on two shared cores, by the
shipped configs. They show that everything trains, not what the methods can reach: the published runs have 500 rounds and
more local epochs. The curves follow some clients through training, SuPerFed's at λ = 0, the global model, and halfway to
each client's local model, which few rounds after personalisation began many clients have hardly trained. The tables are of
the clients evaluated after the last round, `validated` with each client's own choice of λ.

Where only a part of a dataset was at hand, that is said. Fashion-MNIST was not at hand: its config is shipped
(`superfed run fashion-mnist`), and only small files in its format were read.

This page and its pictures are made by `python benchmarks/curves.py` from `results/curves.json`.
"""


def taken(folder: Path) -> dict[str, Any]:
    """What an experiment measured, in few numbers."""
    from superfed.store.layout import ExperimentFolder
    from superfed.store.tables import read_table

    methods = {}
    for run in ExperimentFolder(folder).runs():
        summary = run.summary()
        if summary is None:
            sys.exit(f"{run.path}: is not finished")
        table = read_table(run.curve)
        rows = zip(table["round"], table["lam"], table["top1"], strict=True)
        seconds = json.loads(run.timing_file.read_text())
        readings = summary["readings"]
        methods[run.info()["title"]] = {
            "curves": curves(list(rows)),
            "clients": summary["num_clients"],
            "seconds": round(seconds["training"] + seconds["evaluation"] + seconds["final evaluation"]),
            "readings": {
                name: [readings[name]["top1"]["mean"], readings[name]["top1"]["std"]]
                for name in ("validated", "best_shared", "oracle")
            },
            "top5": readings["validated"]["top5"]["mean"],
        }
    return {"methods": methods, "description": ExperimentFolder(folder).info()["config"]["description"]}


def curves(rows: list[tuple[int, float | None, float]]) -> dict[str, list[list[float]]]:
    """Accuracy by rounds: the only one there is, or those at two λ."""
    if rows[0][1] is None:
        return {"": [[done, round(top1, 4)] for done, _, top1 in rows]}
    shown = (0.0, 0.5)
    return {
        f", λ = {lam:g}": [[done, round(top1, 4)] for done, at, top1 in rows if at is not None and abs(at - lam) < 1e-9]
        for lam in shown
    }


def picture(methods: dict[str, Any]) -> str:
    """The curves as an SVG that needs nothing else."""
    lines = {title + at: line for title, method in methods.items() for at, line in method["curves"].items()}
    last = max(point[0] for line in lines.values() for point in line)
    highest = max(point[1] for line in lines.values() for point in line)
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.25) if highest <= 5 * s)
    top = step * max(1, -(-highest // step))

    def at(round: float, share: float) -> tuple[float, float]:
        across = LEFT + (WIDTH - LEFT - RIGHT) * round / last
        return across, TOP + (HEIGHT - TOP - BOTTOM) * (1 - share / top)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    for mark in range(round(top / step) + 1):
        x, y = at(0, mark * step)
        parts.append(f'<line x1="{x}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#d6d9de"/>')
        parts.append(
            f'<text x="{x - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#5b6270">{100 * mark * step:.0f} %</text>'
        )
    for round_ in sorted({0, last // 2, last}):
        x, _ = at(round_, 0)
        parts.append(
            f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle" fill="#5b6270">{round_}</text>'
        )
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 4}" text-anchor="middle" fill="#5b6270">rounds</text>'
    )
    ends: list[float] = []
    for (name, line), colour in zip(lines.items(), COLOURS, strict=True):
        points = [at(*point) for point in line]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        x, y = points[-1]
        y += next(shift for shift in (0, 15, -15, 30, -30) if all(abs(y + shift - other) >= 14 for other in ends))
        ends.append(y)
        parts.append(f'<text x="{x + 8:.1f}" y="{y + 4:.1f}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def section(name: str, kept: dict[str, Any], first: list[Any] | None) -> str:
    lines = [f"## {TITLES[name]}", "", kept["description"], ""]
    if name in NOTES:
        lines += [NOTES[name], ""]
    lines += ["```", f"superfed run {name} --data-root DIR", "```", ""]
    lines += [f"![Test accuracy by rounds: {name}](images/curve-{name}.svg)", ""]
    lines += [
        "| | validated | best shared | oracle | top-5 | clients evaluated | minutes |",
        "|---|---|---|---|---|---|---|",
    ]
    for title, method in kept["methods"].items():
        mixes = len({tuple(value) for value in method["readings"].values()}) > 1
        shown = [f"{100 * mean:.2f} ±{100 * std:.2f}" for mean, std in method["readings"].values()]
        cells = shown if mixes else [shown[0], "–", "–"]
        cells += [f"{100 * method['top5']:.2f}", str(method["clients"]), f"{method['seconds'] / 60:.1f}"]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    lines.append("")
    if first:
        (cold, peak), (warm, _) = first
        lines += [
            f"First round of SuPerFed done after {cold:.0f} s, with the data prepared already {warm:.0f} s; memory peak "
            f"{peak:.0f} MiB, workers and all.",
            "",
        ]
    return "\n".join(lines)


def page() -> str:
    kept = json.loads(KEPT.read_text())
    first = json.loads(FIRST.read_text()) if FIRST.exists() else {}
    return "\n".join([INTRO, *(section(name, kept[name], first.get(name)) for name in TITLES if name in kept)])


def main() -> None:
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for folder in map(Path, sys.argv[1:]):
        if not (folder / "experiment.json").exists():
            sys.exit(f"curves.py: {folder} is no experiment's folder")
        kept[folder.name] = taken(folder)
    KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    PICTURES.mkdir(exist_ok=True)
    for name, one in kept.items():
        (PICTURES / f"curve-{name}.svg").write_text(picture(one["methods"]))
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
