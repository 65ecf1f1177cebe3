"""Checks that an address and the secrets for it come from the same place; otherwise the secrets are not sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from antiphon.composition.env_file import PREFIX

Sources = Mapping[str, Mapping[str, str | None]]
"""The variables of each source of settings, in order of precedence; the names of variables in lower case."""


class Receiver(NamedTuple):
    """A server outside, as settings name it.

    Attributes:
        address: The setting that holds its address.
        secrets: The settings whose values are sent to it.
    """

    address: str
    secrets: tuple[str, ...]


MODEL_SERVER = Receiver(
    "ANTHROPIC_BASE_URL",
    # The SDK itself reads the last one, from the environment alone.
    ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS"),
)
COLLECTOR = Receiver("ANTIPHON_OTLP_ENDPOINT", ("ANTIPHON_OTLP_HEADERS",))


def mixed_sources(
    given: Mapping[str, object], receiver: Receiver, sources: Sources
) -> str:
    """Returns why no secret may be sent to a server, if its address comes from another place; empty if one may.

    Somebody else may have written the `.env` of the folder in which a command happens to run: it must not be able to
    send the environment's key to an address of theirs.

    Args:
        given: Settings that the program itself has set.
    """
    address = _source_of(receiver.address, sources)
    # A program that sets the address itself means it, whichever source the secret has.
    if not address or _field(receiver.address) in given:
        return ""
    for name in receiver.secrets:
        source = _source_of(name, sources)
        if source and source != address and _field(name) not in given:
            return (
                f"{receiver.address} comes from {address} and {name} from {source}: a secret is only sent to an "
                "address from the same place. Set both there, or unset one."
            )
    return ""


def _field(name: str) -> str:
    return name.removeprefix(PREFIX).lower()


def _source_of(name: str, sources: Sources) -> str:
    """Returns the first source, in order of precedence, that sets a name; empty if none does."""
    for source, variables in sources.items():
        if variables.get(name.lower()):
            return source
    return ""
