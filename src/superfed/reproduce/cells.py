"""Every cell of the paper's tables, and every run behind its figures and its open questions, as a config."""

import json
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256

from superfed.core.errors import UserError
from superfed.experiments.schema import RunConfig
from superfed.reproduce import asked, paper
from superfed.reproduce.address import Addressed
from superfed.reproduce.asked import Sweep
from superfed.reproduce.methods import METHODS, MIXINGS, Mix, method, superfed
from superfed.reproduce.paper import Plain
from superfed.reproduce.parts import PARTS
from superfed.reproduce.parts import TARGET as PARTS_TARGET
from superfed.reproduce.scales import SHORT_OMITS, Scale, scaled


@dataclass(frozen=True)
class Cell(Addressed):
    """``id`` is ``table/dataset/setting/method``; ``settings`` are all that a config needs but a seed."""

    id: str
    settings: Plain = field(hash=False)

    @property
    def address(self) -> str:
        return self.id

    @property
    def digest(self) -> str:
        """Of its settings: equal for cells that need the same runs."""
        return sha256(json.dumps(self.settings, sort_keys=True).encode()).hexdigest()[:8]

    def config(self, seed: int = 0) -> RunConfig:
        return RunConfig.from_plain({"seed": seed, **self.settings})


@dataclass(frozen=True)
class PlannedRun:
    """One run, and the cells that it serves."""

    config: RunConfig
    cells: tuple[Cell, ...]

    @property
    def name(self) -> str:
        """A folder's name, after the first of its cells."""
        return f"{self.cells[0].id.replace('/', '-')}-seed{self.config.seed}"

    @cached_property
    def settings(self) -> Plain:
        """What a config file would say."""
        return {"name": self.name, "seed": self.config.seed, **deepcopy(self.cells[0].settings)}


def cells(target: str, scale: Scale) -> list[Cell]:
    """The cells of a table, a figure or the open questions, or of ``all``, row by row."""
    if target == "all":
        return [cell for name in TARGETS for cell in cells(name, scale)]
    if target not in TARGETS:
        raise UserError(f"{target}: is no table or figure of the paper; choose from {', '.join(TARGETS)}, all")
    every = [replace(cell, settings=scaled(cell.settings, cell.dataset, scale)) for cell in TARGETS[target](scale)]
    return [cell for cell in every if not (scale == "short" and cell.settings["data"]["num_clients"] == SHORT_OMITS)]


def runs(cells: Iterable[Cell], seeds: Sequence[int]) -> list[PlannedRun]:
    """The runs that the cells need with every seed; cells with equal settings share one."""
    serves: dict[RunConfig, list[Cell]] = {}
    every = list(cells)
    for seed in seeds:
        for cell in every:
            serves.setdefault(cell.config(seed), []).append(cell)
    return [PlannedRun(config, tuple(served)) for config, served in serves.items()]


def _table1(scale: Scale) -> list[Cell]:
    columns = [(dataset, clients) for dataset in ("mnist", "cifar10") for clients in paper.PATHOLOGICAL_CLIENTS]
    return [_pathological("table1", dataset, clients, name) for name in METHODS for dataset, clients in columns]


def _table2(scale: Scale) -> list[Cell]:
    columns = [(dataset, alpha) for dataset in paper.DIRICHLET_CLIENTS for alpha in paper.CONCENTRATIONS]
    found = []
    for name in METHODS:
        for dataset, alpha in columns:
            column = f"table2/{dataset}/alpha{alpha}"
            found.append(_cell(column, name, _dirichlet(paper.DIRICHLET_CLIENTS[dataset], alpha)))
    return found


def _table3(scale: Scale) -> list[Cell]:
    columns = [(f"table3/{dataset}/natural", data) for dataset, data in paper.NATURAL.items()]
    return [_cell(column, name, data) for name in METHODS for column, data in columns]


