"""Samples from a text file: its windows, and the character after each."""

from pathlib import Path

import numpy as np

from superfed.core.errors import UserError
from superfed.data.labels import Labels
from superfed.data.shakespeare import as_leaf
from superfed.data.text import TextWindows
from superfed.export.card import Card
from superfed.export.samples.given import Given, numbered


def read_text(path: Path, card: Card) -> Given:
    """Text that is longer than the window tells what comes next; of one just as long, that is what is asked."""
    alphabet = card.preprocessing.alphabet
    if alphabet is None:
        raise UserError(f"{path}: is text, and the model takes inputs of shape {card.preprocessing.input_shape}")
    (window,) = card.preprocessing.input_shape
    text = as_leaf(_content(path).removesuffix("\n"))
    if len(text) < window:
        raise UserError(f"{path}: has {len(text)} characters, and the model reads {window} at a time")
    asks = len(text) == window
    windows = TextWindows.from_texts(str(path), [(path.stem, text + " " if asks else text)], alphabet, window)
    labels = None if asks else Labels(windows.labels.astype(np.int64))
    x = windows.inputs(np.arange(len(windows))).numpy()
    return Given(str(path), x, numbered(len(x)), labels)


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: is not UTF-8 text; save it as UTF-8") from error
