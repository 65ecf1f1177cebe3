"""The views of a trace: the lineage of its answer, the difference of two traces, and a test made from one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from antiphon.engine import request_bytes
from antiphon.history.origins import Origin, offset_in_lesson
from antiphon.service import (
    contributions,
    diff,
    lineage,
    sealed_trace,
    suspects,
    trace_test,
)
from antiphon.traces import trace_lines
from antiphon.vocabulary.errors import BadInputError, TraceError
from antiphon.vocabulary.events import (
    BriefingPrepared,
    Event,
    QueryResumed,
    ReasoningCompleted,
    ReasoningStarted,
    Recorded,
    ResponseAssembled,
)
from antiphon.vocabulary.values import Passage, StoredText
from benchmarks.double import CALLS
from tests.traces.conftest import Lines
from tests.traces.stage import Stage
from tests.traces.test_replay import events_of

ROOT = Path(__file__).parents[2]


@pytest_asyncio.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    made = Stage(tmp_path)
    yield made
    await made.store.close()


def test_every_citation_leads_back_to_the_bytes_of_a_request(thousand: Lines) -> None:
    origins: list[tuple[list[Recorded[Event]], Origin]] = []
    for lines in list(thousand.values())[:300]:
        events = events_of(lines)
        if any(
            isinstance(said.event, ResponseAssembled) and said.event.citations
            for said in events
        ):
            origins += [
                (events, origin)
                for sentence in lineage(events)
                for origin in sentence.origins
            ]

    assert len(origins) > 20
    for events, origin in origins:
        assert 0 < origin.request_seq < origin.requested_seq < origin.found_seq
        assert origin.request_seq < origin.reply_seq
        started = events[origin.request_seq - 1].event
        assert isinstance(started, ReasoningStarted)
        assert len(request_bytes(started.request)) == origin.request_bytes


def test_what_a_passage_contributed_is_the_reverse_of_lineage(thousand: Lines) -> None:
    for lines in list(thousand.values())[:100]:
        events = events_of(lines)
        if not any(isinstance(said.event, ResponseAssembled) for said in events):
            continue
        forwards = {
            (o.fact, each.text) for each in lineage(events) for o in each.origins
        }
        backwards = {
            (each.fact, text)
            for each in contributions(events)
            for text in each.sentences
        }
        assert forwards == backwards


def test_a_trace_does_not_differ_from_itself(thousand: Lines) -> None:
    events = events_of(thousand["q3"])

    found = diff(events, events)

    assert (found.differences, found.same) == ((), len(events))


async def test_two_runs_of_a_question_differ_in_times_alone(stage: Stage) -> None:
    first, second = await stage.ask("q1"), await stage.ask("q2")

    assert {each.because for each in diff(first, second).differences} <= {
        "order",
        "time",
    }


async def test_a_follower_that_comes_back_gets_everything_since_once(
    stage: Stage,
) -> None:
    events = await stage.ask()
    prefix = [said for said in events if said.seq <= 9]
    await stage.store.delete(["q1"])
    await stage.store.append("q1", 0, prefix)
    running = await stage.history.resume("q1")

    seen = [
        told.seq
        async for told in stage.history.follow("q1", 5)
        if isinstance(told, Recorded)
    ]
    await running.outcome()
    later = [
        told.seq
        async for told in stage.history.follow("q1", 5)
        if isinstance(told, Recorded)
    ]

    whole = await stage.store.read("q1")
    assert seen == later == [said.seq for said in whole if said.seq > 5]
    assert isinstance(whole[9].event, QueryResumed)
    assert len(CALLS) == 2


async def test_the_service_does_not_resume_a_query_that_is_over(stage: Stage) -> None:
    await stage.ask()

    with pytest.raises(TraceError, match="is over"):
        await stage.history.resume("q1")


def test_a_trace_becomes_a_test_that_passes_on_its_own(
    thousand: Lines, tmp_path: Path
) -> None:
    data, test = trace_test(events_of(thousand["q3"]), "mine", ["BM25"])
    (tmp_path / "mine.jsonl").write_bytes(data)
    (tmp_path / "test_mine.py").write_text(test)

    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-c",
            "/dev/null",
            str(tmp_path),
        ],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert "1 passed" in run.stdout, run.stdout
    assert b"BM25" not in data


def test_a_changed_sealed_trace_is_refused(thousand: Lines, tmp_path: Path) -> None:
    data, _ = trace_test(events_of(thousand["q3"]), "mine")
    (tmp_path / "mine.jsonl").write_bytes(data)

    with pytest.raises(TraceError, match="not the trace that was sealed"):
        sealed_trace(tmp_path / "mine.jsonl", "0" * 64)
    assert len(
        sealed_trace(tmp_path / "mine.jsonl", trace_lines(data)[0].sha256)
    ) == len(thousand["q3"])


def test_an_invalid_pattern_is_refused(thousand: Lines) -> None:
    with pytest.raises(BadInputError, match="no regular expression"):
        trace_test(events_of(thousand["q3"]), "mine", ["("])


def test_a_sentence_has_the_origins_that_it_cites_and_no_other(
    thousand: Lines,
) -> None:
    compared = 0
    for lines in list(thousand.values())[:300]:
        events = events_of(lines)
        answers = [
            said.event for said in events if isinstance(said.event, ResponseAssembled)
        ]
        if not answers or len(answers[-1].citations) < 2:
            continue
        for sentence in lineage(events):
            start = answers[-1].answer.find(sentence.text)
            end = start + len(sentence.text)
            cited = {
                each.cited_text
                for each in answers[-1].citations
                if each.start < end and start < each.end
            }
            assert {origin.cited_text for origin in sentence.origins} == cited
            compared += 1

    assert compared > 20


def test_lineage_goes_on_to_the_calls_before_and_names_the_one_that_wrote(
    thousand: Lines,
) -> None:
    chains = 0
    for lines in list(thousand.values())[:300]:
        events = events_of(lines)
        if not any(isinstance(said.event, ResponseAssembled) for said in events):
            continue
        for sentence in lineage(events):
            if sentence.written_by is not None:
                reply = events[sentence.written_by.reply_seq - 1].event
                assert isinstance(reply, ReasoningCompleted)
                assert sentence.text in reply.text.text
            for origin in sentence.origins:
                seqs = [origin.reply_seq, *[step.reply_seq for step in origin.earlier]]
                assert seqs == sorted(seqs, reverse=True)
                chains += len(origin.earlier) > 0

    assert chains > 0


@pytest.mark.parametrize(("start", "offset"), [(None, None), (0, 12), (1_000, 1_012)])
def test_a_citation_names_the_place_in_its_lesson(
    start: int | None, offset: int | None
) -> None:
    text = "Logs grow. By rules. Ever."
    passage = Passage(id="p", source="Logs", text=StoredText(text), start=start)

    assert offset_in_lesson(passage, "y rules") == offset


def test_a_briefing_records_the_scores_of_dropped_sentences_and_the_bar_they_missed(
    thousand: Lines,
) -> None:
    decayed = 0
    for lines in list(thousand.values())[:300]:
        for recorded in events_of(lines):
            if not isinstance(recorded.event, BriefingPrepared):
                continue
            for dropped in recorded.event.dropped:
                if dropped.rule == "decay":
                    decayed += 1
                    assert dropped.bar is not None
                    assert dropped.scores
                    assert max(dropped.scores) <= dropped.bar
                if dropped.sentences and dropped.rule != "repeated":
                    assert len(dropped.scores) == len(dropped.sentences)

    assert decayed > 0


def test_suspects_of_any_trace_name_its_own_events(thousand: Lines) -> None:
    found_of = 0
    for lines in list(thousand.values())[:300]:
        events = events_of(lines)
        found = suspects(events)
        found_of += bool(found)
        assert all(1 <= each.event_seq <= len(events) for each in found)
        assert suspects(events) == found

    assert found_of > 100
