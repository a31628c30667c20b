"""Rooms know only the rooms below them, and the lower ones need torch, numpy and safetensors alone."""

import ast
from pathlib import Path

import pytest

import superfed

ROOT = Path(superfed.__file__).parent

MAY_IMPORT: dict[str, set[str]] = {
    "core": set(),
    "algorithms": {"core"},
    "models": {"core"},
    "data": {"core", "store"},
    "metrics": {"core"},
    "store": {"core"},
    "engine": {"core", "metrics", "store"},
    "experiments": {"core", "algorithms", "models", "data", "metrics", "engine", "store", "tracking", "report"},
    "report": {"core", "store"},
    "serve": {"core", "store", "report"},
    "tracking": {"core", "store", "report"},
    "export": {"core", "models", "data", "metrics", "engine", "store", "experiments"},
    "bench": {"core", "algorithms", "models", "engine", "store", "experiments", "report"},
    "reproduce": {"core", "algorithms", "models", "data", "metrics", "engine", "store", "experiments", "report"},
    "reference": {"core", "data", "store", "experiments"},
    "deploy": {"core", "data", "metrics", "engine", "store", "experiments"},
    "cli": {
        "core",
        "algorithms",
        "models",
        "data",
        "metrics",
        "engine",
        "store",
        "experiments",
        "report",
        "serve",
        "bench",
        "reproduce",
        "export",
        "deploy",
    },
}
LIGHT_ROOMS = ("core", "algorithms", "models", "data", "metrics", "engine", "bench")
LIGHT_PACKAGES = {"torch", "numpy", "safetensors", "superfed"}
FILES = sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT)


def imports(path: Path, *, everywhere: bool) -> set[str]:
    """The modules a file imports: also inside functions, or only where importing the file imports them."""
    tree = ast.parse(path.read_text())
    nodes = list(ast.walk(tree)) if everywhere else tree.body
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            found.add(node.module or "")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_downwards(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0]
    for module in imports(path, everywhere=True):
        parts = module.split(".")
        if parts[0] == "superfed" and len(parts) > 1 and parts[1] != room:
            assert parts[1] in MAY_IMPORT[room], f"{room} must not import {module}"


@pytest.mark.parametrize("room", LIGHT_ROOMS)
def test_light_rooms_need_few_packages(room: str) -> None:
    import sys

    for path in ROOT.joinpath(room).rglob("*.py"):
        packages = {module.split(".")[0] for module in imports(path, everywhere=False)}
        assert packages <= LIGHT_PACKAGES | set(sys.stdlib_module_names), path


@pytest.mark.parametrize(("room", "modules"), [("engine", {"files"}), ("data", {"files", "lock"})])
def test_the_store_modules_that_light_rooms_use_need_no_more(room: str, modules: set[str]) -> None:
    import sys

    files = list(ROOT.joinpath(room).rglob("*.py"))
    used = {module for path in files for module in imports(path, everywhere=True) if ".store" in module}
    assert used == {f"superfed.store.{module}" for module in modules}
    for module in modules:
        packages = {m.split(".")[0] for m in imports(ROOT / "store" / f"{module}.py", everywhere=True)}
        assert packages <= {"superfed"} | set(sys.stdlib_module_names)


def test_every_room_is_listed() -> None:
    rooms = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert rooms == set(MAY_IMPORT)
