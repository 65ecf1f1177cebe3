"""The client of NATS, with a flush that leaves nothing behind, and without passwords in clear text for `tls://`."""

from __future__ import annotations

from nats.aio.client import DEFAULT_FLUSH_TIMEOUT, Client
from nats.errors import Error as NatsError

REQUEST_S = 5.0
"""Seconds that a request to JetStream may take: a new leader is elected in one to three."""

NO_RESPONDERS = "503"
"""The status of an answer if there is no subscriber to the request's subject."""


class CarefulClient(Client):
    """The library's client, with two faults mended."""

    async def flush(
        self,
        timeout: int = DEFAULT_FLUSH_TIMEOUT,  # noqa: ASYNC109 - the client's own name for it
    ) -> None:
        """Returns once the server has received everything sent. Takes and raises what the library's method does."""
        # The library writes its ping at once, ahead of data that still waits to be sent, such as a subscription
        # (nats-py 2.16, `_send_ping`): the answer to the ping would not cover that data.
        if self.is_connected:
            await self._flush_pending(force_flush=True)
        await super().flush(timeout)

    def _connect_command(self) -> bytes:
        # The library encrypts only if the server asks for it, even for a `tls://` address (nats-py 2.16,
        # https://github.com/nats-io/nats.py/blob/main/nats/src/nats/aio/client.py, `_process_connect_init`): the
        # password for such an address would go to a server without TLS in clear text.
        server = self._current_server
        asks_for_tls = server is not None and server.uri.scheme == "tls"
        if asks_for_tls and not self._server_info.get("tls_required"):
            raise NatsError("the server offers no TLS, and tls:// asks for it")
        return super()._connect_command()
