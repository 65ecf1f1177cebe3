"""What is loaded behind the service, and those who wait for it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from antiphon.service.upkeep import Loading
from antiphon.vocabulary.errors import ConfigurationError, LoadingError


class Part:
    """Is loaded when its gate opens, or cannot be."""

    def __init__(self, problem: str | None = None) -> None:
        self.gate = threading.Event()
        self.loaded = False
        self._problem = problem

    def load(self) -> None:
        self.gate.wait(10)
        if self._problem is not None:
            raise ConfigurationError(self._problem)
        self.loaded = True


async def test_those_who_ask_before_it_is_loaded_wait_until_it_is() -> None:
    part = Part()
    loading = Loading([part])
    loading.begin()
    waiting = asyncio.create_task(loading.wait(10))
    await asyncio.sleep(0)
    early = loading.done, part.loaded

    part.gate.set()
    waited_s = await waiting

    assert early == (False, False)
    assert (loading.done, part.loaded) == (True, True)
    assert waited_s > 0
    assert await loading.wait(10) == 0


async def test_whoever_has_waited_long_enough_is_told_to_come_again() -> None:
    part = Part()
    loading = Loading([part])
    loading.begin()

    with pytest.raises(LoadingError, match="still being loaded") as refused:
        await loading.wait(0.01)
    with pytest.raises(LoadingError):
        loading.check()
    part.gate.set()
    await loading.wait(10)
    loading.check()

    assert refused.value.retry_after_s > 0
    assert loading.done


async def test_what_cannot_be_loaded_is_a_problem_in_a_sentence_and_keeps_nobody_waiting() -> (
    None
):
    part = Part("the model is not on this machine")
    loading = Loading([part])
    part.gate.set()
    loading.begin()

    await loading.wait(10)

    assert loading.problem == "the model is not on this machine"
    assert not loading.done
    assert await loading.wait(10) == 0


async def test_where_nothing_is_left_to_load_nobody_waits() -> None:
    loading = Loading([])

    loading.begin()

    assert loading.done
    assert await loading.wait(10) == 0


async def test_a_bug_in_loading_keeps_nobody_waiting_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raised: asyncio.Queue[threading.ExceptHookArgs] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def note(hooked: threading.ExceptHookArgs) -> None:
        loop.call_soon_threadsafe(raised.put_nowait, hooked)

    monkeypatch.setattr(threading, "excepthook", note)

    class Broken:
        def load(self) -> None:
            raise ZeroDivisionError

    loading = Loading([Broken()])
    loading.begin()

    await loading.wait(10)

    assert not loading.done
    assert "see its log" in (loading.problem or "")
    # The thread ends a moment after nobody waits for it any more.
    hooked = await asyncio.wait_for(raised.get(), 10)
    assert hooked.exc_type is ZeroDivisionError
