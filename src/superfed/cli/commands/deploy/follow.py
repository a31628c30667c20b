"""A run that was handed to Flower, followed to its end."""

from contextlib import suppress
from pathlib import Path

from rich.console import Console

from superfed.cli.commands.deploy.ending import ending_all
from superfed.cli.commands.deploy.shown import Lines, show_results
from superfed.core.errors import UserError
from superfed.deploy.flower.programs.control import Control
from superfed.deploy.flower.programs.submit import follow, submit
from superfed.deploy.flower.server.book import Book


def follow_here(control: Control, book: Book, federation: Path) -> None:
    """Show it, and its results; a stop here stops the run too, and says how to go on."""
    console = Console()
    with ending_all(f"superfed deploy resume {book.folder} --federation {federation}"):
        run_id = submit(control, book)
        try:
            follow(control, run_id, book, Lines(console))
        except KeyboardInterrupt:
            with suppress(UserError):
                control.stop(run_id)
            raise
    show_results(book.results(), console)
    console.print(f"run: {book.folder}", highlight=False, markup=False)
