"""superfed serve"""

from pathlib import Path
from typing import Annotated

import typer


def command(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder that holds experiments, such as runs.", show_default=False)
    ],
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="The port to listen on; 0 takes a free one.")] = 8000,
) -> None:
    """Show all experiments of a folder live, while they train: a list, and each one's page.

    It reads and changes nothing, and answers this machine alone unless --host says otherwise.

    [bold]superfed serve runs[/bold]
    """
    import signal
    from types import FrameType

    from superfed.serve.server import Server

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    with Server(folder, host, port) as server:
        if not server.loopback:
            typer.echo(f"superfed: anyone who can reach {host} can read these runs", err=True)
        before = signal.signal(signal.SIGTERM, stop)
        try:
            typer.echo(f"{folder}: {server.address} (stop with Ctrl-C)")
            server.serve_forever()
        except KeyboardInterrupt:
            typer.echo("\nsuperfed: stopped serving; runs that train go on", err=True)
            raise typer.Exit(130) from None
        finally:
            signal.signal(signal.SIGTERM, before)
