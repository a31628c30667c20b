"""The methods of the paper's tables, as settings of ours."""

from dataclasses import dataclass
from fnmatch import fnmatchcase

from superfed.reproduce.paper import SETUPS, Plain

MU = 0.01  # reading, Hyperparameters: for SuPerFed and FedProx everywhere
APFL_ALPHA = 0.25  # reading, The other methods
DITTO = {"lam": 1.0, "personal_epochs": 5}  # reading, The other methods
BODY_EPOCHS = 5  # reading, The other methods: FedRep's body; its head has the run's local epochs
PFEDME_LAM = {"femnist": 5.0, "shakespeare": 0.1}  # reading, The other methods
PFEDME_LAM_ELSEWHERE = 15.0  # reading, The other methods
INNER_STEPS = 5  # reading, The other methods: "K inner steps"; 5 is K in pFedMe's own paper

MIXINGS = {"superfed_mm": "model", "superfed_lm": "layer"}
METHODS = (
    *("fedavg", "fedprox", "scaffold"),
    *("lg_fedavg", "fedper", "apfl", "pfedme", "ditto", "fedrep"),
    *MIXINGS,
)
"""In the order of the tables' rows."""


@dataclass(frozen=True)
class Mix:
    """ν and L/R."""

    nu: float
    start: float
    mu: float = MU


PUBLISHED_MIXES: dict[str, tuple[Mix, Mix]] = {  # reading, Hyperparameters: its table, MM and LM
    "table1/*/k50": (Mix(1.0, 0.6), Mix(2.0, 0.8)),
    "table1/*/k100": (Mix(1.0, 0.4), Mix(2.0, 0.6)),
    "table1/*/k500": (Mix(1.0, 0.2), Mix(2.0, 0.4)),
    "table2/cifar100/*": (Mix(1.0, 0.4), Mix(2.0, 0.6)),
    "table2/tiny_imagenet/alpha1": (Mix(1.0, 0.35), Mix(2.0, 0.45)),
    "table2/tiny_imagenet/alpha10": (Mix(1.0, 0.45), Mix(2.0, 0.5)),
    "table2/tiny_imagenet/alpha100": (Mix(1.0, 0.55), Mix(2.0, 0.55)),
    "table3/femnist/natural": (Mix(2.0, 0.25), Mix(3.0, 0.45)),
    "table3/shakespeare/natural": (Mix(1.5, 0.45), Mix(2.0, 0.35)),
    "table4/*/*": (Mix(1.0, 0.4), Mix(2.0, 0.6)),
}


def method(name: str, column: str) -> Plain:
    """A method as the paper's tables have it, in the column ``table/dataset/setting``."""
    if name in MIXINGS:
        mixes = next(mixes for pattern, mixes in PUBLISHED_MIXES.items() if fnmatchcase(column, pattern))
        return superfed(name, mixes[list(MIXINGS).index(name)])
    return baseline(name, dataset=column.split("/")[1])


def superfed(name: str, mix: Mix) -> Plain:
    return {"name": "superfed", "mixing": MIXINGS[name], "nu": mix.nu, "mu": mix.mu, "start": mix.start}


def baseline(name: str, dataset: str) -> Plain:
    own: dict[str, Plain] = {
        "fedprox": {"mu": MU},
        "apfl": {"alpha": APFL_ALPHA},
        "pfedme": {
            "lam": PFEDME_LAM.get(dataset, PFEDME_LAM_ELSEWHERE),
            "inner_steps": INNER_STEPS,
            "inner_lr": SETUPS[dataset].lr,
        },
        "ditto": dict(DITTO),
        "fedrep": {"body_epochs": BODY_EPOCHS},
    }
    return {"name": name, **own.get(name, {})}
