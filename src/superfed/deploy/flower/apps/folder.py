"""A run as a folder that `flwr run` takes: there is no code in it, only which apps to use and the run's terms."""

import json
from pathlib import Path

from superfed.deploy.flower.server.terms import Terms
from superfed.store.files import write_text

APP = """\
# A run of superfed for Flower. It holds no code: both apps are in the package, at the server and at every site.
[project]
name = "superfed-run"
version = "1.0.0"
description = "{title}"
license = "Apache-2.0"
dependencies = []

[tool.flwr.app]
publisher = "superfed"

[tool.flwr.app.components]
serverapp = "superfed.deploy.flower.apps.server:app"
clientapp = "superfed.deploy.flower.apps.client:app"

[tool.flwr.app.config]
out = {out}  # the run's folder on the server's machine
site-states = {states}  # where simulated sites keep their states; real ones say it themselves
offer-minutes = {offer}  # more than 0: nothing is trained, and newcomers are handed what was
terms = {terms}
"""


def write_app(folder: Path, terms: Terms, out: Path, states: Path | None = None, offer_minutes: float = 0.0) -> None:
    text = APP.format(
        title=f"{terms.agreement.config.algorithm.title}, {len(terms.agreement.sites)} sites",
        out=_text(str(out.absolute())),
        states=_text("" if states is None else str(states.absolute())),
        offer=float(offer_minutes),
        terms=_text(terms.to_json()),
    )
    write_text(folder / "pyproject.toml", text)


def _text(value: str) -> str:
    """A TOML string: its escapes are JSON's."""
    return json.dumps(value, ensure_ascii=True)
