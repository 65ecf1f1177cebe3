"""Messages that processes send each other directly, over core NATS: wishes, and workers' reports."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import structlog
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from antiphon.cluster.connection import Cluster
from antiphon.cluster.queue_ports import MOST_WHY, Wish, WorkerReport
from antiphon.cluster.streams import token
from antiphon.vocabulary.typed import prepared

log = structlog.get_logger(__name__)

HEARD_S = 1.0
"""Seconds in which the process that works on a query must confirm a wish."""
_HEARD = b"+"


class NatsSignals:
    """The signals of one installation."""

    def __init__(self, cluster: Cluster) -> None:
        self._client = cluster.client
        self._naming = cluster.naming

    async def wish(self, wish: Wish) -> bool:
        try:
            await self._client.request(
                self._naming.control(wish.query_id),
                msgspec.json.encode(wish),
                timeout=HEARD_S,
            )
        # No process works on the query, or none can be reached.
        except (NatsError, TimeoutError, ConnectionError):
            return False
        return True

    async def tell(self, wish: Wish) -> None:
        await self._publish(
            self._naming.control(wish.query_id), msgspec.json.encode(wish)
        )

    async def hear_wishes(self, hear: Callable[[Wish], bool]) -> None:
        async def on_wish(message: Msg) -> None:
            wish = _wish_in(message)
            if wish is not None and hear(wish) and message.reply:
                await self._publish(message.reply, _HEARD)

        await self._client.subscribe(f"{self._naming.prefix}.control.*", cb=on_wish)

    async def report(self, report: WorkerReport) -> None:
        await self._publish(self._reports, msgspec.json.encode(report))

    async def hear_reports(self, hear: Callable[[WorkerReport], None]) -> None:
        async def on_report(message: Msg) -> None:
            try:
                hear(msgspec.json.decode(message.data, type=prepared(WorkerReport)))
            except msgspec.DecodeError as error:
                log.warning("worker_report_not_read", error=str(error)[:200])

        await self._client.subscribe(self._reports, cb=on_report)

    @property
    def _reports(self) -> str:
        return f"{self._naming.prefix}.workers"

    async def _publish(self, subject: str, data: bytes) -> None:
        # A lost signal does no harm: its sender repeats it.
        try:
            await self._client.publish(subject, data)
        except (NatsError, ConnectionError) as error:
            log.debug("signal_not_sent", error=str(error) or type(error).__name__)


def _wish_in(message: Msg) -> Wish | None:
    """Returns the wish in a message; None if it holds none, or one about another query than its subject names."""
    try:
        wish = msgspec.json.decode(message.data, type=prepared(Wish))
    except msgspec.DecodeError as error:
        log.warning("wish_not_read", error=str(error)[:200])
        return None
    if not message.subject.endswith(f".{token(wish.query_id)}"):
        return None
    return msgspec.structs.replace(wish, why=wish.why[:MOST_WHY])
