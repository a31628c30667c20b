"""How the runs were made, and how to make them again."""

from collections.abc import Sequence
from pathlib import Path

from superfed.core.errors import UserError
from superfed.report.comparison import Comparison
from superfed.report.markup import Markup, element
from superfed.report.tables import runs_table, settings_details
from superfed.store.layout import ExperimentFolder, as_yaml


def provenance(comparison: Comparison) -> list[Markup]:
    return [*_again(comparison), runs_table(comparison), settings_details(comparison)]


def _again(comparison: Comparison) -> list[Markup]:
    """For each experiment its config as it was given, which is all that a run needs."""
    folders = dict.fromkeys(run.folder.path.resolve().parent for row in comparison.rows for run in row.members)
    found = [(folder.name, config) for folder in folders if (config := _config(folder))]
    if not found:
        return []
    words = "Save the config of an experiment as a file; where it needs data that is downloaded, --data-root says where it is."
    parts = [element("h3", "Make them again"), element("p", words, class_="note")]
    for name, config in found:
        command = element("pre", element("code", f"superfed run {_file(name, found)}"), class_="command")
        inside = element("pre", element("code", config))
        parts += [command, element("details", element("summary", _file(name, found)), inside)]
    return parts


def _file(name: str, found: Sequence[tuple[str, str]]) -> str:
    return "config.yaml" if len(found) == 1 else f"{name}.yaml"


def _config(folder: Path) -> str | None:
    """As it was given; None where there is none, as for a run that was moved out of its experiment."""
    try:
        config = ExperimentFolder(folder).info().get("config")
    except UserError:
        return None
    return as_yaml(config) if isinstance(config, dict) and config else None
