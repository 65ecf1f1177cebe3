"""Where a secret and the address that it is sent to come from (decision 104)."""

from __future__ import annotations

from collections.abc import Mapping

_ADDRESS = "ANTHROPIC_BASE_URL"
_SENT_TO_ADDRESS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_CUSTOM_HEADERS",
)
"""Secrets that go to the server; the last one is read by the SDK, from the environment alone."""


def mixed_sources(
    given: Mapping[str, object], sources: Mapping[str, Mapping[str, str | None]]
) -> str:
    """Returns why no secret may be sent to the server: its address comes from another place than the secret.

    A `.env` lies in the folder where a command happens to run, which somebody else may have made: it must not send the
    environment's key to an address of theirs.

    Args:
        given: What was set in so many words.
        sources: The variables of each source, in order of precedence.
    """
    address = _source_of(_ADDRESS, sources)
    # Whoever names the address in so many words means it, wherever the secret is from.
    if not address or _ADDRESS.lower() in given:
        return ""
    for name in _SENT_TO_ADDRESS:
        source = _source_of(name, sources)
        if source and source != address and name.lower() not in given:
            return (
                f"{_ADDRESS} comes from {address} and {name} from {source}: a secret is only sent to an address from "
                "the same place. Set both there, or unset one."
            )
    return ""


def _source_of(name: str, sources: Mapping[str, Mapping[str, str | None]]) -> str:
    """Returns the first source, in order of precedence, that sets a name; empty where none does."""
    for source, variables in sources.items():
        if variables.get(name.lower()):
            return source
    return ""
