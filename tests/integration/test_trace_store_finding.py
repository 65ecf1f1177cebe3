"""Traces are found by each filter alone and by several at once, page by page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from msgspec.structs import replace

from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary.events import Event, QueryClosed, Status, ToolRequested
from antiphon.vocabulary.ports import TraceFilter, WholeTraceStore
from antiphon.vocabulary.values import Indicator, ToolCall
from tests.story import NOON, placed, query_received, response_assembled, tool_succeeded
from tests.trace_stores import KINDS, nats_url, opened

__all__ = ["nats_url"]


def asked(
    query: str,
    answer: str,
    *,
    status: Status = "answered",
    course: str = "Search",
    tool: str = "search_course_content",
    indicator: str | None = None,
    session_id: str = "s1",
    parent: str | None = None,
) -> list[Event]:
    """A query of one tool call."""
    found = tool_succeeded(f"{course} says much.")
    doubts = (
        (Indicator(kind=indicator, detail="a doubt", event_seq=2),) if indicator else ()
    )
    answered = replace(
        response_assembled(answer),
        indicators=doubts,
        confidence="low" if doubts else "high",
    )
    return [
        replace(query_received(query, session_id), parent=parent),
        ToolRequested(
            round=1, call=ToolCall(id="t1", name=tool, arguments="{}"), timeout_s=1.0
        ),
        replace(
            found,
            passages=tuple(
                replace(passage, course=course) for passage in found.passages
            ),
        ),
        answered,
        QueryClosed(status=status),
    ]


TRACES: Sequence[list[Event]] = (
    asked("How do logs grow?", "By appending; no “quoted” word."),
    asked(
        "What is recall?",
        "A share of what is relevant.",
        course="Retrieval",
        session_id="s2",
    ),
    asked(
        "Which lessons are there?",
        "Four.",
        tool="get_course_outline",
        status="partial",
        indicator="tool_failed",
    ),
    asked(
        "How do logs shrink?",
        "By compaction.",
        course="Retrieval",
        indicator="tool_failed",
        parent="q0",
    ),
    [query_received("Is anybody there?")],
)


async def fill(store: WholeTraceStore) -> None:
    """Stores the traces."""
    for number, events in enumerate(TRACES):
        await store.append(
            f"q{number}", 0, placed(f"q{number}", events, at=NOON + 100 * number)
        )


@pytest_asyncio.fixture(params=KINDS)
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, nats_url: str
) -> AsyncIterator[WholeTraceStore]:
    async with opened(request.param, tmp_path, nats_url) as of_kind:
        await fill(of_kind)
        yield of_kind


@pytest.mark.parametrize(
    ("where", "found"),
    [
        (TraceFilter(), "43210"),
        (TraceFilter(since=NOON + 201), "432"),
        (TraceFilter(until=NOON + 201), "10"),
        (TraceFilter(since=NOON + 101, until=NOON + 301), "21"),
        (TraceFilter(status="answered"), "310"),
        (TraceFilter(status="open"), "4"),
        (TraceFilter(status="cancelled"), ""),
        (TraceFilter(confidence="low"), "32"),
        (TraceFilter(session_id="s2"), "1"),
        (TraceFilter(indicator="tool_failed"), "32"),
        (TraceFilter(course="Retrieval"), "31"),
        (TraceFilter(tool="get_course_outline"), "2"),
        (TraceFilter(parent="q0"), "3"),
        (TraceFilter(text="logs"), "30"),
        (TraceFilter(text="compaction"), "3"),
        (TraceFilter(text="how LOGS"), "30"),
        (TraceFilter(text="logs recall"), ""),
        (TraceFilter(course="Retrieval", indicator="tool_failed"), "3"),
        (
            TraceFilter(
                course="Retrieval",
                tool="search_course_content",
                status="answered",
                text="share",
            ),
            "1",
        ),
        (TraceFilter(indicator="tool_failed", confidence="high"), ""),
    ],
)
async def test_a_filter_finds_what_it_says_newest_first(
    store: WholeTraceStore, where: TraceFilter, found: str
) -> None:
    listed = await store.list(where=where)

    assert "".join(line.query_id[1:] for line in listed) == found


@pytest.mark.parametrize(
    "text",
    [
        '" OR 1 --',
        "logs NEAR grow",
        "logs*",
        "text:logs",
        "(",
        "^",
        "-",
        '"',
        "",
        "\x00",
        "\ud800",
        "a" * 9_000,
    ],
)
async def test_words_that_are_a_query_language_elsewhere_are_only_words(
    store: WholeTraceStore, text: str
) -> None:
    listed = await store.list(where=TraceFilter(text=text))

    assert {line.query_id for line in listed} <= {"q0", "q3"}


@pytest.mark.parametrize(
    "where",
    [
        TraceFilter(),
        TraceFilter(session_id="s1"),
        TraceFilter(tool="search_course_content"),
        TraceFilter(text="logs"),
    ],
)
async def test_pages_of_one_hold_together_what_one_page_holds(
    store: WholeTraceStore, where: TraceFilter
) -> None:
    whole = [line.query_id for line in await store.list(where=where)]
    paged: list[str] = []
    last: str | None = None

    while page := await store.list(limit=1, after_id=last, where=where):
        last = page[-1].query_id
        paged.append(last)

    assert paged == whole


@pytest.fixture(scope="module")
def thousands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which more traces hold a word than any page shows; the oldest and the newest are unlike."""
    folder = tmp_path_factory.mktemp("thousands")

    async def fill() -> None:
        store = SqliteTraceStore.open(folder)
        await asyncio.gather(
            *(
                store.append(
                    f"q{number}",
                    0,
                    placed(
                        f"q{number}",
                        asked(
                            "What is recall?",
                            "Recall is a share.",
                            status="partial" if number < 3 else "answered",
                            course="Rare" if number < 3 else "Search",
                            session_id="first" if number < 3 else "s1",
                            indicator="tool_failed" if number < 3 else None,
                            parent="p0" if number < 3 else None,
                        ),
                        at=NOON + number,
                    ),
                )
                for number in range(2_100)
            )
        )
        # Written last and begun first, as an imported trace is.
        await store.append(
            "late", 0, placed("late", asked("What is recall?", "So."), at=NOON - 9)
        )
        await store.close()

    asyncio.run(fill())
    return folder


@pytest.mark.parametrize(
    "where",
    [
        {"status": "partial"},
        {"confidence": "low"},
        {"course": "Rare"},
        {"indicator": "tool_failed"},
        {"session_id": "first"},
        {"parent": "p0"},
        {"until": NOON + 4, "since": NOON},
        {"status": "partial", "course": "Rare", "tool": "search_course_content"},
    ],
    ids=str,
)
async def test_words_and_another_condition_find_the_oldest_among_thousands(
    thousands: Path, where: dict[str, Any]
) -> None:
    store = SqliteTraceStore.open(thousands)

    found = await store.list(where=TraceFilter(text="recall", **where))

    assert [line.query_id for line in found] == ["q2", "q1", "q0"]
    await store.close()


async def test_words_that_thousands_hold_are_found_page_by_page_to_the_last(
    thousands: Path,
) -> None:
    store = SqliteTraceStore.open(thousands)
    found: list[str] = []
    last: str | None = None

    while page := await store.list(
        700, after_id=last, where=TraceFilter(text="recall")
    ):
        found += [line.query_id for line in page]
        last = found[-1]

    assert found == [*(f"q{number}" for number in range(2_099, -1, -1)), "late"]
    await store.close()
