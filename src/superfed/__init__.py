"""superfed: personalised federated learning.

    import superfed
    run = superfed.fit(clients, model, superfed.SuPerFed(nu=1.0))
    run.client(3).model(lam=0.4)

Every method of ``superfed.algorithms`` can be had from here.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from superfed.algorithms import *  # noqa: F403
    from superfed.core.errors import SettingError as SettingError
    from superfed.core.errors import UserError as UserError
    from superfed.data.from_python import from_arrays as from_arrays
    from superfed.data.from_python import from_hf as from_hf
    from superfed.data.from_python import from_partitioner as from_partitioner
    from superfed.data.own import ClientArrays as ClientArrays
    from superfed.experiments.fit import fit as fit
    from superfed.experiments.fitted import FittedClient as FittedClient
    from superfed.experiments.fitted import FittedRun as FittedRun
    from superfed.experiments.reload import load as load
    from superfed.experiments.subspace import Subspace as Subspace
    from superfed.export.opened import ExportedModel as ExportedModel
    from superfed.export.opening import load_model as load_model
    from superfed.export.writing import export_model as export_model
    from superfed.models import register_model as register_model

_WHERE = {
    "SettingError": "superfed.core.errors",
    "UserError": "superfed.core.errors",
    "from_arrays": "superfed.data.from_python",
    "from_hf": "superfed.data.from_python",
    "from_partitioner": "superfed.data.from_python",
    "ClientArrays": "superfed.data.own",
    "fit": "superfed.experiments.fit",
    "FittedClient": "superfed.experiments.fitted",
    "FittedRun": "superfed.experiments.fitted",
    "load": "superfed.experiments.reload",
    "Subspace": "superfed.experiments.subspace",
    "load_model": "superfed.export.opening",
    "ExportedModel": "superfed.export.opened",
    "export_model": "superfed.export.writing",
    "register_model": "superfed.models",
}


def __getattr__(name: str) -> object:
    """Import on first use, so that the command line answers without waiting for torch."""
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    if not name.startswith("_"):
        methods = import_module("superfed.algorithms")
        if name in methods.__all__:
            return getattr(methods, name)
    raise AttributeError(f"module 'superfed' has no attribute '{name}'")
