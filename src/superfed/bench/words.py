"""A report in words and cells, the same for the terminal and for the page."""

from collections.abc import Sequence

from superfed.bench.report import LeftOut, Report, Row

HEADINGS = ("method", "lanes", "engine", "plain", "ratio", "turns", "floor", "of it", "MiB", "first")
EXPLANATION = (
    "engine, plain, floor: client-steps (one client, one mini-batch) a second, on a CPU of one core; of the engine, of the "
    "plain PyTorch loop, and what counted products (p) or memory traffic (m) allow at rates measured here. "
    "ratio: the median of turns, engine and loop one after the other; turns: the lowest and the highest. "
    "MiB: what engine / loop take at most. first: seconds that the first call took beyond the second."
)


def by_network(report: Report) -> dict[str, list[Row]]:
    """The rows of each network, under what is to be known of it."""
    groups: dict[str, list[Row]] = {}
    for row in report.rows:
        title = f"{row.of.network}: {row.parameters:,} parameters, batches of {row.batch_size}"
        groups.setdefault(title, []).append(row)
    return groups


def cells(row: Row) -> tuple[str, ...]:
    found = row.found
    return (
        row.of.title,
        f"{found.lanes}",
        number(found.ours),
        number(found.plain),
        times(found.ratio),
        f"{number(found.lowest_ratio)}–{number(found.highest_ratio)}",
        f"{number(found.floor)} {found.bound[0]}",
        f"{found.ours / found.floor:.0%}",
        f"{mib(found.ours_peak_mib)}/{mib(found.plain_peak_mib)}",
        f"{found.first_call_s:.1f}",
    )


def machine(report: Report) -> str:
    """The device's name."""
    device = report.hardware["device"]
    return str(report.hardware["cpu"] if device == "cpu" else device)


def circumstances(report: Report) -> str:
    hardware, versions = report.hardware, report.versions
    load = f"load average {hardware['load_average']} on {hardware['usable_cores']} cores when it began"
    if hardware["load_average"] > hardware["usable_cores"] / 2:
        load += ", so other programs had them too"
    packages = ", ".join(f"{name} {versions[name]}" for name in ("superfed", "torch", "numba", "python"))
    side = f"{report.turns} turns of each side, about {report.seconds_per_case:g} s a case"
    products = f"{report.precision}, matrix products at {report.matmul_flops_per_s / 1e9:,.0f} GFLOP/s"
    return f"{report.date[:10]}; {packages}; {load}; {side}; {products}."


def remarks(report: Report) -> list[str]:
    """What was measured once, a sentence each."""
    what = f"{report.aside.title}, {report.aside.network}"
    sentences = _left_out(report.left_out)
    if report.workers is not None:
        workers = report.workers
        sentences.append(f"{workers.count} workers ({what}): {times(workers.ratio)} one worker.")
    if report.threads is not None:
        threads = report.threads
        sentences.append(
            f"The plain loop on torch's {threads.count} threads ({what}): {times(threads.ratio)} one thread."
        )
    run = report.whole_run
    sentences.append(
        f"A whole run ({report.aside.title}, two_nn, {run.rounds} rounds, {run.client_steps:,} client-steps): "
        f"{run.total_s:.1f} s, {run.outside:.0%} of it outside local updates "
        f"(evaluation {run.evaluation_s / run.total_s:.0%}, checkpoints {run.checkpoints_s / run.total_s:.0%})."
    )
    return sentences


def _left_out(cases: Sequence[LeftOut]) -> list[str]:
    """One sentence for all methods that are left out with a network for the same reason."""
    methods: dict[tuple[str, int, str], list[str]] = {}
    for one in cases:
        methods.setdefault((one.of.network, one.lanes, one.why), []).append(one.of.title)
    return [
        f"{', '.join(titles)}, {network}, {lanes} lanes: left out, {why}."
        for (network, lanes, why), titles in methods.items()
    ]


def number(value: float) -> str:
    """Three digits that count, as far as there are."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def times(ratio: float) -> str:
    return f"{number(ratio)} ×"


def mib(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"
