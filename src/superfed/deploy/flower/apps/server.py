"""The ServerApp: a run conducted over Flower's Grid."""

from pathlib import Path

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp

from superfed.deploy.flower.apps.grid_link import GridLink
from superfed.deploy.flower.apps.logs import say_what_happens
from superfed.deploy.flower.server.book import Book
from superfed.deploy.flower.server.conduct import Conductor
from superfed.deploy.flower.server.offer import Offer
from superfed.deploy.flower.server.terms import Terms

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """What goes wrong is raised, so that Flower knows of it too; the run's folder says it in a sentence."""
    say_what_happens()
    settings, link = context.run_config, GridLink(grid)
    terms, book = Terms.from_json(str(settings["terms"])), Book(Path(str(settings["out"])))
    if minutes := float(settings.get("offer-minutes", 0)):
        Offer(link, terms, book).last(60 * minutes)
    else:
        Conductor(link, terms, book).conduct()