def _table4(scale: Scale) -> list[Cell]:
    columns = [(dataset, *noise) for dataset in ("mnist", "cifar10") for noise in paper.NOISES]
    found = []
    for name in METHODS:
        for dataset, kind, rate in columns:
            data = _dirichlet(paper.NOISE_CLIENTS, paper.NOISE_ALPHA) | {"label_noise": {"kind": kind, "rate": rate}}
            found.append(_cell(f"table4/{dataset}/{kind}{rate}", name, data))
    return found


def _table5(scale: Scale) -> list[Cell]:
    return [
        _ablation(f"table5/cifar10/start{start}", name, Mix(paper.START_NU, start), paper.START_ROUNDS)
        for name in MIXINGS
        for start in paper.STARTS
    ]


def _figure3(scale: Scale) -> list[Cell]:
    return [
        _ablation(
            f"figure3/cifar10/nu{nu:g}_mu{mu:g}", name, Mix(nu, paper.CONSTANTS_START, mu), paper.CONSTANTS_ROUNDS
        )
        for name in MIXINGS
        for nu in paper.NUS
        for mu in paper.MUS
    ]


def _figure_a(scale: Scale) -> list[Cell]:
    """Whose global models' loss surfaces are drawn."""
    return [_pathological("figureA", "cifar10", paper.ABLATION_CLIENTS, name) for name in ("fedavg", *MIXINGS)]


def _figure_b(scale: Scale) -> list[Cell]:
    """Who is evaluated along λ."""
    clients = 100 if scale == "short" else 500  # tex, Figure B; a short run has no cells with 500
    return [_pathological("figureB", "mnist", clients, name) for name in ("apfl", *MIXINGS)]


def _questions(scale: Scale) -> list[Cell]:
    """The runs of some columns of Tables 1 and 3, and sweeps around them."""
    found = list[Cell]()
    for dataset, clients in asked.SETTINGS:
        few = min(clients, asked.SHORT_CLIENTS) if scale == "short" else clients
        column = {name: _pathological("questions", dataset, few, name) for name in METHODS}
        found += column.values()
        for name in MIXINGS:
            others = (nu for nu in asked.NUS if nu != column[name].settings["algorithm"]["nu"])
            found += [_varied(column[name], f"nu{nu:g}", algorithm={"nu": nu}) for nu in others]
        random = {"partition": paper.PATHOLOGICAL | {"assignment": "random"}}
        found += [_varied(column[name], Sweep.RANDOM, data=random) for name in asked.DEALT]
        epochs = {"newcomer_epochs": paper.SETUPS[dataset].local_epochs}  # as if they took part in one round
        apart = {"newcomers": asked.NEWCOMERS}
        found += [_varied(column[name], Sweep.NEWCOMERS, data=apart, evaluation=epochs) for name in asked.MEETING]
        found += [_varied(column[name], Sweep.STEEP, training={"lr_decay": asked.STEEP}) for name in asked.STEEPER]
        every = {"validation_fraction": 0.0}  # of CIFAR-10 that makes whole batches, however they are cut
        found += [_varied(_as_left_over(column[name]), Sweep.WHOLE, data=every) for name in asked.WHOLE]
        found += [_otherwise_batched(column[name]) for name in asked.BATCHED]
        found += [_tuned(column[name]) for name in asked.TUNED]
    text = {
        name: replace(
            _cell(f"table3/{asked.TEXT}/natural", name, paper.NATURAL[asked.TEXT]),
            id=f"questions/{asked.TEXT}/natural/{name}",
        )
        for name in (*MIXINGS, *asked.SPLIT)
    }
    found += text.values()
    found += [_varied(text[name], Sweep.UNHELD, algorithm={"mu": 0.0}) for name in MIXINGS]
    found += [_varied(text[name], Sweep.MIXED, data={"overlapping": "mixed"}) for name in asked.SPLIT]
    return found


def _parts(scale: Scale) -> list[Cell]:
    """Columns of Tables 2 and 3 whose data is not to be had whole, with what there is of it."""
    found = []
    for name in METHODS:
        for part in PARTS:
            settings = _settings(part.place.split("/")[1], method(name, part.place), part.data, paper.ROUNDS)
            found.append(Cell(f"{part.column}/{name}", settings))
    return found


