"""What a federation needs installed."""

from importlib.metadata import PackageNotFoundError, version

from superfed.core.errors import UserError

FLOWER = "1.41.0"


def needs_flower() -> None:
    """Exactly this version: its records, exit codes and control interface are used as they are there."""
    try:
        installed = version("flwr")
    except PackageNotFoundError:
        raise UserError('Flower is not installed; install it with: pip install "superfed[flower]"') from None
    if installed != FLOWER:
        raise UserError(f"Flower {installed} is installed, and federations need {FLOWER}: pip install flwr=={FLOWER}")
