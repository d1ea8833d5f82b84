"""The base of every exception lackpy raises on purpose: its text is one clear sentence for the user."""


class LackpyError(Exception):
    """What went wrong, where, and what to do. `hint` may add what to try."""

    def __init__(self, message: str, hint: str = "") -> None:
        """Keep the sentence and an optional hint."""
        super().__init__(message)
        self.hint = hint
