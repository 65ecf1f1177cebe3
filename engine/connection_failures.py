"""Reads connection failures: a server that is not found, not reached, not trusted, or silent; pure."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator
from typing import NamedTuple

import aiohttp
import httpx2

from antiphon.vocabulary.errors import ModelError

# The SDK wraps an error two or more times; the bound guards against cycles.
MOST_CAUSES = 10
PROXY_REMEDY = "the proxy is named by HTTPS_PROXY, HTTP_PROXY and NO_PROXY"
_UNSENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ClientHttpProxyError,
    ConnectionRefusedError,
    socket.gaierror,
    httpx2.UnsupportedProtocol,
)
"""Failures to connect, before anything was sent. Without `httpx2.ConnectError`, which the transport also raises for a
connection that breaks later."""
_USER = re.compile(r"//[^/@\s]*@")
"""The name and the password in the address of a proxy."""


class _Cause(NamedTuple):
    """One reason why a connection cannot be made: the remedy, and whether another attempt may help."""

    kind: type[BaseException]
    remedy: str
    retryable: bool = False


# The first match is the reason, so subclasses come before their base classes.
_CAUSES: tuple[_Cause, ...] = (
    _Cause(
        aiohttp.ClientHttpProxyError,
        PROXY_REMEDY,
    ),
    _Cause(
        aiohttp.ClientProxyConnectionError,
        PROXY_REMEDY,
        retryable=True,
    ),
    _Cause(
        socket.gaierror,
        "its name cannot be resolved, see ANTHROPIC_BASE_URL and the network",
        retryable=True,
    ),
    _Cause(
        ssl.SSLCertVerificationError,
        "its certificate is not trusted, SSL_CERT_FILE may name the authority's own",
    ),
    _Cause(
        ssl.SSLError,
        "it speaks no TLS that we know, perhaps ANTHROPIC_BASE_URL must begin with http://",
    ),
    _Cause(
        ConnectionRefusedError,
        "nothing listens there, see that the server runs and ANTHROPIC_BASE_URL is right",
        retryable=True,
    ),
    _Cause(
        httpx2.UnsupportedProtocol,
        "ANTHROPIC_BASE_URL is no address of a server",
    ),
)


def from_connection(
    error: BaseException, *, streaming: bool, request_id: str | None = None
) -> ModelError:
    """Returns the failure behind a lost connection or a time limit, before the reply began or in the middle of it."""
    causes = tuple(_causes(error))
    unsent = any(isinstance(cause, _UNSENT) for cause in causes)
    if _is_late(causes):
        return _late(streaming=streaming, unsent=unsent, request_id=request_id)
    where = "broke off in mid-reply" if streaming else "failed"
    known, reason = _reason(causes)
    told = _USER.sub("//", f"{type(reason).__name__} {reason}".strip())
    remedy = "" if known is None else f" ({known.remedy})"
    return ModelError(
        "connection",
        f"the connection to the server {where}{remedy}: {told}",
        retryable=known is None or known.retryable,
        request_id=request_id,
        unbilled=unsent,
    )


def _reason(
    causes: tuple[BaseException, ...],
) -> tuple[_Cause | None, BaseException]:
    """Returns the known cause and its error; if none is known, the error at the root."""
    for known in _CAUSES:
        for cause in causes:
            if isinstance(cause, known.kind):
                return known, cause
    return None, causes[-1]


def _late(*, streaming: bool, unsent: bool, request_id: str | None) -> ModelError:
    if streaming:
        return ModelError(
            "silence",
            "the server fell silent in mid-reply",
            retryable=True,
            request_id=request_id,
        )
    return ModelError(
        "timeout",
        "the server did not begin to answer in time",
        retryable=True,
        unbilled=unsent,
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yields the error and its causes, outermost first: the SDK's own message is only "Connection error."."""
    cause: BaseException | None = error
    for _ in range(MOST_CAUSES):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__


def _is_late(causes: tuple[BaseException, ...]) -> bool:
    late = (httpx2.TimeoutException, TimeoutError)
    return any(isinstance(cause, late) for cause in causes)
