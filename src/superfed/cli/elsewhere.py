"""Options for computing on other machines, and the place that they name."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from superfed.experiments.places import Place

RayAddress = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Compute on the Ray cluster at this address; local is one of this machine's own.",
        show_default=False,
    ),
]
GpusPerTask = Annotated[
    float | None,
    typer.Option(
        "--gpus-per-task", metavar="F", help="With --ray: the share of a GPU that a task takes.", show_default=False
    ),
]
StoreUrl = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="With --ray, where machines share no folder: anything fsspec opens, such as s3://bucket/runs.",
        show_default=False,
    ),
]

Spreading = Annotated[
    bool, typer.Option("--spread", help="With --ray: divide the clients of each round over the machines, not the runs.")
]


@contextmanager
def place_for(
    ray: str | None, gpus_per_task: float | None, store: str | None, spread: bool = False
) -> "Iterator[Place]":
    """Where runs are computed: here, unless a cluster is named."""
    from superfed.core.errors import require

    if ray is None:
        require(gpus_per_task is None, "--gpus-per-task", "goes with --ray")
        require(store is None, "--store", "goes with --ray")
        require(not spread, "--spread", "goes with --ray")
        from superfed.experiments.places import Here

        yield Here()
        return
    if spread:
        require(store is None, "--store", "does not go with --spread, where only this machine writes results")
        from superfed.deploy.ray.spread.place import spread_on_ray

        with spread_on_ray(ray, gpus_per_task) as spreading:
            yield spreading
        return
    from superfed.deploy.ray.place import on_ray
    from superfed.deploy.ray.stores.kinds import Store
    from superfed.deploy.ray.stores.remote import Remote
    from superfed.deploy.ray.stores.shared import Shared

    where: Store = Shared() if store is None else Remote(store)
    with on_ray(ray, where, gpus_per_task) as place:
        yield place
