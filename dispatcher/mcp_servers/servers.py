"""The MCP servers of a service: connects to them beside its queries, lists their tools again and again, calls them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from functools import partial

import anyio
import structlog
from mcp import Client, MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    InputRequiredResult,
    PaginatedRequestParams,
)
from mcp_types import Tool as ListedTool
from pydantic import TypeAdapter

from antiphon.dispatcher.mcp_file import McpServer, McpServerState
from antiphon.dispatcher.mcp_servers.definitions import name_of, tool_of
from antiphon.dispatcher.mcp_servers.results import output_of
from antiphon.dispatcher.mcp_servers.transports import transport_of
from antiphon.dispatcher.output import line
from antiphon.dispatcher.tool import Tool
from antiphon.vocabulary.containment import words_of
from antiphon.vocabulary.errors import BadInputError, RemoteError, ToolDefinitionError
from antiphon.vocabulary.ports import Json, ToolOutput
from antiphon.vocabulary.program import program_version

log = structlog.get_logger(__name__)

CONNECT_S = 15.0
"""Seconds for a server to start and list its tools."""
LOOK_S = 5.0
"""Seconds for a connected server to list its tools again."""
LOOK_EVERY_S = 60.0
"""Seconds between two listings of a server's tools; a failed call brings the next one forward."""
AGAIN_S = (1.0, 2.0, 5.0, 15.0, 60.0)
"""Seconds between attempts to reach a server that is away; the last value repeats."""
MOST_PAGES = 20
MOST_TOOLS = 100
_RESULT: TypeAdapter[CallToolResult | InputRequiredResult] = TypeAdapter(
    CallToolResult | InputRequiredResult
)


class McpServers:
    """All servers of a service; satisfies `ToolServers`."""

    def __init__(self, servers: Mapping[str, McpServer]) -> None:
        self._connections = [
            _Connection(name, server, self._gather) for name, server in servers.items()
        ]
        self.tools: tuple[Tool, ...] = ()

    async def keep(self) -> None:
        async with asyncio.TaskGroup() as group:
            for connection in self._connections:
                group.create_task(connection.keep())

    async def settled(self, most_s: float) -> None:
        tried = [asyncio.create_task(each.tried.wait()) for each in self._connections]
        await asyncio.wait(tried, timeout=most_s)
        for each in tried:
            each.cancel()

    def states(self) -> tuple[McpServerState, ...]:
        return tuple([each.state() for each in self._connections])

    def _gather(self) -> None:
        self.tools = tuple([t for each in self._connections for t in each.tools])


