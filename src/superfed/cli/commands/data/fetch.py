"""superfed data fetch"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from superfed.cli.commands.data import shown
from superfed.cli.commands.data.arguments import Names, kind_of, needed
from superfed.cli.options import DataRoot

if TYPE_CHECKING:
    from superfed.data.fetch import Hub


def command(
    names: Names,
    data_root: DataRoot = None,
    revision: Annotated[
        str | None,
        typer.Option(
            "--revision", metavar="REV", help="A branch, tag or commit; the latest without it.", show_default=False
        ),
    ] = None,
) -> None:
    """Fetch datasets from the Hugging Face hub into the data root, and compare them with the hub's checksums.

    What is there already is not fetched again.

    [bold]superfed data fetch mnist --data-root data[/bold]
    """
    from superfed.core.errors import UserError

    repos = {name: _repo(name) for name in names}
    if data_root is None:
        raise UserError("no data root is set; name the folder that datasets go to by --data-root or SUPERFED_DATA")
    hub = _hub()
    for name, repo in repos.items():
        _fetch(hub, name, repo, data_root, revision)


def _repo(name: str) -> str:
    from superfed.core.errors import UserError
    from superfed.data.files import FileDataset

    kind: Any = kind_of(name)
    if not issubclass(kind, FileDataset):
        raise UserError(f"{name}: needs no files, so there is nothing to fetch")
    if needed(kind):
        raise UserError(f"{name}: is data of your own, so there is nothing to fetch")
    if kind.hub is None:
        raise UserError(f"{name}: is not known to be on the hub; how else to get it says: superfed data check {name}")
    return str(kind.hub)


def _hub() -> "Hub":
    from superfed.data.hugging_face import HuggingFace

    return HuggingFace()


def _fetch(hub: "Hub", name: str, repo: str, root: Path, revision: str | None) -> None:
    from superfed.data.fetch import plan

    fetch = plan(hub, repo, root, revision)
    if not fetch.missing:
        typer.echo(f"{name}: there already, and whole by the hub's sizes and checksums, in {fetch.folder}")
        return
    much = f"{shown.files(len(fetch.missing))}, {shown.size(sum(file.size for file in fetch.missing))}"
    typer.echo(
        f"{name}: {much}, from {hub.address(repo)} at {fetch.commit[:12]} (licence: {fetch.license or 'not stated'})"
    )
    fetch.carry_out(hub)
    typer.echo(f"{name}: whole by the hub's sizes and checksums, in {fetch.folder}")
