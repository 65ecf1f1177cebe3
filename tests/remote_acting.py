"""Sessions of the small service whose tools or model calls run in other processes, over the test's NATS server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import yaml

from antiphon.service import Outcome, Question, Settings
from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Event, Recorded
from tests.acting_process import STARTING_S, tools_in
from tests.nats_servers import NatsServer
from tests.small_service import House, house

LEASE_S = 1.0
Trace = Sequence[Recorded[Event]]


class Elsewhere:
    """One installation: a folder, a prefix, and a script for every process's model."""

    def __init__(self, server: NatsServer, folder: Path, name: str) -> None:
        self.url = server.url
        self.folder = folder
        self.prefix = f"t{abs(hash(name)) % 10**9}"

    @property
    def place(self) -> tuple[str, Path, str]:
        return self.url, self.folder, self.prefix

    def play(self, *replies: object) -> dict[str, object]:
        script: dict[str, object] = {"replies": list(replies), "then": "last"}
        (self.folder / "script.yaml").write_text(yaml.safe_dump(script))
        return script

    @asynccontextmanager
    async def sessions(
        self, script: object, remote: str = "dispatcher"
    ) -> AsyncIterator[House]:
        """The service with the `remote` part in other processes; without one, everything runs here."""
        folder = self.folder / f"sessions-{remote}"
        folder.mkdir(exist_ok=True)
        settings = Settings.model_construct(
            remote=remote,
            nats_url=self.url,
            nats_prefix=self.prefix,
            remote_lease_s=LEASE_S,
            early_dispatch=False,
        )
        tools = tools_in(self.folder)
        async with house(folder, script, *tools, settings=settings) as small:
            yield small


def asking(name: str, *words: str) -> dict[str, object]:
    """A reply that calls a tool for each word."""
    wanted = [{"name": name, "input": {"word": word}} for word in words]
    return {"text": "I look it up.", "calls": wanted}


ANSWER = {"text": "All of trees [1]."}


async def ask(small: House) -> tuple[Outcome, Trace]:
    async with asyncio.timeout(STARTING_S):
        outcome = await small.service.ask(Question(query="What of trees?"))
    trace = await small.trace(outcome)
    assert [recorded.seq for recorded in trace] == list(range(1, len(trace) + 1))
    assert isinstance(trace[-1].event, e.QueryClosed)
    return outcome, trace


def of(trace: Trace, kind: type[Event]) -> list[Event]:
    return [recorded.event for recorded in trace if isinstance(recorded.event, kind)]
