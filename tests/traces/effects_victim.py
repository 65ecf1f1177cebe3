"""Runs a query whose tool changes something outside and then kills its process (SIGKILL) before it can report that;
a second process resumes the query. test_effects.py starts this module as a subprocess."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from antiphon.bus import Bus, SystemClock
from antiphon.composition import Resources, wire
from antiphon.coordinator import receive
from antiphon.dispatcher import Registry, Tool, tool_from_function
from antiphon.engine import events_of
from antiphon.service import History
from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import QuerySettings, Request
from tests.guarded import guarded
from tests.traces.victim import QUERY_ID, in_a_child, note

DEADLY = "deadly"
"""While this file exists, a process that changes something is killed."""


class Registrar:
    """A model that calls the tool, and says that it is done once its request reports a call."""

    name = "registrar"

    async def stream(self, request: Request, timeout_s: float) -> AsyncIterator[Json]:
        told = any(
            "<attempts>" in block.text
            for message in request.messages
            for block in message.content
        )
        block: Json = {
            "type": "tool_use",
            "id": "toolu_1",
            "name": "enrol",
            "input": {"student": "Ada"},
        }
        if told or request.tools is None:
            block = {"type": "text", "text": "That is all that I know."}
        stop = "end_turn" if block["type"] == "text" else "tool_use"
        message: Json = {
            "id": "m",
            "model": "registrar",
            "content": [block],
            "stop_reason": stop,
            "usage": {},
        }
        for event in events_of(message):
            yield event


def office(folder: Path, *, keyed: bool) -> Tool:
    """The tool, with or without a key; each run adds a line to `calls`."""

    def change(line: str) -> str:
        note(folder, line)
        if (folder / DEADLY).exists():
            (folder / DEADLY).unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return "Ada is enrolled."

    async def enrol(student: str) -> str:
        """Enrols."""
        return change(student)

    async def enrol_once(student: str, key: str) -> str:
        """Enrols, once a key."""
        return change(key)

    if keyed:
        return tool_from_function(
            enrol_once, name="enrol", has_effects=True, key_parameter="key"
        )
    return tool_from_function(enrol, has_effects=True)


def parts_in(folder: Path, *, keyed: bool) -> Resources:
    """Ports to the model and the tool."""
    registry = Registry([office(folder, keyed=keyed)])
    models = {"primary": Registrar(), "fallback": Registrar()}
    return Resources(
        clock=SystemClock(),
        models=models,  # type: ignore[arg-type]  # the keys are the two reasoners
        tools=registry,
        tool_definitions=registry.definitions(),
        redaction=guarded(),
    )


async def ask(folder: Path, *, keyed: bool) -> None:
    """Asks, and dies in the middle."""
    (folder / DEADLY).touch()
    store = SqliteTraceStore.open(folder)
    parts = parts_in(folder, keyed=keyed)
    session = Bus(store, parts.clock).open(
        QUERY_ID, lambda ports: wire(parts, ports).subscriptions()
    )
    await session.run(receive("Enrol Ada.", "s1", QuerySettings()))


async def go_on(folder: Path, *, keyed: bool) -> None:
    """Resumes unfinished queries, as a service does when it starts."""
    store = SqliteTraceStore.open(folder)
    parts = parts_in(folder, keyed=keyed)
    for running in await History(
        Bus(store, parts.clock), parts, store
    ).resume_unfinished():
        await running.outcome()
    await store.close()


def main(folder: Path, *, keyed: bool) -> None:
    """Asks in one child and goes on in another; prints how each ended."""
    died = in_a_child(lambda: ask(folder, keyed=keyed))
    went_on = in_a_child(lambda: go_on(folder, keyed=keyed))
    sys.stdout.write(f"{died} {went_on}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), keyed=sys.argv[2] == "keyed")
