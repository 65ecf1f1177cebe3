"""The key for the model's server: if it is accepted, as far as a check and the calls themselves have shown."""

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
    """The newest thing that is known of the key.

    Attributes:
        detail: The words in which the server refused it, without the key itself.
        at: When it was found, in seconds since the epoch; None if it is unknown.
    """

    state: KeyState = "unknown"
    detail: str = ""
    at: float | None = None


class KeyWords(NamedTuple):
    """The words for a key as the settings have it.

    Attributes:
        sent: What the server accepts or refuses.
        remedy: What to do if it refuses it.
    """

    sent: str
    remedy: str


def key_words(settings: Settings) -> KeyWords:
    """Returns the words for the key that the settings name."""
    # If both are set the token is sent.
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
        ask: Asks the server without spending tokens, within so many seconds; returns True if it accepts the key, and
            False if it says nothing about it. Raises ModelError if it refuses the key or cannot be reached.
    """

    def __init__(
        self, ask: Callable[[float], Awaitable[bool]], clock: Clock, words: KeyWords
    ) -> None:
        self._ask = ask
        self._clock = clock
        self._words = words
        self.finding = KeyFinding()

    async def check(self, timeout_s: float) -> None:
        """Asks the server for what it thinks of the key; one that says nothing about it changes nothing."""
        refusal: ModelError | None = None
        try:
            if not await self._ask(timeout_s):
                return
        except ModelError as error:
            refusal = error
        # A call counts for more: some servers keep their list of models from a key with which they answer.
        if self.finding.state != "accepted":
            self.note(refusal)

    def note(self, error: ModelError | None) -> None:
        """Takes in the end of a call.

        Args:
            error: Why it failed; None: it brought a whole reply.
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
            # Once, and not for each query that fails by it.
            if before != "refused":
                log.warning(
                    "model_key_refused", error=str(error), remedy=self._words.remedy
                )

    def warnings(self, *, in_full: bool) -> list[str]:
        """Returns what a refused key means and what to do, in a sentence; nothing of a key that is not refused.

        Args:
            in_full: Quote the server: it may name the account, which not everybody need know who reaches the service.
        """
        if self.finding.state != "refused":
            return []
        found = f" ({self.finding.detail})" if in_full else ""
        sent, remedy = self._words
        return [
            f"The model's server refuses {sent}{found}: until that is mended, the built-in reasoner answers. "
            f"{remedy}, and start the service again; `antiphon doctor` shows if it is accepted."
        ]
