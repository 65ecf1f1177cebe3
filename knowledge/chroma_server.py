"""Parses the address of a Chroma server and checks that it answers; without importing Chroma, which loads slowly."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import SplitResult, unquote, urlsplit

import httpx

from antiphon.vocabulary.errors import ConfigurationError, KnowledgeError
from antiphon.vocabulary.outside import without_userinfo
from antiphon.vocabulary.values import Value

ANSWER_S = 10.0
"""Seconds that a Chroma server gets for an answer."""
_DEFAULT_PORTS = {"http": 80, "https": 443}
# Up to the last `@`: an unencoded password may hold slashes and further `@` signs.
_LOGIN = re.compile(r"\A(https?://)?.*@", re.DOTALL)


class ChromaServer(Value, frozen=True, kw_only=True):
    """A server in the form of Chroma's client, which takes no address.

    Attributes:
        headers: The user name and the password from its address; empty if it has none.
    """

    host: str
    port: int
    secure: bool
    headers: Mapping[str, str]


def reached_server(url: str) -> ChromaServer:
    """Parses the address of a server, and waits until it has answered once.

    Raises:
        ConfigurationError: It is not the address of a server.
        KnowledgeError: No server answers there, or one that is not Chroma.
    """
    server = _read(url)
    try:
        httpx.get(
            f"{url.rstrip('/')}/api/v2/heartbeat", timeout=ANSWER_S
        ).raise_for_status()
    except httpx.HTTPError as error:
        raise no_answer(shown_address(url), error) from error
    return server


def no_answer(where: str, error: httpx.HTTPError) -> KnowledgeError:
    """Returns the error for a server that does not answer, with the reply or failure that came instead."""
    if isinstance(error, httpx.HTTPStatusError):
        found = f"status {error.response.status_code} instead of a heartbeat"
    else:
        found = without_userinfo(str(error)) or type(error).__name__
    return KnowledgeError(
        f"no Chroma server answers at {where} ({found}); start it, or unset ANTIPHON_CHROMA_URL"
    )


def shown_address(url: str) -> str:
    """Returns an address, valid or not, in the form for errors: without user name and password."""
    return _LOGIN.sub(r"\1[masked]@", url)


def _read(url: str) -> ChromaServer:
    try:
        parts = urlsplit(url)
        port = parts.port
        # Characters that urlsplit accepts and httpx does not, and host names that cannot be resolved.
        httpx.URL(url).raw_host.decode().encode("idna")
    except (ValueError, httpx.InvalidURL) as error:
        raise _no_address(url) from error
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise _no_address(url)
    return ChromaServer(
        host=parts.hostname,
        port=port or _DEFAULT_PORTS[parts.scheme],
        secure=parts.scheme == "https",
        headers=_credentials(parts),
    )


def _no_address(url: str) -> ConfigurationError:
    return ConfigurationError(
        f"ANTIPHON_CHROMA_URL must be like http://host:8000, and is {shown_address(url)!r}"
    )


def _credentials(address: SplitResult) -> dict[str, str]:
    """Returns the header for the user name and password of an address."""
    if address.username is None:
        return {}
    login = f"{unquote(address.username)}:{unquote(address.password or '')}"
    return {"Authorization": f"Basic {b64encode(login.encode()).decode()}"}
