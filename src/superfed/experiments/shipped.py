"""The configs that come with the program."""

from importlib import resources


def shipped() -> dict[str, str]:
    """The names and texts of the configs that come with the program."""
    folder = resources.files("superfed.experiments") / "configs"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".yaml")), key=lambda f: f.name)
    return {f.name.removesuffix(".yaml"): f.read_text(encoding="utf-8") for f in files}
