"""The service in miniature: the real components, bus and trace store, between ports that can be broken."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from antiphon.dispatcher import Registry, Tool, course_tools
from antiphon.engine import ModelTable, Price, offline_model
from antiphon.faults.ports.injection import SharedPort
from antiphon.faults.ports.replies import MODEL_NAME
from antiphon.faults.ports.virtual_time import VirtualClock, run
from antiphon.faults.runs.scripted_model import ScriptedModel
from antiphon.faults.runs.shared_store import OpenStore, open_local
from antiphon.faults.runs.small_library import SmallLibrary, WordEmbedder
from antiphon.service import (
    Antiphon,
    Redaction,
    Resources,
    ServiceResources,
    Settings,
    catalog_of,
)
from antiphon.vocabulary.errors import KnowledgeError
from antiphon.vocabulary.subscribers import Subscriber

# A real service has a key and redacts it, which sends all texts through other code than without a key. So the harness
# has one too, made up in the form of a real one.
API_KEY = f"sk-ant-api03-{'x9_Qf' * 19}-AA"
CARD_NUMBER = r"\b(?:\d{4}[ -]){3}\d{4}\b"

_PRICED = ModelTable(
    {MODEL_NAME: Price(input=2.0, output=10.0, cache_write=2.0, cache_read=2.0)}
)
QUESTIONS = (
    "What are the states of a circuit breaker, and how do retries with backoff help?",
    "How do retries with backoff work, and which states has a circuit breaker?",
    "Which states of a circuit breaker does the course name, and why is jitter needed?",
)
NEIGHBOUR = (
    "What does a deadline hand on, and what keeps retries from becoming a storm?"
)


class World:
    """All that queries share; made once for a run of the harness.

    Args:
        folder: The folder of the traces; None: they are deleted after the run.
        tools: The user's own tools, in addition to the course tools.
        named: The names of these tools, in the form of the command line.
        subscribers: Components from outside, which are broken like the service's own.
        open_store: Opens the store of traces.
    """

    def __init__(
        self,
        folder: Path,
        tools: Sequence[Tool] = (),
        named: str = "",
        subscribers: Sequence[Subscriber] = (),
        open_store: OpenStore = open_local,
    ) -> None:
        self.open_store = open_store
        self.named = named
        self.subscribers = tuple(subscribers)
        self.own = tuple(tool.name for tool in tools)
        # Only a catalog that knows these subscribers' events can read their traces.
        self._redaction = Redaction({"a card's number": CARD_NUMBER}, [API_KEY])
        catalog = catalog_of(self.subscribers)
        self.store = open_store(folder, self._redaction, catalog)
        self._fallback = offline_model()
        embedder = SharedPort(WordEmbedder(), "embedder")
        self._library = SmallLibrary(embedder)  # type: ignore[arg-type]  # acts as what it wraps
        shared = SharedPort(self._library, "library", KnowledgeError)
        self.tools = Registry([*course_tools(shared), *tools])  # type: ignore[arg-type]  # as above

    def close(self) -> None:
        """Closes the store."""
        run(self.store.close())

    def parts(self) -> Resources:
        """Makes the resources that all sessions share."""
        return Resources(
            clock=VirtualClock(),
            models={"primary": ScriptedModel(), "fallback": self._fallback},
            tools=self.tools,
            tool_definitions=self.tools.definitions(),
            # The jitter of retries, which must be the same in every run.
            chance=lambda: 0.5,
            model_table=_PRICED,
            redaction=self._redaction,
            subscribers=self.subscribers,
        )

    def service(self) -> Antiphon:
        """Makes a service in this world; it lives within one event loop."""
        built = ServiceResources(
            shared=self.parts(),
            store=self.store,
            library=self._library,
            models=(),
            reasoner="scripted",
            versions=(("harness", "1"),),
        )
        # Bypasses the constructor, which would read the environment, so that a run depends only on its plan.
        service = Antiphon.over(Settings.model_construct(), built)
        _leave_lateness_unwatched()
        return service


def _leave_lateness_unwatched() -> None:
    """Ends the watches that check the loop ten times a second: virtual time is never late, and would pass in steps."""
    for task in asyncio.all_tasks():
        if task.get_name() in ("watch the loop", "watch for blocking code"):
            task.cancel()
