"""The file that names MCP servers, in the form of clients such as Claude Desktop (`mcpServers`).

Values of `env`, `headers` and `url` are secrets unless they are plain words: no error shows one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

import msgspec

from antiphon.dispatcher.output import line
from antiphon.dispatcher.tool import Tool
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.typed import prepared

# A setting such as NODE_ENV=production is not a secret: masking it would remove its word from questions and passages.
_PLAIN_WORDS = re.compile(r"[A-Za-z]{1,30}(?:[-_/. ][A-Za-z]{1,30}){0,20}")
_NAME_OF_SECRET = re.compile(r"key|token|secret|passw|pwd|auth|credential|cookie", re.I)


class McpServer(msgspec.Struct, frozen=True, kw_only=True):
    """One server; ignores keys that only other clients know.

    Attributes:
        command: The program to start and to speak to on its standard input; or
        url: the address to speak to over HTTP, with `headers`.
        disabled: The service does not use it.
        tools: The names of the tools to offer; None: all.
        timeout_s: Most seconds for one attempt at a call; None: as the query's settings say.
        substitutes: By tool of this server, the names of the tools of any kind that replace it when it fails.
    """

    command: str = ""
    args: list[str] = []
    env: dict[str, str] = {}
    url: str = ""
    headers: dict[str, str] = {}
    disabled: bool = False
    tools: list[str] | None = None
    timeout_s: float | None = None
    substitutes: dict[str, list[str]] = {}

    def secrets(self) -> list[str]:
        """Returns the texts to keep out of traces and pages; one under 8 characters is too common to mask."""
        found = [*self.headers.values()]
        for name, value in self.env.items():
            if _NAME_OF_SECRET.search(name) or not _PLAIN_WORDS.fullmatch(value):
                found.append(value)
        for value in self.headers.values():
            # A server may repeat what follows `Bearer` and the like alone.
            found.append(value.rpartition(" ")[2])
        address = urlsplit(self.url)
        found.append(address.password or "")
        # Some addresses are themselves a key.
        parts = re.findall(r"[^/&=]{12,}", f"{address.path}/{address.query}")
        found += [part for part in parts if not _PLAIN_WORDS.fullmatch(part)]
        return [secret for secret in found if len(secret) >= 8]

    def without_secrets(self, text: str) -> str:
        """Returns a text from the server, or about it, with its secrets masked."""
        for secret in self.secrets():
            text = text.replace(secret, "…")
        return text

    def problem(self) -> str | None:
        """Returns why the server cannot be used; None if it can."""
        if bool(self.command) == bool(self.url):
            return "needs either a `command` or a `url`"
        if self.url and not _is_web_address(self.url):
            return "has a `url` that is no address beginning with http:// or https://"
        if self.timeout_s is not None and not self.timeout_s > 0:
            return "has a `timeout_s` that is not more than 0"
        return None


def _is_web_address(url: str) -> bool:
    try:
        return urlsplit(url).scheme in ("http", "https")
    except ValueError:
        return False


class McpServerState(NamedTuple):
    """The current state of a server.

    Attributes:
        tools: The names of its tools, as models see them.
        problem: Why it is unreachable; empty: it is connected.
        left_out: Tools that cannot be offered, each with the reason.
    """

    name: str
    tools: tuple[str, ...]
    problem: str
    left_out: tuple[str, ...]


class ToolServers(Protocol):
    """The MCP servers of a service, as `mcp_servers.servers.McpServers` connects them."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that they offer now; a new tuple after every change."""

    async def keep(self) -> None:
        """Connects to all servers, and keeps looking at their tools until it is cancelled."""

    async def settled(self, most_s: float) -> None:
        """Waits, at most `most_s` seconds, until each server is connected or known to be away."""

    def states(self) -> tuple[McpServerState, ...]:
        """Returns the state of each server."""


class _File(msgspec.Struct):
    servers: dict[str, McpServer] = msgspec.field(name="mcpServers")


def read_mcp_file(path: Path | None) -> Mapping[str, McpServer]:
    """Reads the servers that are not disabled, by name; none if there is no file.

    Raises:
        ConfigurationError: The file cannot be read, or a server in it cannot be used.
    """
    if path is None:
        return {}
    try:
        file = msgspec.json.decode(path.read_bytes(), type=prepared(_File))
    except (OSError, msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        # A file system error names the path by itself; the other errors quote no value.
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise ConfigurationError(
            f"ANTIPHON_MCP {path} cannot be read ({why}): it holds JSON such as "
            '{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}.'
        ) from None
    for name, server in file.servers.items():
        problem = server.problem()
        if problem is not None:
            raise ConfigurationError(
                f"ANTIPHON_MCP {path}: the server {line(name, 60)!r} {problem}."
            )
    return {name: it for name, it in file.servers.items() if not it.disabled}
