"""How cells, figures and verdicts are written, the same in the terminal, on the page and in LaTeX."""

from collections.abc import Sequence

from superfed.report.numbers import NOTHING
from superfed.report.readings import HEADLINE
from superfed.reproduce.compare import Line, Told, told
from superfed.reproduce.verdict import LEVEL, SEEDS_NEEDED

METHODS = {
    "fedavg": "FedAvg",
    "fedprox": "FedProx",
    "scaffold": "SCAFFOLD",
    "lg_fedavg": "LG-FedAvg",
    "fedper": "FedPer",
    "fedrep": "FedRep",
    "apfl": "APFL",
    "pfedme": "pFedMe",
    "ditto": "Ditto",
    "superfed_mm": "SuPerFed-MM",
    "superfed_lm": "SuPerFed-LM",
}
DATASETS = {
    "mnist": "MNIST",
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
    "tiny_imagenet": "Tiny-ImageNet",
    "femnist": "FEMNIST",
    "shakespeare": "Shakespeare",
}
METRICS = {"top1": "top-1, %", "top5": "top-5, %", "ece": "ECE", "mce": "MCE", "loss": "loss"}


def setting_words(setting: str) -> str:
    """``k100`` → K = 100, ``alpha10`` → α = 10, ``pair0.1`` → pair noise 0.1, ``start0.4`` → L/R = 0.4."""
    for prefix, words in (
        ("alpha", "α = "),
        ("start", "L/R = "),
        ("pair", "pair noise "),
        ("symmetric", "symmetric noise "),
    ):
        if setting.startswith(prefix):
            return words + setting.removeprefix(prefix)
    if setting.startswith("k") and setting[1:].isdecimal():
        return f"K = {setting[1:]}"
    return setting


def group_title(lines: Sequence[Line]) -> str:
    """Of lines that share a dataset and a setting."""
    return f"{DATASETS.get(lines[0].dataset, lines[0].dataset)}, {setting_words(lines[0].setting)}"


def grouped(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines of one dataset, setting and metric together, in the order of print."""
    groups: dict[tuple[str, str, str], list[Line]] = {}
    for line in lines:
        groups.setdefault((line.dataset, line.setting, line.metric), []).append(line)
    return list(groups.values())


def figure(value: Told | None) -> str:
    """The mean and the spread over clients; with several seeds that over seeds in brackets."""
    if value is None:
        return NOTHING
    spread = "" if value.std is None else f" ±{value.std:.2f}"
    seeds = "" if value.over_seeds is None else f" ({value.over_seeds:.2f})"
    return f"{value.mean:.2f}{spread}{seeds}"


def cells_of(line: Line) -> tuple[str, ...]:
    """Method, ours at the paper's reading, published, difference, ours at the validated λ, and what is to be said."""
    found, printed = line.verdict, line.published
    ours = told(line.ours)
    difference = NOTHING if ours is None else f"{ours.mean - printed.mean:+.2f}"
    std = "" if printed.std is None else f" ±{printed.std:.2f}"
    word = NOTHING if not line.ours else "no target" if line.fault else "unknown" if found is None else found.word
    mark = "*" if line.fault else "?" if line.oddity else ""
    return (
        METHODS.get(line.method, line.method),
        figure(ours),
        f"{printed.mean:.2f}{std}{mark}",
        difference,
        figure(told(line.headline)),
        word,
    )


HEADINGS = ("method", "ours", "published", "points", HEADLINE, "verdict")


def explanation(lines: Sequence[Line]) -> list[str]:
    reading = lines[0].reading
    return [
        f"ours: mean ±std over clients (std over seeds), at the λ of the reading {reading}, as the published numbers are; "
        f"{HEADLINE}: at each client's own choice on its validation samples, the honest one.",
        f"points: ours less the published. verdict: from {SEEDS_NEEDED} seeds on a two-sided t test against the spread "
        f"between them, else a z test against the spread over clients, at {LEVEL:.0%}; agrees means that no difference "
        "can be seen.",
    ]


def notes(lines: Sequence[Line]) -> list[str]:
    """Why cells are marked, each reason once."""
    found: dict[str, None] = {}
    for line in lines:
        if line.fault:
            found[f"* {line.fault}"] = None
        if line.oddity:
            found[f"? {METHODS.get(line.method, line.method)}, {group_title([line])}: {line.oddity}"] = None
    return list(found)


def counts(lines: Sequence[Line]) -> str:
    """How many numbers agree, of those that there are to compare."""
    verdicts = [line.verdict for line in lines]
    words = [found.word for found in verdicts if found is not None]
    tally = ", ".join(
        f"{words.count(word)} {word}" for word in ("agrees", "higher", "lower", "unknown") if word in words
    )
    missing = sum(not line.ours for line in lines)
    done = f"{len(lines) - missing} of {len(lines)} numbers are there"
    return f"{done}: {tally}" if tally else done
