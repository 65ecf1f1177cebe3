"""The key for the model's server, and its state as a check and the calls themselves have shown it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple

import structlog

from antiphon.composition.settings import Settings
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.outside import visible
from antiphon.vocabulary.ports import Clock
from antiphon.vocabulary.values import Value

log = structlog.get_logger(__name__)

KeyState = Literal["unknown", "accepted", "refused"]
REFUSED = "authentication"
"""The kind of failure by which a server refuses a key; all others say nothing about it."""


class KeyFinding(Value, frozen=True, kw_only=True):
    """The latest finding about the key.

    Attributes:
        detail: The words in which the server refused it, without the key itself.
        at: The time of the finding, in seconds since the epoch; None as long as nothing is known.
    """

    state: KeyState = "unknown"
    detail: str = ""
    at: float | None = None


class KeyWords(NamedTuple):
    """The words for a key as the settings have it.

    Attributes:
        sent: Names the thing that the server accepts or refuses.
        remedy: Tells what to do if the server refuses it.
    """

    sent: str
    remedy: str


def key_words(settings: Settings) -> KeyWords:
    """Returns the words for the key that the settings name."""
    # If both are set, the service sends the token.
    if settings.anthropic_auth_token is not None:
        name = "ANTHROPIC_AUTH_TOKEN"
    elif settings.anthropic_api_key is not None:
        name = "ANTHROPIC_API_KEY"
    else:
        return KeyWords("a request without a key", "Set ANTHROPIC_API_KEY")
    if settings.anthropic_base_url is not None:
        name = f"{name} and ANTHROPIC_BASE_URL"
    return KeyWords("the key", f"Check {name}")


class ModelKey:
    """Learns from a check at the start, and from each call of the model, if the server accepts the key.

    Args:
        ask: Asks the server without spending tokens, within so many seconds; returns True if the server accepts the
            key, and False if it does not say. Raises ModelError if it refuses the key or cannot be reached.
    """

    def __init__(
        self, ask: Callable[[float], Awaitable[bool]], clock: Clock, words: KeyWords
    ) -> None:
        self._ask = ask
        self._clock = clock
        self._words = words
        self.finding = KeyFinding()

    async def check(self, timeout_s: float) -> None:
        """Asks the server if it accepts the key; if it does not say, nothing changes."""
        refusal: ModelError | None = None
        try:
            if not await self._ask(timeout_s):
                return
        except ModelError as error:
            refusal = error
        # A call counts for more: some servers answer questions with a key, but refuse it their list of models.
        if self.finding.state != "accepted":
            self.note(refusal)

    def note(self, error: ModelError | None) -> None:
        """Takes in the end of a call.

        Args:
            error: The error of a failed call; None: the call brought a whole reply.
        """
        before = self.finding.state
        if error is None:
            self.finding = KeyFinding(state="accepted", at=self._clock.now())
            if before != "accepted":
                log.info("model_key_accepted")
        elif error.kind == REFUSED:
            self.finding = KeyFinding(
                state="refused", detail=visible(str(error)), at=self._clock.now()
            )
            # Once, not for each query that fails because of it.
            if before != "refused":
                log.warning(
                    "model_key_refused", error=str(error), remedy=self._words.remedy
                )

    def warnings(self, *, in_full: bool) -> list[str]:
        """Returns a sentence about a refused key, with its effect and the remedy; nothing if the key is not refused.

        Args:
            in_full: Quotes the server, which may name the account: not for everybody who reaches the service.
        """
        if self.finding.state != "refused":
            return []
        found = f" ({self.finding.detail})" if in_full else ""
        sent, remedy = self._words
        return [
            f"The model's server refuses {sent}{found}: until that is mended, the built-in reasoner answers. "
            f"{remedy}, and start the service again; `antiphon doctor` shows if it is accepted."
        ]
