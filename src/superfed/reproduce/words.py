"""How cells, scores and verdicts are written, the same in the terminal, on the page and in LaTeX."""

from collections import Counter
from collections.abc import Sequence

from superfed.report.numbers import NOTHING
from superfed.report.readings import HEADLINE
from superfed.reproduce.compare import Line, Told, told
from superfed.reproduce.published import Number, published
from superfed.reproduce.unstable import MARK
from superfed.reproduce.verdict import LEVEL, SEEDS_NEEDED, Score

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
    "mnist_writers": "MNIST by writer",
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
    "tiny_imagenet": "Tiny-ImageNet",
    "femnist": "FEMNIST",
    "shakespeare": "Shakespeare",
}
VERDICTS = ("agrees", "higher", "lower", "unknown")
AGAIN = "†"
"""Beside ours, where a run stands in the place of an earlier one."""
UNSTABLE, NO_TARGET, NOT_RUN = "unstable", "no target", "not run"
"""Where there is no verdict."""
STANDARD, POINTS = "standard", "points"
METRICS = {"top1": "top-1, %", "top5": "top-5, %", "ece": "ECE", "mce": "MCE", "loss": "loss"}


def setting_words(setting: str) -> str:
    """``k100`` → K = 100, ``alpha10`` → α = 10, ``pair0.1`` → pair noise 0.1, ``nu1_mu0.01`` → ν = 1, μ = 0.01."""
    if "_" in setting:
        return ", ".join(setting_words(part) for part in setting.split("_"))
    for prefix, words in (
        ("alpha", "α = "),
        ("start", "L/R = "),
        ("nu", "ν = "),
        ("mu", "μ = "),
        ("pair", "pair noise "),
        ("symmetric", "symmetric noise "),
    ):
        if setting.startswith(prefix):
            return words + setting.removeprefix(prefix)
    if setting.startswith("k") and setting[1:].isdecimal():
        return f"K = {setting[1:]}"
    return setting


def column_words(dataset: str, setting: str) -> str:
    """``mnist`` and ``k50`` → MNIST, K = 50."""
    return f"{DATASETS.get(dataset, dataset)}, {setting_words(setting)}"


def group_title(lines: Sequence[Line]) -> str:
    """Of lines that share a dataset and a setting."""
    return column_words(lines[0].dataset, lines[0].setting)


def metric_words(group: Sequence[Line]) -> str:
    """Of lines that share a metric."""
    return METRICS.get(group[0].metric, group[0].metric)


def group_heading(group: Sequence[Line]) -> str:
    """Of a group's table: ``MNIST, K = 50 (top-1, %)``."""
    return f"{group_title(group)} ({metric_words(group)})"


def row_title(group: Sequence[Line], lines: Sequence[Line]) -> str:
    """A group among all lines: its title, and its metric where there are several."""
    return group_title(group) + ("" if len({line.metric for line in lines}) == 1 else f", {metric_words(group)}")


def cell_words(cell: str) -> str:
    """``table1/mnist/k50/fedavg`` → FedAvg, MNIST, K = 50."""
    _, dataset, setting, method = cell.split("/")
    return f"{METHODS.get(method, method)}, {column_words(dataset, setting)}"


