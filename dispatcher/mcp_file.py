"""The file that names MCP servers, as clients such as Claude Desktop have it (`mcpServers`).

Values of `env`, `headers` and `url` are secrets, but for plain words: no error shows one.
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

# A setting such as NODE_ENV=production is no secret: masked, its word would be missing from questions and passages.
_PLAIN_WORDS = re.compile(r"[A-Za-z]{1,30}(?:[-_/. ][A-Za-z]{1,30}){0,20}")
_NAME_OF_SECRET = re.compile(r"key|token|secret|passw|pwd|auth|credential|cookie", re.I)


class McpServer(msgspec.Struct, frozen=True, kw_only=True):
    """One server; keys of other clients are passed over.

    Attributes:
        command: The program that is started and spoken to on its standard input; or
        url: the address that is spoken to over HTTP, with `headers`.
        disabled: It is not used.
        tools: The names of those of its tools that are offered; None: all.
        timeout_s: Most seconds that one attempt of a call may take; None: what the query's settings say.
        substitutes: Names of the tools, of any kind, that stand in for one of its tools.
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
        """Returns what must be neither recorded nor shown; shorter texts are none that anybody could keep out."""
        found = [*self.headers.values()]
        for name, value in self.env.items():
            if _NAME_OF_SECRET.search(name) or not _PLAIN_WORDS.fullmatch(value):
                found.append(value)
        for value in self.headers.values():
            # What follows `Bearer` and the like may be repeated alone.
            found.append(value.rpartition(" ")[2])
        address = urlsplit(self.url)
        found.append(address.password or "")
        # Some addresses are a key in themselves.
        parts = re.findall(r"[^/&=]{12,}", f"{address.path}/{address.query}")
        found += [part for part in parts if not _PLAIN_WORDS.fullmatch(part)]
        return [secret for secret in found if len(secret) >= 8]

    def without_secrets(self, text: str) -> str:
        """Returns a text of the server, or about it, for people."""
        for secret in self.secrets():
            text = text.replace(secret, "…")
        return text

    def problem(self) -> str | None:
        """Says why it cannot be used; None: it can."""
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
    """What is known of a server now.

    Attributes:
        tools: The names of its tools, as models are shown them.
        problem: Why it is away; empty: it is there.
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
        """What they offer by now, another tuple whenever it changes."""

    async def keep(self) -> None:
        """Connects to all, and goes on to look at them until it is cancelled."""

    async def settled(self, most_s: float) -> None:
        """Waits until each is connected or known to be away, but no longer than that."""

    def states(self) -> tuple[McpServerState, ...]:
        """Returns what is known of each."""


class _File(msgspec.Struct):
    servers: dict[str, McpServer] = msgspec.field(name="mcpServers")


def read_mcp_file(path: Path | None) -> Mapping[str, McpServer]:
    """Reads the servers that are used, by their names; none if there is no file.

    Raises:
        ConfigurationError: The file cannot be read, or a server in it cannot be used.
    """
    if path is None:
        return {}
    try:
        file = msgspec.json.decode(path.read_bytes(), type=prepared(_File))
    except (OSError, msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        # An error of the file system names the path itself; none of the others quotes a value.
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
