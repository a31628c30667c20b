"""Models to files. None is written that does not answer as the run itself did."""

from dataclasses import dataclass
from pathlib import Path

from superfed.core.errors import UserError
from superfed.experiments.fitted import FittedClient, FittedRun
from superfed.export import as_onnx, as_safetensors, as_torch_export
from superfed.export.card import Card
from superfed.export.formats import Format, format_for
from superfed.export.network import Network
from superfed.export.subject import Lambda, Subject
from superfed.store.files import write_bytes

TOLERANCE = 1e-5
"""How far scores may lie from the run's own: so much, or so much of the largest score where that is above 1."""


@dataclass(frozen=True)
class Written:
    """A file that was written, and how far its scores lay from the run's own at most."""

    path: Path
    format: Format
    card: Card
    num_bytes: int
    difference: float


def export_model(
    source: FittedRun | FittedClient, path: str | Path, *, lam: Lambda = None, format: str | None = None
) -> Written:
    """Write a client's model, or a run's global model, to a file with all it takes to use it.

    Args:
        source: a client, such as ``run.client(3)``, or for its global model the run.
        path: its ending tells the format: ``.safetensors``, ``.onnx``, or ``.pt2`` of torch.export.
        lam: where on the client's line: a number, "best" for its validated λ, which it is without it, or "own" for the λ
            that a method such as APFL chose itself.
        format: "safetensors", "onnx" or "torchexport", to be sure.
    """
    target = Path(path)
    kind = format_for(target, format)
    return write(Subject.of(source, lam), target, kind)


def write(subject: Subject, path: Path, kind: Format) -> Written:
    module, card, inputs = subject.module(), subject.card, subject.inputs
    if kind == "onnx":
        content = as_onnx.write(module, card, inputs)
        network = as_onnx.read(content, card, path)
    elif kind == "torchexport":
        content = as_torch_export.write(module, card, inputs)
        network = as_torch_export.read(content, card, path, trust=True)
    else:
        content = as_safetensors.write(module, card, inputs)
        network = as_safetensors.read(content, card, path, trust=True, model=subject.module)
    difference = _difference(subject, network, path)
    write_bytes(path, content)
    return Written(path, kind, card, len(content), difference)


def _difference(subject: Subject, network: Network, path: Path) -> float:
    """The largest over several samples together and one alone; an error, if it is too large."""
    worst = 0.0
    for x in (subject.inputs, subject.inputs[:1]):
        expected, found = subject.expected(x), network(x)
        difference = float((found - expected).abs().max()) if found.shape == expected.shape else float("inf")
        if not difference <= TOLERANCE * max(1.0, float(expected.abs().max())):  # not a number is too large, too
            raise UserError(
                f"{path}: is not written, because its scores would differ from the run's by {difference:.1e}, which is "
                f"more than {TOLERANCE:.0e}; safetensors holds the very weights"
            )
        worst = max(worst, difference)
    return worst