def _varied(cell: Cell, how: str, **changes: Plain) -> Cell:
    """The cell with some keys of some sections changed, beside it as ``SETTING_HOW``."""
    settings = cell.settings | {section: cell.settings[section] | change for section, change in changes.items()}
    return Cell(f"{cell.table}/{cell.dataset}/{cell.setting}_{how}/{cell.method}", settings)


def _tuned(cell: Cell) -> Cell:
    """Each client trains on in the end, for as long as in a round. FedAvg with that is a method of its own."""
    epochs = cell.settings["training"]["local_epochs"]
    if cell.method == asked.GLOBAL:
        return _varied(cell, Sweep.TUNED, algorithm={"name": "fedavg_ft", "epochs": epochs})
    return _varied(cell, Sweep.TUNED, training={"tuning_epochs": epochs})


def _otherwise_batched(cell: Cell) -> Cell:
    """With a small last batch if its batches are even, and with even ones if not."""
    even = _varied(cell, Sweep.EVEN, training=paper.EVEN_BATCHES)
    if even.settings != cell.settings:
        return even
    return _varied(_as_left_over(cell), Sweep.SMALL)


def _as_left_over(cell: Cell) -> Cell:
    """With batches as they come, the last of what is left over."""
    training = {key: value for key, value in cell.settings["training"].items() if key not in paper.EVEN_BATCHES}
    return replace(cell, settings=cell.settings | {"training": training})


def _pathological(table: str, dataset: str, clients: int, name: str) -> Cell:
    """As in Table 1, whose settings the figures of its runs have too."""
    data = {"num_clients": clients, "partition": paper.PATHOLOGICAL}
    settings = _cell(f"table1/{dataset}/k{clients}", name, data).settings
    further = paper.EVEN_BATCHES if (dataset, clients) in paper.EVEN_COLUMNS else {}
    return Cell(f"{table}/{dataset}/k{clients}/{name}", settings | {"training": settings["training"] | further})


def _ablation(column: str, name: str, mix: Mix, rounds: int) -> Cell:
    data = {"num_clients": paper.ABLATION_CLIENTS, "partition": paper.PATHOLOGICAL}
    settings = _settings("cifar10", superfed(name, mix), data, rounds)
    return Cell(f"{column}/{name}", settings)


def _cell(column: str, name: str, data: Plain) -> Cell:
    return Cell(f"{column}/{name}", _settings(column.split("/")[1], method(name, column), data, paper.ROUNDS))


def _dirichlet(clients: int, alpha: float) -> Plain:
    return {"num_clients": clients, "partition": {"name": "dirichlet", "alpha": float(alpha)}}


def _settings(dataset: str, algorithm: Plain, data: Plain, rounds: int) -> Plain:
    setup = paper.SETUPS[dataset]
    return {
        "algorithm": algorithm,
        "data": {
            "dataset": dict(setup.dataset),
            **deepcopy(data),  # a part's own dataset takes the place of the setup's
            "test_fraction": paper.TEST_FRACTION,
            "validation_fraction": paper.VALIDATION_FRACTION,
        },
        "model": dict(setup.model),
        "training": {
            "rounds": rounds,
            "clients_per_round": paper.CLIENTS_PER_ROUND,
            "local_epochs": setup.local_epochs,
            "batch_size": setup.batch_size,
            "lr": setup.lr,
            "lr_decay": setup.lr_decay,
            "momentum": paper.MOMENTUM,
            "weight_decay": paper.WEIGHT_DECAY,
            **setup.further,
        },
        "evaluation": {"lambdas": paper.LAMBDAS},
    }


TARGETS: dict[str, Callable[[Scale], list[Cell]]] = {
    "table1": _table1,
    "table2": _table2,
    "table3": _table3,
    "table4": _table4,
    "table5": _table5,
    "figure3": _figure3,
    "figureA": _figure_a,
    "figureB": _figure_b,
    "questions": _questions,
    PARTS_TARGET: _parts,
}
