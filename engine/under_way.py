"""A model call under way, which the coordinator may abandon."""

from __future__ import annotations

from collections.abc import Callable

from antiphon.vocabulary.errors import ModelError

Fail = Callable[[ModelError], None]
"""Publishes that the call failed."""


class CallUnderWay:
    """Satisfies `Run`.

    Attributes:
        cancel: Ends the task that makes the call.
        ended: True once the call has its outcome.
    """

    def __init__(self, fail: Fail) -> None:
        self._fail = fail
        self.cancel: Callable[[], object] = _do_nothing
        self.ended = False

    def abandon(self, why: str, /) -> None:
        """Stops the call and publishes its outcome at once, without waiting for the connection to close."""
        if self.ended:
            return
        self.ended = True
        self.cancel()
        self._fail(ModelError("abandoned", why))


def _do_nothing() -> None:
    """Takes the place of `cancel` until the call's task is started."""
