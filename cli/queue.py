"""`antiphon queue`: shows the questions that wait for workers, and those that were given up."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import msgspec
from msgspec.structs import asdict

from antiphon import service
from antiphon.cli.session import Json, settings_for_people
from antiphon.cli.terminal import one_line, out, print_json
from antiphon.cli.worker import Queue


def queue(queue: Queue = None, as_json: Json = False) -> None:
    """Shows how many questions wait for a worker, how many are running, and the last ones that were given up."""
    settings = settings_for_people(nats_url=queue)
    state, dead = asyncio.run(service.queue_report(settings))
    if as_json:
        listed = [asdict(each) for each in dead]
        shown = asdict(state) | {"dead": listed}
        print_json(msgspec.json.encode(shown).decode())
        return
    out.print(
        f"{state.waiting} wait, the oldest for {state.oldest_s:.0f} s; {state.claimed} are worked on.",
        soft_wrap=True,
    )
    for each in dead:
        at = datetime.fromtimestamp(each.at, UTC)
        out.print(
            f"given up {at:%Y-%m-%d %H:%M} UTC, taken {each.deliveries} times: {one_line(each.query_id, 80)}",
            soft_wrap=True,
        )
