"""How costs must relate to one another on any machine: ratios of CPU time, never seconds, with much room.

`make bench` measures the same at length, and the soak of 100,000 queries (benchmarks/README.md) what stays behind.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count
from math import inf
from pathlib import Path

from benchmarks.bench.our_side import OurSide
from benchmarks.bench.query import QUESTION, Query, together
from benchmarks.bench.starting import command_cpu_s
from benchmarks.bench.working_model import Tools, Work, WorkingModel

Asking = Callable[[], Awaitable[object]]
TURNS = 20


async def least_in_turns(*works: Asking, turns: int = TURNS) -> list[float]:
    """Returns the least CPU of each; they take turns, so that other work on the machine slows all of them."""
    least = [inf] * len(works)
    for turn in range(turns + 1):
        for place, work in enumerate(works):
            took = await cpu_ms(work)
            # The first turn warms up.
            if turn > 0:
                least[place] = min(least[place], took)
    return least


async def cpu_ms(work: Asking) -> float:
    before = time.process_time()
    await work()
    return (time.process_time() - before) * 1000


async def test_a_recorded_query_costs_less_than_two_that_are_not(
    tmp_path: Path,
) -> None:
    recorded = Query(tmp_path / "recorded", Work())
    tools = Tools(passages=2)
    forgetful = OurSide(
        WorkingModel(Work()),
        [tools.search_course_content],
        tmp_path / "forgotten",
        records=False,
    )
    ids = (f"query-{number}" for number in count())

    with_store, without = await least_in_turns(
        recorded.ask, lambda: forgetful.ask(next(ids), QUESTION)
    )
    await recorded.side.close()
    await forgetful.close()

    assert with_store < 2.0 * without


async def test_a_query_costs_no_more_after_three_hundred_others(tmp_path: Path) -> None:
    older, younger = Query(tmp_path / "old", Work()), Query(tmp_path / "young", Work())
    for _ in range(300):
        await older.ask()

    old, young = await least_in_turns(older.ask, younger.ask)
    await older.side.close()
    await younger.side.close()

    assert old < 1.5 * young


async def test_six_times_the_events_cost_no_more_than_nine_times_as_much(
    tmp_path: Path,
) -> None:
    few = Query(tmp_path / "few", Work(rounds=2, calls=4, passages=1))
    many = Query(tmp_path / "many", Work(rounds=2, calls=30, passages=1))

    few_ms, many_ms = await least_in_turns(few.ask, many.ask, turns=8)
    few_events = await few.side.store.read(await few.ask())
    many_events = await many.side.store.read(await many.ask())
    await few.side.close()
    await many.side.close()

    assert many_ms / few_ms < 1.5 * len(many_events) / len(few_events)


async def test_a_query_among_sixty_costs_about_as_much_as_alone(tmp_path: Path) -> None:
    query = Query(tmp_path, Work())

    alone, among = await least_in_turns(
        query.ask, partial(together, query, 60), turns=5
    )
    await query.side.close()

    assert among / 60 < 1.6 * alone


def test_the_list_of_commands_costs_little_more_than_the_parser_that_prints_it() -> (
    None
):
    python = sys.executable
    parser = command_cpu_s([python, "-c", "import typer, rich.console, rich.markdown"])

    listed = command_cpu_s([python, "-m", "antiphon.cli", "--help"])

    assert listed < 4.0 * parser


def test_a_service_that_loads_later_is_open_without_embedder_index_and_sdk(
    tmp_path: Path,
) -> None:
    code = (
        "import asyncio, sys; from antiphon.service import Antiphon, load_settings; "
        f"s = load_settings(data_dir={str(tmp_path)!r}); "
        "asyncio.run(Antiphon.open(s, loads_later=True).__aenter__()); "
        "print(*{'anthropic', 'chromadb', 'torch', 'onnxruntime', 'wordfreq'} & set(sys.modules))"
    )

    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert loaded.stdout.split() == []
