"""The service in small: the real components, bus and trace store, between doors that can be broken."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from antiphon.dispatcher import Registry, Tool, course_tools
from antiphon.engine import offline_model
from antiphon.faults.injector import SharedDoor
from antiphon.faults.script import ScriptedModel
from antiphon.faults.shelf import SmallLibrary, WordEmbedder
from antiphon.faults.virtual import VirtualClock, run
from antiphon.service import Antiphon, Resources, ServiceResources, Settings, open_trace_store
from antiphon.vocabulary.values import Rate

QUESTIONS = (
    "What are the states of a circuit breaker, and how do retries with backoff help?",
    "How do retries with backoff work, and which states has a circuit breaker?",
    "Which states of a circuit breaker does the course name, and why is jitter needed?",
)
NEIGHBOUR = "What does a deadline hand on, and what keeps retries from becoming a storm?"


class World:
    """Everything that queries share; made once for a run of the harness.

    Args:
        folder: Where traces are kept; None keeps nothing after the run.
        tools: Tools of the user's own, beside the course tools.
        named: How the command line names these tools.
    """

    def __init__(self, folder: Path, tools: Sequence[Tool] = (), named: str = "") -> None:
        self.named = named
        self.own = tuple(tool.name for tool in tools)
        self.store = open_trace_store(folder)
        self._fallback = offline_model()
        embedder = WordEmbedder()
        library = SmallLibrary(SharedDoor(embedder, "embedder"))  # type: ignore[arg-type]  # passes for what it wraps
        shared = SharedDoor(library, "library")
        self.tools = Registry([*course_tools(shared), *tools])  # type: ignore[arg-type]  # as above
        self._library = library

    def close(self) -> None:
        """Lets go of the store."""
        run(self.store.close())

    def parts(self) -> Resources:
        """The doors that all sessions share."""
        return Resources(
            clock=VirtualClock(),
            models={"primary": ScriptedModel(), "fallback": self._fallback},
            tools=self.tools,
            tool_definitions=self.tools.definitions(),
            chance=lambda: 0.5,
            rate_of=_rate_of,
        )

    def service(self) -> Antiphon:
        """A service over this world; it lives within one event loop."""
        built = ServiceResources(
            shared=self.parts(), store=self.store, library=self._library, models=(),
            reasoner="scripted", versions=(("harness", "1"),),
        )  # fmt: skip
        # Built without its constructor, which would read the environment: a run depends on its plan alone.
        return Antiphon(Settings.model_construct(), built)


def _rate_of(_: str, called: str | None) -> Rate:
    """What the scripted model is held to cost."""
    return Rate(
        model=called or "", input=0.0 if called == "fallback" else 2.0, output=0.0 if called == "fallback" else 10.0
    )
