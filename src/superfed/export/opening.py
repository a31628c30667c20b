"""Models from files."""

from pathlib import Path

from superfed.core.errors import UserError
from superfed.core.vector import ModelSource
from superfed.export import as_onnx, as_safetensors, as_torch_export
from superfed.export.card import Card
from superfed.export.formats import format_of
from superfed.export.opened import ExportedModel


def load_model(path: str | Path, *, trust: bool = False, model: ModelSource | None = None) -> ExportedModel:
    """A model that ``export_model`` or ``superfed export`` wrote.

    Args:
        trust: whether code may be run that the file brings or names. A ``.pt2`` file is a program, and the weights in a
            safetensors file may be those of a network that a function outside superfed builds. ONNX files, and weights of
            superfed's own networks, need no trust.
        model: for weights in a safetensors file, their network or a function that builds it, where the file does not say how.
    """
    file = Path(path)
    kind = format_of(file)
    content = _content(file)
    if kind == "onnx":
        card = Card.from_texts(as_onnx.texts(content, file), str(file))
        return ExportedModel(file, kind, card, as_onnx.read(content, card, file))
    if kind == "torchexport":
        card = Card.from_texts(as_torch_export.texts(content, file), str(file))
        return ExportedModel(file, kind, card, as_torch_export.read(content, card, file, trust=trust))
    card = Card.from_texts(as_safetensors.texts(content, file), str(file))
    return ExportedModel(file, kind, card, as_safetensors.read(content, card, file, trust=trust, model=model))


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{file}: there is no such file") from None
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from error
