"""How large a reproduction is: as the paper had it, shorter, or only to see that everything runs."""

from collections.abc import Callable
from typing import Any, Literal

from superfed.data.stand_in import NAME as STAND_IN
from superfed.experiments.surface import NUM_CLIENTS
from superfed.reproduce.paper import AS_RUN, Plain

Scale = Literal["smoke", "short", "full"]

IN_WORDS: dict[Scale, str] = {
    "full": "as the paper had it",
    "short": "a fifth of the rounds (half in the ablations) and of the local epochs, the rate falling through the same "
    "values; no cells with 500 clients, Figure B and the open questions with 100; 100 of the writers and of the roles",
    "smoke": "2 rounds of tiny networks on made-up data, with the same partitions and methods; the numbers mean nothing",
}

SURFACES: dict[Scale, tuple[int, int]] = {"full": (31, NUM_CLIENTS), "short": (17, 3), "smoke": (7, NUM_CLIENTS)}
"""Points along the longer side of Figure A's surfaces, and clients on whose samples their loss is taken."""

SHORT_ROUNDS = {500: 100, 200: 100, 100: 50}
"""Ablations are short already; with fewer rounds most clients would take part once."""
SHORTER_EPOCHS = 5
"""Of local epochs, a fifth: 2 in place of 10, and 1 in place of 5."""
SHORT_CLIENTS = {"femnist": 100, "mnist_writers": 100, "shakespeare": 100}
"""In 100 rounds, 730 clients would not all take part once."""
SHORT_OMITS = 500
"""No cells with so many clients, for the same reason."""

SMOKE_ROUNDS = 2
SMOKE_CLIENTS = {12: 6, 50: 6, 100: 7, 200: 7, 500: 8, 539: 6, 660: 6, 730: 6}
SMOKE_CLIENTS_PER_ROUND = 2
LIKE = {"mnist_writers": "femnist"}
"""In whose place it stands."""
SMOKE_MODELS: dict[str, Plain] = {
    "mnist": {"name": "two_nn", "hidden_layers": 3, "width": 8, **AS_RUN},
    "cifar10": {
        "name": "two_cnn",
        "channels": 2,
        "padding": 1,
        "pool_padding": 1,
        "hidden_layers": 2,
        "width": 8,
        **AS_RUN,
    },
    "cifar100": {
        "name": "resnet",
        "depth": 6,
        "stages": 2,
        "channels": 4,
        "stem_stride": 2,
        "stem_pool": True,
        "shortcut": "projection",
        "hidden_layers": 1,
        "width": 8,
        **AS_RUN,
    },
    "tiny_imagenet": {
        "name": "mobilenet",
        "blocks": "8 16/2",
        "multiplier": 0.25,
        "stem_stride": 2,
        "hidden_layers": 1,
        "width": 8,
        **AS_RUN,
    },
    "femnist": {"name": "vgg", "layers": "4 pool 8 pool", "hidden_layers": 1, "width": 8, **AS_RUN},
    "shakespeare": {"name": "stacked_lstm", "embedding": 4, "width": 8, **AS_RUN},
}


def scaled(settings: Plain, dataset: str, scale: Scale) -> Plain:
    """The paper's settings at this scale."""
    return SCALED[scale](settings, dataset)


def _full(settings: Plain, dataset: str) -> Plain:
    return _with(settings, evaluation={"every": 50}, engine={"checkpoint_every": 50})


def _short(settings: Plain, dataset: str) -> Plain:
    training, data = settings["training"], settings["data"]
    return _with(
        settings,
        algorithm=_fewer_epochs(settings["algorithm"]),
        data={"num_clients": min(data["num_clients"], SHORT_CLIENTS.get(dataset, data["num_clients"]))},
        training=_fewer_rounds(training, SHORT_ROUNDS[training["rounds"]]) | _fewer_epochs(training),
        evaluation={"every": 10} | _fewer_epochs(settings["evaluation"]),
    )


def _smoke(settings: Plain, dataset: str) -> Plain:
    data, algorithm, training = settings["data"], settings["algorithm"], settings["training"]
    few = {"clients_per_round": SMOKE_CLIENTS_PER_ROUND}
    partition = {key: value for key, value in data["partition"].items() if key != "min_samples"}
    smaller = _with(
        settings,
        algorithm=dict.fromkeys(_fewer_epochs(algorithm), 1),
        data={
            "dataset": {"name": STAND_IN, "like": LIKE.get(dataset, dataset)},
            "num_clients": SMOKE_CLIENTS[data["num_clients"]],
            "partition": partition,
        },
        training=_fewer_rounds(training, SMOKE_ROUNDS) | dict.fromkeys(_fewer_epochs(training), 1) | few,
        evaluation={"every": SMOKE_ROUNDS, "clients": 2} | dict.fromkeys(_fewer_epochs(settings["evaluation"]), 1),
    )
    return smaller | {"model": dict(SMOKE_MODELS[LIKE.get(dataset, dataset)])}


def _fewer_rounds(training: Plain, rounds: int) -> Plain:
    """The rate falls faster, so that it goes through the same values; what is a fraction of the rounds stays one."""
    return {"rounds": rounds, "lr_decay": round(training["lr_decay"] ** (training["rounds"] / rounds), 6)}


def _fewer_epochs(section: Plain) -> Plain:
    return {key: _fewer(value) for key, value in section.items() if key.endswith("epochs")}


def _fewer(epochs: int) -> int:
    return max(epochs // SHORTER_EPOCHS, 1)


def _with(settings: Plain, **changes: dict[str, Any]) -> Plain:
    """A copy with some keys of some sections changed."""
    return settings | {section: settings.get(section, {}) | change for section, change in changes.items()}


SCALED: dict[Scale, Callable[[Plain, str], Plain]] = {"smoke": _smoke, "short": _short, "full": _full}