class _Connection:
    """The connection to one server, made again whenever it is lost.

    Attributes:
        tools: The tools that the server offers; none while it is known to be away.
        tried: Set once the server is connected or could not be reached; cleared while connecting.
    """

    def __init__(
        self, name: str, server: McpServer, changed: Callable[[], None]
    ) -> None:
        self.tools: tuple[Tool, ...] = ()
        self.tried = asyncio.Event()
        self._name = name
        self._server = server
        self._changed = changed
        self._client: Client | None = None
        self._listed: list[ListedTool] = []
        self._left_out: tuple[str, ...] = ()
        self._problem = ""
        self._look = asyncio.Event()

    def state(self) -> McpServerState:
        problem = self._problem
        if not self.tried.is_set():
            problem = problem or "it has not answered yet"
        names = tuple([tool.name for tool in self.tools])
        return McpServerState(line(self._name, 60), names, problem, self._left_out)

    async def keep(self) -> None:
        """Keeps the server connected until it is cancelled."""
        failures = 0
        while True:
            # The package ends a server's program properly if an anyio scope is cancelled, but not if the task is: then
            # it may wait for ever for a program that it has not ended.
            scope = anyio.CancelScope()
            connection = asyncio.create_task(self._connect(scope), name="MCP server")
            try:
                await asyncio.wait([connection])
            finally:
                scope.cancel()
                await asyncio.wait([connection])
            problem = self._server.without_secrets(_ended(connection))
            was_there = self._client is not None
            self._client = None
            if was_there:
                # Reconnect at once: most servers that end were restarted, or one call crashed them.
                failures = 0
                self.tried.clear()
                continue
            if problem != self._problem:
                log.warning("mcp_server_away", server=self._name, why=problem)
            self._problem = problem
            self._take([])
            self.tried.set()
            await asyncio.sleep(AGAIN_S[min(failures, len(AGAIN_S) - 1)])
            failures += 1

    async def _connect(self, scope: anyio.CancelScope) -> None:
        """Connects, and lists the tools again and again until that fails or, without an exception, takes too long."""
        client = Client(
            transport_of(self._server),
            client_info=Implementation(name="antiphon", version=program_version()),
        )
        scope.deadline = anyio.current_time() + CONNECT_S
        with scope:
            async with client:
                while True:
                    self._look.clear()
                    self._take(await _list(client))
                    self._client, self._problem = client, ""
                    self.tried.set()
                    # No limit between listings, but each has to come within its own.
                    scope.deadline = math.inf
                    with anyio.move_on_after(LOOK_EVERY_S):
                        await self._look.wait()
                    scope.deadline = anyio.current_time() + LOOK_S

    def _take(self, listed: list[ListedTool]) -> None:
        """Makes tools of the server's list if it differs from the last one."""
        if listed == self._listed:
            return
        tools: dict[str, Tool] = {}
        left_out: list[str] = []
        wanted = self._server.tools
        for each in listed:
            if wanted is not None and each.name not in wanted:
                continue
            try:
                call = partial(self._call, each.name)
                tool = tool_of(self._name, self._server, each, call)
                if tool.name in tools:
                    raise ToolDefinitionError("another one has its name")
                tools[tool.name] = tool
            except ToolDefinitionError as error:
                left_out.append(f"{line(each.name, 60)}: {error}")
        self._listed = listed
        self.tools, self._left_out = tuple(tools.values()), tuple(left_out)
        self._changed()

    async def _call(self, tool: str, arguments: Json) -> ToolOutput:
        """Calls a tool. Raises BadInputError or RemoteError; a failed or stopped call triggers a new listing."""
        await self.tried.wait()
        if self._client is None:
            raise RemoteError(f"the server {self._name} is away: {self._problem}")
        request = CallToolRequest(
            params=CallToolRequestParams(name=tool, arguments=arguments)
        )
        try:
            # Not `call_tool`, which validates the result against regular expressions that the server chose.
            result = await self._client.session.send_request(request, _RESULT)
        except MCPError as error:
            # If the connection is lost, later calls wait for the next one.
            if error.code == CONNECTION_CLOSED:
                self.tried.clear()
            self._look.set()
            if error.code == INVALID_PARAMS:
                raise BadInputError(error.message) from error
            raise RemoteError(error.message) from error
        except BaseException:
            self._look.set()
            raise
        if isinstance(result, InputRequiredResult):
            raise RemoteError(
                "it asks for a person's input, and there is nobody to ask"
            )
        if result.is_error:
            # The tool may have gone or changed by now.
            self._look.set()
        return output_of(name_of(self._name, tool), result)


async def _list(client: Client) -> list[ListedTool]:
    listed: list[ListedTool] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        # Not `list_tools`, whose cache lasts as long as the server wishes.
        page = await client.session.list_tools(
            params=PaginatedRequestParams(cursor=cursor)
        )
        listed += page.tools
        cursor = page.next_cursor
        if cursor is None:
            break
    return listed[:MOST_TOOLS]


def _ended(connection: asyncio.Task[None]) -> str:
    """Returns, within a bound, why a connection ended: the first reason if task groups raise several."""
    error = connection.exception()
    if error is None:
        return "it does not answer"
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return line(words_of(error), 300)
