"""Why something that came over the wire is not used."""

from superfed.core.errors import UserError


class Refusal(UserError):
    """One sentence; it names what is wrong and holds no weights and no samples."""
