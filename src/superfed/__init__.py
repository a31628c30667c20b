"""superfed: personalised federated learning.

import superfed
run = superfed.fit(clients, model)
run.client(3).model(lam=0.4)
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from superfed.algorithms import (
        APFL,
        L2GD,
        Ditto,
        FedAvg,
        FedAvgFT,
        FedPer,
        FedProx,
        FedRep,
        LGFedAvg,
        Local,
        Mapper,
        PFedMe,
        Scaffold,
        SuPerFed,
    )
    from superfed.core.errors import SettingError, UserError
    from superfed.data.own import ClientArrays
    from superfed.experiments.fit import FittedClient, FittedRun, fit

_METHODS = (
    "APFL",
    "Ditto",
    "FedAvg",
    "FedAvgFT",
    "FedPer",
    "FedProx",
    "FedRep",
    "L2GD",
    "LGFedAvg",
    "Local",
    "Mapper",
    "PFedMe",
    "Scaffold",
    "SuPerFed",
)
_WHERE = dict.fromkeys(_METHODS, "superfed.algorithms") | {
    "SettingError": "superfed.core.errors",
    "UserError": "superfed.core.errors",
    "ClientArrays": "superfed.data.own",
    "FittedClient": "superfed.experiments.fit",
    "FittedRun": "superfed.experiments.fit",
    "fit": "superfed.experiments.fit",
}

__all__ = [
    "APFL",
    "L2GD",
    "ClientArrays",
    "Ditto",
    "FedAvg",
    "FedAvgFT",
    "FedPer",
    "FedProx",
    "FedRep",
    "FittedClient",
    "FittedRun",
    "LGFedAvg",
    "Local",
    "Mapper",
    "PFedMe",
    "Scaffold",
    "SettingError",
    "SuPerFed",
    "UserError",
    "fit",
]


def __getattr__(name: str) -> object:
    """Import on first use, so that the command line answers without waiting for torch."""
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'superfed' has no attribute '{name}'")
