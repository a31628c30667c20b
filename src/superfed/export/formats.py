"""The kinds of files that models travel in."""

from pathlib import Path
from typing import Literal, get_args

from superfed.core.errors import SettingError, UserError

Format = Literal["safetensors", "onnx", "torchexport"]
FORMATS: tuple[Format, ...] = get_args(Format)
ENDINGS: dict[Format, str] = {"safetensors": ".safetensors", "onnx": ".onnx", "torchexport": ".pt2"}


def format_of(path: Path) -> Format:
    """The format that a file's name tells of."""
    for kind, ending in ENDINGS.items():
        if path.suffix.lower() == ending:
            return kind
    raise UserError(f"{path}: is no model: its name ends in none of {', '.join(ENDINGS.values())}")


def format_for(path: Path | None, given: str | None) -> Format:
    """The format to write: as given, or as the file's name tells, or safetensors."""
    if given is not None and given not in FORMATS:
        raise SettingError("format", f"must be {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, not '{given}'")
    chosen = next((kind for kind in FORMATS if kind == given), None)
    if path is None or path.suffix.lower() not in ENDINGS.values():
        if path is not None:
            wanted = ", ".join(ENDINGS.values()) if chosen is None else ENDINGS[chosen]
            raise UserError(f"{path}: the name of a model's file ends in {wanted}")
        return chosen or "safetensors"
    told = format_of(path)
    if chosen not in (None, told):
        raise UserError(f"{path}: ends in {path.suffix}, and the format {chosen} in {ENDINGS[chosen or told]}")
    return told
