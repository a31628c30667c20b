"""The models of all clients, a file each."""

import re
from collections.abc import Iterator
from pathlib import Path

from superfed.experiments.fitted import FittedClient, FittedRun
from superfed.export.formats import ENDINGS, Format
from superfed.export.subject import Lambda, Subject
from superfed.export.writing import Written, write

LONGEST = 60


def export_all(run: FittedRun, folder: Path, kind: Format, lam: Lambda = None) -> Iterator[Written]:
    """Write the model of every client that may have trained into ``folder``, one after the other."""
    for index in run.members:
        client = run.client(index)
        yield write(Subject.of(client, lam), folder / file_name(client, kind), kind)


def file_name(client: FittedClient, kind: Format) -> str:
    """``client-0003-anna.onnx``: the number keeps files apart, and of a name it holds what any disk takes."""
    digits = max(4, len(str(client.run.num_clients - 1)))
    name = re.sub(r"[^\w.-]+", "_", client.name or "").strip("._-")[:LONGEST]
    return f"client-{client.index:0{digits}d}{'-' if name else ''}{name}{ENDINGS[kind]}"
