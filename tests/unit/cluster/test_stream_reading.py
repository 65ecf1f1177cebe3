"""The messages of a stream: read in batches from any server, and from the leader what those do not have."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import NamedTuple, cast

from antiphon.cluster import Cluster
from antiphon.cluster.stream_reading import StreamReader

AT = "2026-01-02T03:04:05Z"
BATCH = 2


class Answer(NamedTuple):
    """A message as a client hands it over."""

    data: bytes
    headers: dict[str, str] | None = None


class Subscription:
    """What arrives under one subject."""

    def __init__(self) -> None:
        self.arrived: asyncio.Queue[Answer] = asyncio.Queue()

    async def next_msg(self, timeout: float) -> Answer:  # noqa: ASYNC109 - the client's own signature
        return self.arrived.get_nowait()

    async def unsubscribe(self) -> None: ...


class Servers:
    """A leader that has some messages of a subject, and another server that has only the first of them.

    It is a connection's client too.
    """

    def __init__(self, seqs: list[int], behind_from: int = 1_000) -> None:
        self._seqs = seqs
        self._behind_from = behind_from
        self._inboxes: dict[str, Subscription] = {}
        self.leader_asked = 0

    @property
    def client(self) -> Servers:
        return self

    def new_inbox(self) -> str:
        return f"inbox.{len(self._inboxes)}"

    async def subscribe(self, subject: str) -> Subscription:
        return self._inboxes.setdefault(subject, Subscription())

    async def publish(self, subject: str, data: bytes, reply: str) -> None:
        wanted = json.loads(data)
        assert (subject, wanted["next_by_subj"]) == ("$JS.API.DIRECT.GET.S", "t.*")
        arrived = self._inboxes[reply].arrived
        there = [s for s in self._seqs if wanted["seq"] <= s < self._behind_from]
        for seq in there[:BATCH]:
            headers = {
                "Nats-Subject": "t.1",
                "Nats-Sequence": str(seq),
                "Nats-Time-Stamp": AT,
                "Nats-Num-Pending": "1",
            }
            arrived.put_nowait(Answer(b"%d" % seq, headers))
        arrived.put_nowait(Answer(b"", {"Status": "204"}))

    async def request(
        self,
        subject: str,
        data: bytes,
        timeout: float,  # noqa: ASYNC109 - the client's own signature
    ) -> Answer:
        self.leader_asked += 1
        wanted = json.loads(data)
        assert (subject, wanted["next_by_subj"]) == ("$JS.API.STREAM.MSG.GET.S", "t.*")
        for seq in self._seqs:
            if seq >= wanted["seq"]:
                text = base64.b64encode(b"%d" % seq).decode()
                found = {"subject": "t.1", "seq": seq, "time": AT, "data": text}
                return Answer(json.dumps({"message": found}).encode())
        return Answer(json.dumps({"error": {"code": 404}}).encode())


async def _read(servers: Servers, first_seq: int, last_seq: int) -> list[bytes]:
    reader = StreamReader(cast(Cluster, servers), "S")
    return [each.data async for each in reader.between("t.*", first_seq, last_seq)]


async def test_what_any_server_has_is_read_in_batches_without_the_leader() -> None:
    servers = Servers([2, 3, 4, 5, 9])

    assert await _read(servers, 2, 5) == [b"2", b"3", b"4", b"5"]
    assert await _read(servers, 5, 5) == [b"5"]
    assert servers.leader_asked == 0


async def test_what_another_server_does_not_have_yet_comes_from_the_leader() -> None:
    servers = Servers([2, 3, 4, 5, 9], behind_from=4)

    assert await _read(servers, 3, 9) == [b"3", b"4", b"5", b"9"]
    assert servers.leader_asked == 3


async def test_what_the_leader_does_not_have_was_deleted() -> None:
    assert await _read(Servers([2, 3, 12]), 1, 10) == [b"2", b"3"]
    assert await _read(Servers([2, 3]), 1, 10) == [b"2", b"3"]
