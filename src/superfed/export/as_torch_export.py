"""torch.export: a graph that torch runs without the network's own code, the card in a file of the archive.

Such an archive is a program. ``torch.export.load`` unpickles what lies in it pickled, evaluates expressions of its shapes
as Python, and calls whatever functions of torch its graph names. Those that are written here hold nothing pickled, and
none that does is loaded; but even so a stranger's may run anything, and is loaded only by who trusts it.
"""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from superfed.core.errors import UserError
from superfed.export.card import Card
from superfed.export.graph import cannot_be_a_graph, graph_of, quiet
from superfed.export.network import Network, no_code, of_module

CARD = "superfed.json"
WEIGHTS, CONSTANTS, SAMPLES = "data/weights/", "data/constants/", "data/sample_inputs/"
MODELS, EXTRA = "models/", "extra/"
PLAIN = {WEIGHTS: "weight_", CONSTANTS: "tensor_"}
"""How records begin that are bare numbers, where their config does not say that they are pickled."""
OTHERS = ("archive_format", "archive_version", "byteorder", ".data/version", ".data/serialization_id", "version")


def write(module: nn.Module, card: Card, inputs: Tensor) -> bytes:
    program, buffer = graph_of(module, inputs), io.BytesIO()
    with quiet(), cannot_be_a_graph():
        torch.export.save(program, buffer, extra_files={CARD: json.dumps(card.texts())})
    return buffer.getvalue()


def texts(content: bytes, path: Path) -> dict[str, str]:
    """Read from the archive, without torch."""
    try:
        found = json.loads(_records(content)[f"{EXTRA}{CARD}"])
        return {str(name): str(value) for name, value in found.items()}
    except KeyError:
        return {}
    except (OSError, ValueError, AttributeError, zipfile.BadZipFile, RuntimeError) as error:
        raise _damaged(path) from error


def read(content: bytes, card: Card, path: Path, *, trust: bool) -> Network:
    if not trust:
        raise no_code(path, "is a program, as every .pt2 file, and would be run")
    try:
        pickled = _pickled(_records(content))
    except (OSError, ValueError, KeyError, AttributeError, TypeError, zipfile.BadZipFile) as error:
        raise _damaged(path) from error
    if pickled is not None:
        raise UserError(f"{path}: holds pickled Python objects ({pickled}), which are not loaded; export it again")
    try:
        with quiet():
            return of_module(torch.export.load(io.BytesIO(content)).module())
    except Exception as error:  # torch complains of a damaged archive in many ways
        raise _damaged(path) from error


def _records(content: bytes) -> dict[str, bytes]:
    """What the archive holds, by names without the folder that all lie in."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = archive.infolist()
        records = {entry.filename.partition("/")[2]: archive.read(entry) for entry in entries}
    if len(records) < len(entries):
        raise ValueError("two records of one name, of which torch may take the other")
    return records


def _pickled(records: dict[str, bytes]) -> str | None:
    """The first record that torch would unpickle, or that is of no kind known not to be."""
    for name, content in records.items():
        if name in OTHERS or name.startswith((EXTRA, MODELS)) or (name.startswith(SAMPLES) and not content):
            continue
        folder = next((folder for folder in PLAIN if name.startswith(folder)), None)
        if folder is not None and name.endswith("_config.json"):
            config: dict[str, Any] = json.loads(content)["config"]
            for one, about in config.items():
                if about["use_pickle"] is not False or not about["path_name"].startswith(PLAIN[folder]):
                    return one
        elif folder is None or not name.removeprefix(folder).startswith(PLAIN[folder]):
            return name
    return None


def _damaged(path: Path) -> UserError:
    return UserError(f"{path}: is no .pt2 file of torch.export or a damaged one; export it again")
