"""Numbers as text. One place, so that the terminal and the page never disagree."""

import math

NOTHING = "–"


def percent(share: float | None) -> str:
    return NOTHING if share is None or not math.isfinite(share) else f"{100 * share:.2f}"


def accuracy(mean: float, std: float) -> str:
    """``98.97 ±1.75``, in percent."""
    return NOTHING if not math.isfinite(mean) else f"{percent(mean)} ±{percent(std)}"


def spread(value: float | None) -> str:
    """``(±0.21)``, in percent; nothing where there is only one seed."""
    return "" if value is None or not math.isfinite(value) else f"(±{percent(value)})"


def decimal(value: float) -> str:
    """Four significant digits, for what is no share of anything."""
    return NOTHING if not math.isfinite(value) else f"{value:.4g}"


def aligned(value: float) -> str:
    """The same with four decimals, for columns; large ones have no use for them."""
    return decimal(value) if not math.isfinite(value) or abs(value) >= 1000 else f"{value:.4f}"


def amount(num_bytes: float) -> str:
    """``44.2 MB``: powers of ten, as networks are sold."""
    for unit in ("B", "kB", "MB", "GB"):
        if num_bytes < 1000:
            return f"{num_bytes:.3g} {unit}"
        num_bytes /= 1000
    return f"{num_bytes:,.1f} TB"


def listed(words: list[str]) -> str:
    """``a, b and c``."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
