"""Figure A: the loss around global models, from the side and from above."""

from collections.abc import Mapping

from superfed.report.contour import contour
from superfed.report.numbers import NOTHING, decimal
from superfed.report.relief import best_turn, relief
from superfed.report.terrain import Scale, Spot, Terrain
from superfed.reproduce.drawn import NOT_RUN, Drawn, Picture, Row, Section
from superfed.reproduce.landscape import Landscape
from superfed.reproduce.record import Records
from superfed.reproduce.separated import separated
from superfed.reproduce.surveys import SPANS, View
from superfed.reproduce.words import METHODS

HEADINGS = ("method", "client", "global model", "client's model", "lowest", "highest")
TITLES: dict[View, str] = {
    "personal": "Through the clients' own models",
    "updates": "Through the clients' updates",
    "own": "Through the clients' own models, on their own samples",
}
REMARKS: dict[View, str] = {
    "personal": "The plane goes through the global model and the models of the two clients that trained last: for the methods "
    "that mix, their local models (λ = 1), and the dashed lines are their λ-lines. FedAvg has no such models; "
    "there it is the global model after one more update by either client.",
    "updates": "The same clients, and for every method what the global model becomes after one more update by either, so "
    "that the directions are of one kind and the widths of the basins can be compared.",
    "own": "The first plane of the methods that mix, with the loss on the training samples of these two clients alone: "
    "here a λ-line should be a valley.",
}


def figure_a(records: Records) -> Drawn:
    """A section for each view, a column for each method; all with one scale of colours."""
    if not records:
        return NOT_RUN
    every = ((cell, record.surfaces) for cell, of_seeds in records.items() for record in reversed(of_seeds))
    found = {cell: surfaces for cell, surfaces in every if surfaces}  # the first seed's, of those that have any
    terrains = {
        (view, cell): _terrain(views[view], view) for cell, views in found.items() for view in SPANS if view in views
    }
    if not terrains:
        return Drawn((), ("No loss surface has been computed yet.",))
    scale = Scale.of(list(terrains.values()))
    sections = tuple(
        _section(view, {cell: terrain for (of, cell), terrain in terrains.items() if of == view}, found, scale)
        for view in SPANS
        if any(of == view for of, _ in terrains)
    )
    first = next(views["personal"] for views in found.values() if "personal" in views)
    data = {f"{_name(view, cell)}.csv": _data(found[cell][view]) for view, cell in terrains}
    return Drawn(sections, _sentences(first, len(found) < len(records)), data)


def _section(
    view: View, terrains: Mapping[str, Terrain], found: Mapping[str, Mapping[str, Landscape]], scale: Scale
) -> Section:
    turn = best_turn(list(terrains.values()), scale)
    words = {cell: f"of {terrain.title}, {TITLES[view].lower()}" for cell, terrain in terrains.items()}
    above = tuple(
        Picture(f"{_name(view, cell)}-relief", f"Loss surface {words[cell]}, from the side.", relief(one, scale, turn))
        for cell, one in terrains.items()
    )
    below = tuple(
        Picture(f"{_name(view, cell)}-contour", f"Loss surface {words[cell]}, from above.", contour(one, scale))
        for cell, one in terrains.items()
    )
    rows = tuple(row for cell in terrains for row in _rows(cell, found[cell][view]))
    return Section(TITLES[view], (REMARKS[view],), (above, below), HEADINGS, rows)


def _terrain(landscape: Landscape, view: View) -> Terrain:
    return Terrain(
        title=landscape.title,
        xs=landscape.xs,
        ys=landscape.ys,
        values=landscape.heights,
        spots=[
            Spot(_short(c["name"]), c["x"], c["y"], float("nan") if c["loss"] is None else c["loss"])
            for c in landscape.corners
        ],
        lines=[(0, 1), (0, 2)] if landscape.mixes else [],
        x_title="distance from the global model",
    )


def _rows(cell: str, landscape: Landscape) -> tuple[Row, ...]:
    """One for each client: the loss at both ends of the way to its model, and on it."""
    centre, *clients = landscape.corners
    return tuple(
        Row(
            cell,
            (
                METHODS[cell.split("/")[3]],
                client["name"].rsplit(" ", 1)[1],
                *(_loss(value) for value in (centre["loss"], client["loss"], *landscape.extremes(line))),
            ),
        )
        for line, client in enumerate(clients)
    )


def _sentences(landscape: Landscape, some_are_missing: bool) -> tuple[str, ...]:
    missing = ("Surfaces that are not shown have not been computed.",) if some_are_missing else ()
    return (
        "Cross-entropy with what weight decay adds to it, on the training samples of "
        f"{landscape.num_clients} clients drawn for this ({landscape.num_samples:,} samples) unless a heading says otherwise, "
        "at the first seed. Distances are those between models; pictures of one row have one window, and all have one scale.",
        "lowest, highest: on the straight way from the global model to the client's, ends included; what is above both ends "
        "is a barrier, what is below both a valley. Layer-wise mixing also reaches models off the planes.",
        "The paper does not say which models span its planes, nor on whose samples the loss is taken.",
        *missing,
    )


def _data(landscape: Landscape) -> str:
    """A row for each point, the first coordinate running faster."""
    rows = [
        (x, y, loss)
        for y, row in zip(landscape.ys.tolist(), landscape.loss, strict=True)
        for x, loss in zip(landscape.xs.tolist(), row, strict=True)
    ]
    xs, ys, losses = zip(*rows, strict=True)
    return separated({"x": xs, "y": ys, "loss": losses})


def _name(view: str, cell: str) -> str:
    return f"figureA-{view}-{cell.split('/')[3]}"


def _short(name: str) -> str:
    """``local model of client 7`` → client 7: the caption says which of its models it is."""
    return name.rpartition(" of ")[2] or name


def _loss(value: float | None) -> str:
    return NOTHING if value is None else decimal(value)
