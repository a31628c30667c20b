"""How a federation's run is shown: a line for each round, and at the end each site's accuracy."""

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from superfed.deploy.flower.programs.beside import Beside


class Lines:
    """Tells what happens as it happens; what is told twice is told once."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._said = ""

    def progress(self, told: dict[str, object]) -> None:
        waiting = told.get("waiting_for")
        if told.get("doing") == "gathering" and waiting:
            self._say(f"waiting for {_several(waiting)}")
        elif told.get("doing") == "evaluating":
            self._say("every site looks how good its own model is")

    def round_done(self, log: dict[str, Any]) -> None:
        words = [
            f"round {log['round'] + 1:>3}  {len(log['taken'])} of {len(log['asked'])} replies  {log['seconds']:5.1f} s"
        ]
        words += [f"asked for {log['attempt']} times"] if log["attempt"] > 1 else []
        words += [f"away: {_several(log['away'])}"] if log["away"] else []
        words += [f"missing: {_several(log['missing'])}"] if log["missing"] else []
        words += [f"late: {_several(log['late'])}"] if log["late"] else []
        words += [f"diverged: {_several(log['diverged'])}"] if log["diverged"] else []
        words += [f"refused: {site}: {reason}" for site, reason in log["refused"]]
        words += [] if log["complete"] else ["not enough, so once more"]
        self._console.print("; ".join(words), highlight=False, markup=False)

    def _say(self, words: str) -> None:
        if words != self._said:
            self._said = words
            self._console.print(words, style="dim", highlight=False, markup=False)


def show_results(results: dict[str, Any], console: Console) -> None:
    table = Table("site", "test samples", "λ", "accuracy", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    known = []
    for site, scores in results["sites"].items():
        if scores is None or scores["accuracy"] is None:
            table.add_row(site, *("–" if scores is None else str(scores["test"]), "–", "–"))
            continue
        known.append(scores["accuracy"])
        lam = "–" if scores["lam"] is None else f"{scores['lam']:g}"
        table.add_row(site, str(scores["test"]), lam, f"{scores['accuracy']:.1%}")
    console.print(table)
    for site, problem in results["problems"].items():
        console.print(f"{site} could not be evaluated: {problem}", style="red", highlight=False, markup=False)
    if known:
        console.print(
            f"{results['method']}: mean {sum(known) / len(known):.1%} over {len(known)} sites", highlight=False
        )
        console.print("Each site's personal model, at the λ that it chose on its own validation samples.", style="dim")


def show_beside(beside: "Beside | None", console: Console) -> None:
    if beside is None:
        return
    apart = "the same weights" if beside.difference == 0 else f"weights that differ by {beside.difference:.1g} at most"
    words = (
        f"A round took {beside.federation:.1f} s here and {beside.simulator:.2f} s in the simulator, which ends with {apart}; "
        "the rest is Flower's polling, and a process started for each message."
    )
    console.print(words, style="dim", highlight=False)


def _several(names: object) -> str:
    return ", ".join(map(str, names)) if isinstance(names, list) else str(names)
