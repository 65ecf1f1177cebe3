"""The status of a response as it passes by, for what counts or logs requests once they are over."""

from __future__ import annotations

from starlette.types import Message, Send


class NotedStatus:
    """Passes on what an app sends, and notes the status of its response; 500 if it raises before it answers."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 500

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)
