"""Training that went wrong, in words."""


def left_out(updates: int) -> str:
    """``1 client update was not finite and was left out``."""
    verb = "was" if updates == 1 else "were"
    return f"{updates} client update{'' if updates == 1 else 's'} {verb} not finite and {verb} left out"


def answer_nothing(silent: int, clients: int) -> str:
    """``the networks of 3 of 100 clients answer nothing: to them all classes are always equally likely``."""
    return (
        f"the networks of {silent} of {clients} clients answer nothing: to them all classes are always equally likely"
    )
