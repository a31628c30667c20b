"""Errors that are sentences: each names the key or file and says what is wrong."""


class UserError(Exception):
    """A mistake the user can put right. Shown as one sentence, never as a traceback."""


class SettingError(UserError, ValueError):
    """A setting that cannot be used. ``key`` is its name; a caller that knows where it sits adds the path in front."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}")
        self.key = key
        self.problem = problem

    def under(self, prefix: str) -> "SettingError":
        """The same error, named as a reader of the whole config knows it."""
        return SettingError(f"{prefix}.{self.key}" if prefix else self.key, self.problem)


def require(condition: bool, key: str, problem: str) -> None:
    """Raise ``SettingError(key, problem)`` unless ``condition`` holds."""
    if not condition:
        raise SettingError(key, problem)
