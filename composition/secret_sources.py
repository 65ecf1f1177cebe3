"""Where an address and the secrets that are sent to it come from: both from one place, or nothing is sent."""

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
        secrets: Those that are sent to it.
    """

    address: str
    secrets: tuple[str, ...]


MODEL_SERVER = Receiver(
    "ANTHROPIC_BASE_URL",
    # The last one is read by the SDK, from the environment alone.
    ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS"),
)
COLLECTOR = Receiver("ANTIPHON_OTLP_ENDPOINT", ("ANTIPHON_OTLP_HEADERS",))


def mixed_sources(
    given: Mapping[str, object], receiver: Receiver, sources: Sources
) -> str:
    """Returns why no secret may be sent to a server: its address comes from another place than the secret.

    A `.env` lies in the folder where a command happens to run, which somebody else may have made: it must not send the
    environment's key to an address of theirs.

    Args:
        given: Settings that the program named itself.
    """
    address = _source_of(receiver.address, sources)
    # Whoever names the address in so many words means it, wherever the secret is from.
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
