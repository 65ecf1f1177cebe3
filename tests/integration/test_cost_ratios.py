"""What costs must keep to one another, whatever the machine: ratios of CPU time, never seconds, with much room.

`make bench`, `make bench-age` and `make bench-scale` measure the same at length.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from benchmarks.fitting import Point, exponent, fitted
from benchmarks.our_side import OurSide
from benchmarks.scale import QUESTION, Query, least_cpu_ms, together
from benchmarks.starting import command_cpu_s
from benchmarks.working_model import Tools, Work, WorkingModel

TIMES = 7


def asking(folder: Path, work: Work = Work()) -> Query:  # noqa: B008 - a value
    return Query(folder, work)


async def test_a_recorded_query_costs_less_than_two_that_are_not(
    tmp_path: Path,
) -> None:
    recorded = asking(tmp_path / "recorded")
    tools = Tools(passages=2)
    forgetful = OurSide(
        WorkingModel(Work()),
        [tools.search_course_content],
        tmp_path / "forgotten",
        records=False,
    )
    asked = 0

    async def ask_unrecorded() -> None:
        nonlocal asked
        asked += 1
        await forgetful.ask(f"query-{asked}", QUESTION)

    with_store = await least_cpu_ms(recorded.ask, TIMES * 3)
    without = await least_cpu_ms(ask_unrecorded, TIMES * 3)
    await recorded.side.close()
    await forgetful.close()

    assert with_store < 2.0 * without


async def test_a_query_costs_no_more_after_three_hundred_others(tmp_path: Path) -> None:
    query = asking(tmp_path)
    young = await least_cpu_ms(query.ask, 30)

    for _ in range(300):
        await query.ask()
    old = await least_cpu_ms(query.ask, 30)
    await query.side.close()

    assert old < 1.4 * young


async def test_six_times_the_events_cost_no_more_than_nine_times_as_much(
    tmp_path: Path,
) -> None:
    costs: list[Point] = []
    for calls in (4, 30):
        query = asking(tmp_path / str(calls), Work(rounds=2, calls=calls, passages=1))
        cost = await least_cpu_ms(query.ask, TIMES)
        events = await query.side.store.read(await query.ask())
        costs.append(Point(len(events), cost))
        await query.side.close()

    few, many = costs
    assert many.cost / few.cost < 1.5 * many.work / few.work


async def test_a_query_among_sixty_costs_about_as_much_as_alone(tmp_path: Path) -> None:
    query = asking(tmp_path)
    alone = await least_cpu_ms(query.ask, TIMES * 3)

    among = await least_cpu_ms(partial(together, query, 60), 3) / 60
    await query.side.close()

    assert among < 1.5 * alone


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
        "asyncio.run(Antiphon.open(s, loads_later=True)); "
        "print(*{'anthropic', 'chromadb', 'torch', 'onnxruntime', 'wordfreq'} & set(sys.modules))"
    )

    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert loaded.stdout.split() == []


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_an_exponent_is_found_again(power: float) -> None:
    points = [Point(work, 3.0 * work**power) for work in (1.0, 10.0, 100.0, 1000.0)]

    assert exponent(points).slope == pytest.approx(power)


def test_a_slope_within_its_noise_does_not_rise_and_one_beyond_it_does() -> None:
    noise = (0.5, -0.4, 0.3, -0.5, 0.4, -0.3, 0.5, -0.5)

    flat = fitted([Point(at, 10 + each) for at, each in enumerate(noise)])
    rising = fitted([Point(at, 10 + at + each) for at, each in enumerate(noise)])

    assert not flat.rises
    assert rising.rises
    assert rising.slope == pytest.approx(1.0, abs=0.2)
