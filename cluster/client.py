"""The client of NATS: a flush that leaves nothing behind, no password in clear text for `tls://`."""

from __future__ import annotations

from nats.aio.client import DEFAULT_FLUSH_TIMEOUT, Client
from nats.errors import Error as NatsError

REQUEST_S = 5.0
"""Seconds that a request to JetStream may take: a new leader is elected in one to three."""

NO_RESPONDERS = "503"
"""The status of an answer that says that nobody hears requests of this subject."""


class CarefulClient(Client):
    """The library's client, with what it lacks."""

    async def flush(
        self,
        timeout: int = DEFAULT_FLUSH_TIMEOUT,  # noqa: ASYNC109 - the client's own name for it
    ) -> None:
        """Returns when the server has had all that was sent. Takes and raises what the client's own method does."""
        # The library's ping is written at once and overtakes what still waits for its turn, a subscription for one
        # (nats-py 2.16, `_send_ping`): the answer to it said nothing of that.
        if self.is_connected:
            await self._flush_pending(force_flush=True)
        await super().flush(timeout)

    def _connect_command(self) -> bytes:
        # The library encrypts if the server says that it wants that, whatever the address is (nats-py 2.16,
        # https://github.com/nats-io/nats.py/blob/main/nats/src/nats/aio/client.py, `_process_connect_init`): a password
        # for a `tls://` address would go to a server without TLS in clear text.
        server = self._current_server
        asks_for_tls = server is not None and server.uri.scheme == "tls"
        if asks_for_tls and not self._server_info.get("tls_required"):
            raise NatsError("the server offers no TLS, and tls:// asks for it")
        return super()._connect_command()
