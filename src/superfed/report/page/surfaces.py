"""Loss surfaces, where they were computed and stored beside a run."""

from collections.abc import Sequence

import numpy as np

from superfed.core.errors import UserError
from superfed.report.comparison import Comparison
from superfed.report.contour import contour
from superfed.report.markup import Markup, element
from superfed.report.relief import relief
from superfed.report.terrain import Scale, Spot, Terrain
from superfed.store.files import read_json
from superfed.store.layout import RunFolder

FILE = "surfaces.json"
WORDS = {
    "personal": "through the global model and two clients' own",
    "updates": "through the global model and what two clients' updates make of it",
    "own": "through the global model and two clients' own, on these clients' samples",
}


def surfaces_in(run: RunFolder) -> list[tuple[str, Terrain]]:
    """The surfaces stored beside a run, each with what its plane goes through; none where there is no file."""
    try:
        found = read_json(run.path / FILE)
        return [(WORDS.get(view, str(view)), _terrain(one)) for view, one in found["surfaces"].items()]
    except (UserError, KeyError, TypeError, ValueError, IndexError, AttributeError):
        return []


def surfaces_section(comparison: Comparison) -> Sequence[Markup]:
    """Each from the side and from above, all of one kind at one scale; nothing where none was computed."""
    found: dict[str, list[tuple[str, Terrain]]] = {}
    for row in comparison.rows:
        for view, terrain in surfaces_in(row.members[0].folder):
            found.setdefault(view, []).append((row.name, terrain))
    parts: list[Markup] = []
    for view, terrains in found.items():
        scale = Scale.of([terrain for _, terrain in terrains])
        pictures = [element("div", relief(t, scale), contour(t, scale), class_="surface") for _, t in terrains]
        parts += [element("h3", f"{view[0].upper()}{view[1:]}"), *pictures]
    return parts


def _terrain(plain: dict[str, object]) -> Terrain:
    heights = np.array(plain["loss"], dtype=np.float64)  # None becomes NaN
    window = np.array(plain["window"], dtype=np.float64)
    corners = plain["corners"]
    if heights.ndim != 2 or not isinstance(corners, list):
        raise ValueError("no surface")
    return Terrain(
        title=str(plain["title"]),
        xs=np.linspace(window[0], window[1], heights.shape[1]),
        ys=np.linspace(window[2], window[3], heights.shape[0]),
        values=heights,
        spots=[
            Spot(str(c["name"]).rpartition(" of ")[2], float(c["x"]), float(c["y"]), _number(c["loss"]))
            for c in corners
        ],
        lines=[(0, place) for place in range(1, len(corners))] if plain.get("mixes") else [],
        x_title="distance from the global model",
    )


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
