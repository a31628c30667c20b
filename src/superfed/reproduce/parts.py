"""Where a dataset of the paper is not to be had whole: parts of it, and what stands in for it, in its place."""

from dataclasses import dataclass

from superfed.reproduce.paper import CONCENTRATIONS, DIRICHLET_CLIENTS, Plain

TARGET = "parts"
PER_CLASS = 96
"""Of Tiny-ImageNet's 500 training images of each class."""
FEW_WRITERS = 12
"""Of FEMNIST's."""
MNIST_WRITERS = 539


@dataclass(frozen=True)
class Part:
    """A column of the paper with other data."""

    place: str
    """The column, ``table/dataset/setting``: everything but the data is as there."""
    data: Plain
    what: str
    """It is, and what the published numbers are of."""

    @property
    def column(self) -> str:
        return f"{TARGET}/{self.data['dataset']['name']}/{self.place.split('/')[2]}"


def _tiny_imagenet(alpha: int) -> Part:
    return Part(
        place=f"table2/tiny_imagenet/alpha{alpha}",
        data={
            "dataset": {"name": "tiny_imagenet", "per_class": PER_CLASS},
            "num_clients": DIRICHLET_CLIENTS["tiny_imagenet"],
            "partition": {"name": "dirichlet", "alpha": float(alpha)},
        },
        what=f"The first {PER_CLASS} of each class's 500 training images, so that a client has 96 where it had 500. The "
        "published numbers are of all of them.",
    )


def _written(dataset: str, writers: int, what: str) -> Part:
    data: Plain = {"dataset": {"name": dataset}, "num_clients": writers, "partition": {"name": "natural"}}
    return Part("table3/femnist/natural", data, what)


PARTS: tuple[Part, ...] = (
    *(_tiny_imagenet(alpha) for alpha in CONCENTRATIONS),
    _written(
        "mnist_writers",
        MNIST_WRITERS,
        f"MNIST, each of its {MNIST_WRITERS} writers a client: digits only, and not FEMNIST, whose network and settings it "
        "has here. The published numbers are of FEMNIST's 62 classes by 730 writers.",
    ),
    _written(
        "femnist",
        FEW_WRITERS,
        f"{FEW_WRITERS} writers of FEMNIST, with as many of its 62 classes as there are in the files at hand. The published "
        "numbers are of 730 writers and all classes.",
    ),
)


BY_COLUMN = {part.column: part for part in PARTS}


def place_of(cell: str) -> str:
    """The cell of the paper in whose place one of these stands."""
    column, _, method = cell.rpartition("/")
    return f"{BY_COLUMN[column].place}/{method}"
