"""A model whose SDK is loaded in the background, or at its first call."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Protocol

from antiphon.vocabulary.ports import Json, Model
from antiphon.vocabulary.values import Request


class OpenModel(Model, Protocol):
    """A model with connections that must be closed."""

    async def aclose(self) -> None: ...


class ServedModel(OpenModel, Protocol):
    """A model at a server that can check its key, such as `engine.AnthropicModel`."""

    async def check_key(self, timeout_s: float) -> bool: ...


class LateModel:
    """A proxy of a model that is made later; satisfies `ServedModel`.

    `import anthropic` takes most of a second, because it loads the types of the whole API.
    """

    def __init__(self, name: str | None, make: Callable[[], ServedModel]) -> None:
        """Keeps the function that makes the model.

        Args:
            name: The model's own `name`.
            make: Makes it; blocks, and is called once.
        """
        self._name = name
        self._make = make
        self._lock = threading.Lock()
        self._made: ServedModel | None = None

    @property
    def name(self) -> str | None:
        return self._name

    def load(self) -> None:
        """Makes the model unless it is made already; blocks."""
        self._model()

    def stream(self, request: Request, timeout_s: float) -> AsyncIterator[Json]:
        # Not through a generator of our own: each event would pass through two of them.
        if self._made is not None:
            return self._made.stream(request, timeout_s)
        return self._stream_when_made(request, timeout_s)

    async def check_key(self, timeout_s: float) -> bool:
        """Asks the model's server about the key, once the model is made. Returns and raises as the model's own does."""
        model = await asyncio.to_thread(self._model)
        return await model.check_key(timeout_s)

    async def aclose(self) -> None:
        """Closes the model if it was made."""
        if self._made is not None:
            await self._made.aclose()

    async def _stream_when_made(
        self, request: Request, timeout_s: float
    ) -> AsyncIterator[Json]:
        model = await asyncio.to_thread(self._model)
        stream = model.stream(request, timeout_s)
        try:
            async for event in stream:
                yield event
        finally:
            # A generator that is left in the middle keeps its connection until the garbage collector finds it.
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()

    def _model(self) -> ServedModel:
        # The background load and a first call may come at the same time, from two threads.
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made
