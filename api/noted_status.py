"""Notes the status of a response as it passes by, for counting and logging requests once they are over."""

from __future__ import annotations

from starlette.types import Message, Send


class NotedStatus:
    """Passes on an app's messages, and notes the status of its response; 500 if it raises before it answers."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 500

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            # A library may send a member of an enumeration, which a log would show by its name.
            self.status = int(message["status"])
        await self._send(message)
