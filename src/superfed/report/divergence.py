"""Updates that were not finite, in words."""


def left_out(updates: int) -> str:
    """``1 client update was not finite and was left out``."""
    verb = "was" if updates == 1 else "were"
    return f"{updates} client update{'' if updates == 1 else 's'} {verb} not finite and {verb} left out"