def grouped(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines of one dataset, setting and metric together, in the order of print."""
    groups: dict[tuple[str, str, str], list[Line]] = {}
    for line in lines:
        groups.setdefault((line.dataset, line.setting, line.metric), []).append(line)
    return list(groups.values())


def laid_out(lines: Sequence[Line]) -> tuple[list[list[Line]], list[str]]:
    """Groups of which something was run, to be shown as tables; and the sentences below, which name the others."""
    groups = grouped(lines)
    there = [group for group in groups if any(line.ours for line in group)]
    shown = [line for group in there for line in group]
    missing = "; ".join(group_heading(group) for group in groups if group not in there)
    about = [*explanation(shown), *notes(shown)] if shown else []
    return there, [*([f"nothing yet: {missing}"] if missing else []), *about]


def score_words(value: Told | None) -> str:
    """The mean and the spread over clients; with several seeds that over seeds in brackets."""
    if value is None:
        return NOTHING
    spread = "" if value.std is None else f" ±{value.std:.2f}"
    seeds = "" if value.over_seeds is None else f" ({value.over_seeds:.2f})"
    return f"{value.mean:.2f}{spread}{seeds}"


def in_print(number: Number | None) -> str:
    """A published number, or that there is none."""
    return NOTHING if number is None else score_words(told([Score(number.mean, number.std, 0)]))


def has_standard(lines: Sequence[Line]) -> bool:
    """Whether any is of errors that were computed otherwise than is usual."""
    return any(line.standard for line in lines)


def headings(lines: Sequence[Line]) -> tuple[str, ...]:
    """Of a table with these lines, as ``cells_of`` fills it."""
    return ("method", "ours", *([STANDARD] if has_standard(lines) else []), "published", POINTS, HEADLINE, "verdict")


def cells_of(line: Line, together: Sequence[Line] = ()) -> tuple[str, ...]:
    """Method, ours at the paper's reading, published, difference, ours at the validated λ, and what is to be said.

    ``together`` are the lines of the same table.
    """
    printed, ours = line.published, told(line.ours)
    difference = NOTHING if ours is None else f"{ours.mean - printed.mean:+z.2f}"
    own_marks = f"{MARK if line.unstable else ''}{AGAIN if line.earlier else ''}"
    marks = f"{'*' if line.faults else ''}{'?' if line.oddity else ''}"
    return (
        METHODS.get(line.method, line.method),
        f"{score_words(ours)}{own_marks}",
        *([score_words(told(line.standard))] if has_standard(together) else []),
        f"{in_print(printed)}{marks}",
        difference,
        score_words(told(line.headline)),
        NOTHING if ours is None else word(line),
    )


def word(line: Line) -> str:
    """The verdict, or why there is none."""
    if not line.ours:
        return NOT_RUN
    if line.no_target is not None:
        return NO_TARGET
    return UNSTABLE if line.verdict is None else line.verdict.word


AS_PRINTED = (
    f"ECE and MCE of ours, published and {HEADLINE} are averages over mini-batches, as the published program computed them; "
    f"{STANDARD}: ours over all of a client's test samples, as they are defined, at the same λ."
)


def explanation(lines: Sequence[Line]) -> list[str]:
    about = published().tables[lines[0].table]
    return [
        f"ours: mean ±std over clients (std over seeds), at the λ of the reading {about.reading}, as the published numbers "
        f"are ({about.reading_why}); {HEADLINE}: at each client's own choice on its validation samples, the honest one.",
        "points: ours less the published. verdict: higher or lower where every test that can be made sees a difference at "
        f"{LEVEL:.0%}: a two-sided z test against the spread over clients, and from {SEEDS_NEEDED} seeds on a t test against "
        "that between seeds too; agrees means that no difference can be seen, not that there is none.",
        *([AS_PRINTED] if has_standard(lines) else []),
        f"Of the published table: {' '.join(about.remarks)}",
    ]


def notes(lines: Sequence[Line]) -> list[str]:
    """Why cells are marked, each reason once."""
    found: dict[str, None] = {}
    for line in lines:
        where = cell_words(line.cell)
        if line.unstable:
            found[f"{MARK} {where}: {line.unstable}."] = None
        if line.earlier:
            came = ", ".join(f"{one.mean:.2f}" for one in line.earlier)
            found[f"{AGAIN} {where}: run again with the same settings and seed; before that it came to {came}."] = None
        if line.faults:
            found[f"* {line.faults}"] = None
        if line.oddity:
            found[f"? {where}: {line.oddity}"] = None
    return list(found)


def counts(lines: Sequence[Line], of: int | None = None) -> str:
    """How many numbers agree, of those that there are to compare; ``of`` so many where these lines are some of them."""
    words = tally(lines)
    said = ", ".join(f"{words[one]} {_of_many(one)}" for one in (*VERDICTS, UNSTABLE, NO_TARGET) if words[one])
    done = f"{len(lines) - words[NOT_RUN]} of {of or len(lines)} numbers are there"
    return f"{done}: {said}" if said else done


def _of_many(verdict: str) -> str:
    return "agree" if verdict == "agrees" else verdict


def tally(lines: Sequence[Line]) -> Counter[str]:
    """How many lines have which word."""
    return Counter(word(line) for line in lines)
