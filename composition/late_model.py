"""A model whose SDK is loaded behind the service, or when it is first asked."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Protocol

from antiphon.vocabulary.ports import Json, Model
from antiphon.vocabulary.values import Request


class OpenModel(Model, Protocol):
    """A model whose connections are to be closed."""

    async def aclose(self) -> None: ...


class ServedModel(OpenModel, Protocol):
    """A model at a server that can be asked about its key; such as `engine.AnthropicModel`."""

    async def check_key(self, timeout_s: float) -> bool: ...


class LateModel:
    """Stands for a model until it is made; satisfies `ServedModel`.

    `import anthropic` takes most of a second: it loads the types of everything that the API can do.
    """

    def __init__(self, name: str | None, make: Callable[[], ServedModel]) -> None:
        """Holds how it is made.

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
        """Makes the model, if it is not made; blocks."""
        self._model()

    def stream(self, request: Request, timeout_s: float) -> AsyncIterator[Json]:
        # Without a generator of its own round the model's: each event would pass through both.
        if self._made is not None:
            return self._made.stream(request, timeout_s)
        return self._stream_when_made(request, timeout_s)

    async def check_key(self, timeout_s: float) -> bool:
        """Asks the model's server about the key, once the model is made. Returns and raises as the model's own does."""
        model = await asyncio.to_thread(self._model)
        return await model.check_key(timeout_s)

    async def aclose(self) -> None:
        """Closes what was made."""
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
            # An iteration that is left in the middle keeps its connection until the garbage is collected.
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()

    def _model(self) -> ServedModel:
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made
