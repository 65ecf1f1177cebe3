"""Patterns of text to redact: checked before use, and bounded in time."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

import regex
import structlog

from antiphon.vocabulary.access import KEY_FORM, KEY_PREFIX
from antiphon.vocabulary.errors import ConfigurationError

_log = structlog.get_logger(__name__)

MASK = "█"
"""Replaces one letter. It is no letter itself, so that patterns for words do not match a redacted text again."""

_PROBE_S = 2.0
"""CPU seconds (`regex` counts those of the process). A pattern that rereads the rest of the text at each letter
(quadratic) takes 0.08 to 0.13 s for a probe, and a cubic one more than 5 s."""
_PROBE_CHARS = 3_000
_SECRET_CHARS = 8
"""A shorter secret would mask unrelated text."""
_ROUNDS = 5
_PLAIN_SECRET = regex.compile(
    r"(?=.*[b-dgj-mo-zB-DGJ-MO-Z])[A-Za-z0-9_.~+=:-]+", regex.DOTALL
)
"""A secret that JSON writes as it is, or with a letter spelled `\\u…`, and with a letter that no number has."""
_KEY = regex.compile(KEY_FORM)
_KEY_START = f"{KEY_PREFIX}_"
_RECURSION = regex.compile(r"\(\?(?:R|&|P>|[+-]?\d)")


class Patterns:
    """Masks keys of the service (`antiphon keys`), and everything that its patterns and secrets match.

    Args:
        named: Regular expressions by the names that refusals use, because a pattern may hold a secret itself.
        secrets: Texts to mask as they are.

    Raises:
        ConfigurationError: A pattern is no regular expression, matches nothing at all, or takes too long.
    """

    def __init__(self, named: Mapping[str, str], secrets: Sequence[str]) -> None:
        self._secrets = [
            (secret, regex.compile(regex.escape(secret)))
            for secret in secrets
            if len(secret) >= _SECRET_CHARS
        ]
        self._plain = [secret.encode() for secret, _ in self._secrets]
        self._are_plain = all(
            _PLAIN_SECRET.fullmatch(secret) for secret, _ in self._secrets
        )
        self._patterns = [_checked(name, text) for name, text in named.items()]

    def are_absent(self, bodies: Iterable[bytes], texts: Iterable[str]) -> bool:
        """Returns True if nothing can match in texts or in JSON, nor in JSON within a text of either.

        It works only for plain secrets without patterns, and takes a tenth of the time of searching every field.
        """
        if self._patterns or not self._are_plain:
            return False
        for body in bodies:
            if self._may_be_in(body):
                return False
        return not any(self._may_be_in(text.encode()) for text in texts)

    def redacted(self, text: str, until: float) -> str:
        """Returns the text with every match masked; masks all of it if searching lasts beyond this monotonic time.

        The result of one pattern may match another, so the search repeats until nothing matches: otherwise a text
        redacted twice (at its source and by the store) would change the second time.
        """
        for _ in range(_ROUNDS):
            redacted = self._once(text, until)
            if redacted == text:
                break
            text = redacted
        return text

    def _may_be_in(self, data: bytes) -> bool:
        # JSON within a text may spell a letter by its code point.
        if b"\\u" in data or _KEY_START.encode() in data.lower():
            return True
        for secret in self._plain:  # noqa: SIM110 - runs for each event, and `any` takes as long as the search
            if secret in data:
                return True
        return False

    def _worth_searching(self, text: str) -> list[regex.Pattern[str]]:
        """Returns the patterns that may match: hardly any text holds a secret or a key."""
        found = [pattern for secret, pattern in self._secrets if secret in text]
        if _KEY_START in text.lower():
            found.append(_KEY)
        return found + self._patterns

    def _once(self, text: str, until: float) -> str:
        # Most texts match nothing, and need not be split into letters.
        letters: list[str] = []
        try:
            for pattern in self._worth_searching(text):
                for found in pattern.finditer(
                    text, timeout=max(0.001, until - time.monotonic())
                ):
                    if not letters:
                        letters = list(text)
                    letters[found.start() : found.end()] = MASK * (
                        found.end() - found.start()
                    )
        except (TimeoutError, MemoryError):
            _log.warning("redaction_took_too_long", characters=len(text))
            return MASK * len(text)
        if not letters:
            return text
        return "".join(letters)


def _checked(name: str, text: str) -> regex.Pattern[str]:
    if _RECURSION.search(text):
        raise ConfigurationError(
            f"{name} calls itself or a part of itself, which may take for ever."
        )
    try:
        pattern = regex.compile(text)
        matches_empty = pattern.fullmatch("") is not None
    except regex.error as error:
        raise ConfigurationError(
            f"{name} is no regular expression that can be used: {error}."
        ) from error
    except (RecursionError, MemoryError) as error:
        raise ConfigurationError(
            f"{name} is no regular expression that can be used: it is nested too deep."
        ) from error
    if matches_empty:
        raise ConfigurationError(
            f"{name} matches the empty text: say what must be there at least."
        )
    try:
        for probe in _probes(text):
            pattern.search(probe, timeout=_PROBE_S)
    except (TimeoutError, MemoryError) as error:
        raise ConfigurationError(
            f"{name} took more than {_PROBE_S:g} s to look through {_PROBE_CHARS:,} characters: write it without "
            "repetitions inside or next to one another that can match the same letters, as (a+)+ does."
        ) from error
    return pattern


def _probes(pattern: str) -> Iterator[str]:
    """Yields texts that expose runaway backtracking: the pattern's own letters over and over, then one that fails."""
    letters = sorted({*pattern[:200], "a", "0", " "})
    for letter in letters[:60]:
        yield letter * _PROBE_CHARS + "\x00"
    beginning = pattern[:200]
    yield beginning * (_PROBE_CHARS // max(1, len(beginning))) + "\x00"
