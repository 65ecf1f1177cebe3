"""The service needs no keys, tenants or shares of ours: it knows callers through a port (`composition.Callers`)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from antiphon.composition import (
    Allowance,
    DocumentFolder,
    Need,
    Query,
    ServiceResources,
    Settings,
    View,
)
from antiphon.service import Antiphon, Question
from antiphon.service.runtime import Runtime
from antiphon.vocabulary.access import OWNER, Principal
from antiphon.vocabulary.values import Value
from tests.small_service import house


class Nothing:
    """Counts nothing. Satisfies `composition.Metering` and `composition.OpenStreams`."""

    def counts(self, caller: Principal) -> bool:
        return False

    @asynccontextmanager
    async def let_in(
        self, caller: Principal, query_id: str, need: Need
    ) -> AsyncIterator[Allowance]:
        yield Allowance()

    def watch(self, caller: Principal, query: Query) -> None: ...

    def watch_resumed(self, caller: Principal, query: Query) -> None: ...

    async def counted_all(self, caller: Principal, query_id: str) -> bool:
        return True

    def opened(self, caller: Principal, query_id: str) -> bool:
        return True

    async def close(self) -> None: ...

    def enter(self, caller: Principal) -> None: ...

    def leave(self, caller: Principal) -> None: ...


class Everybody:
    """One caller, who sees and may do everything. Satisfies `composition.Callers`."""

    without_key = OWNER
    metering = Nothing()
    streams = Nothing()

    def __init__(self, resources: ServiceResources, folder: Path) -> None:
        self._resources = resources
        self._documents = DocumentFolder(folder, resources.library.refresh)

    def principal_of(self, key: str | None, *, from_here: bool = True) -> Principal:
        return OWNER

    def public_principal(self, *, from_here: bool = True) -> Principal:
        return OWNER

    def view_of(self, caller: Principal) -> View:
        return View(
            resources=self._resources,
            store=self._resources.store,
            documents=self._documents,
            folder_of=lambda _: self._documents.path,
            stored_as=str,
        )

    def folders(self) -> Sequence[DocumentFolder]:
        return [self._documents]

    async def opener_of(self, query_id: str) -> Principal:
        return OWNER

    async def usage(self, caller: Principal) -> Value:
        return Value()

    async def count_others(
        self, query_of: Callable[[Principal, str], Query]
    ) -> None: ...

    def close(self) -> None: ...


async def test_a_service_asks_records_and_replays_for_callers_of_another_kind(
    tmp_path: Path,
) -> None:
    script = {"replies": [{"text": "It is good."}], "then": "last"}
    async with house(tmp_path, script) as at:
        callers = Everybody(at.resources, tmp_path)
        settings = Settings.model_construct(data_dir=tmp_path)
        service = Antiphon(Runtime(settings, at.resources, callers))

        outcome = await service.ask(Question(query="What is BM25?"))
        replayed = await service.history.replay(outcome.query_id)
        await service.leave()

    assert outcome.response.answer.startswith("It is good.")
    assert replayed.divergence is None
