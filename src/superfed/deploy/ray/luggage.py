"""The user's own modules, for machines that do not have them.

A config may name a network as ``package.module:function``, from a file beside it. That file travels, with those from the same
folder that it made Python import. What is installed is expected to be installed on every machine.
"""

import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from superfed.core.errors import UserError
from superfed.experiments.orders import Order

MOST = 16 * 2**20
"""Bytes; whoever imports more than that from a working directory should install it."""

Luggage = Mapping[str, bytes]
"""Files by their paths."""


def luggage_of(orders: Iterable[Order]) -> Luggage:
    names = {order.config.as_plain()["model"]["name"] for order in orders}
    modules = {name.partition(":")[0] for name in names if ":" in name}
    files: dict[str, bytes] = {}
    for root in {root for module in modules if (root := _root_of(module)) is not None}:
        files |= {str(path.relative_to(root)): path.read_bytes() for path in _imported_from(root)}
    if sum(map(len, files.values())) > MOST:
        raise UserError(
            f"{', '.join(sorted(modules))}: imports more than {MOST >> 20} MiB of files; install them instead"
        )
    return files


def unpack_luggage(luggage: Luggage) -> None:
    """Have these files found by imports, for as long as the process lasts."""
    if not luggage or any(path in _unpacked for path in sys.path):
        return
    folder = Path(tempfile.mkdtemp(prefix="superfed-modules-"))
    for name, content in luggage.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    sys.path.insert(0, str(folder))
    _unpacked.add(str(folder))


_unpacked: set[str] = set()


def _root_of(module: str) -> Path | None:
    """The folder that holds the module's top package; None if it is installed."""
    file = getattr(sys.modules[module], "__file__", None)
    if file is None or _is_installed(Path(file)):
        return None
    root = Path(file).resolve().parent
    for _ in range(module.count(".") + (Path(file).name == "__init__.py")):
        root = root.parent
    return root


def _imported_from(root: Path) -> list[Path]:
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    named = (Path(file) for file in files if isinstance(file, str) and file.endswith(".py"))
    paths = {path.resolve() for path in named if path.is_absolute() and path.exists()}
    return sorted(path for path in paths if path.is_relative_to(root) and not _is_installed(path))


def _is_installed(path: Path) -> bool:
    places = {Path(sysconfig.get_path(kind)).resolve() for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
    package = Path(__file__).resolve().parents[3]
    return any(path.resolve().is_relative_to(place) for place in (*places, package))
