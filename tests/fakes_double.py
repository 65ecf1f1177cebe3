"""The engine in front of the double: a script's replies, and the events that the engine makes of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from antiphon.engine import (
    CitationStyles,
    Double,
    InProcessTransport,
    Profile,
    ReasoningEngine,
    Script,
    ScriptedReply,
    connect,
)
from antiphon.vocabulary.events import ReasoningStarted
from antiphon.vocabulary.values import Request
from tests.fakes_messages_api import TOOLS, EngineStage


class DoubleStage(EngineStage):
    """An engine with lists as its bus, which talks through the SDK to the double in this process."""

    def __init__(
        self,
        *replies: ScriptedReply,
        silence_s: float = 5.0,
        profile: Profile | None = None,
        chance: Callable[[], float] = lambda: 0.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__()
        self.double = Double(Script(replies=replies), sleep)
        transport = InProcessTransport(self.double)
        self.model = connect(
            "sk-secret", "http://double.test", silence_s=silence_s, transport=transport
        )
        self.engine = ReasoningEngine(
            publish=self.published.append,
            emit_live=self.told.append,
            spawn=self._spawn,
            clock=self.clock,
            models={"primary": self.model, "fallback": self.model},
            tools=TOOLS,
            styles=CitationStyles({"primary": profile} if profile else {}),
            chance=chance,
        )

    @property
    def sent(self) -> list[Request]:
        """The requests of all attempts, from the events."""
        return [
            event.request
            for event in self.published
            if isinstance(event, ReasoningStarted)
        ]
