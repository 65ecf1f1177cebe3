"""Every trace of the corpus, recorded before the redesign, replays to the same events, except those listed."""

from __future__ import annotations

import csv
import lzma
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import msgspec

from antiphon.history import Divergence
from antiphon.service import ReplayResult, replay_lines
from antiphon.traces.codec import from_json
from antiphon.vocabulary.catalog import BUILT_IN
from tests.guarded import guarded

CORPUS = Path(__file__).parent / "corpus"
NOT_RECORDED = {"review_requested", "draft_reviewed"}
"""Kinds of event that are newer than the corpus."""


class Diverging(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Traces that replay to different events today, for one reason.

    Attributes:
        event: The kind of the first event that differs; empty if it may be any.
    """

    reason: str
    traces: tuple[str, ...]
    event: str = ""


def groups() -> list[Diverging]:
    """The traces known to diverge, by reason."""
    written = (CORPUS / "diverging.yaml").read_bytes()
    return msgspec.yaml.decode(written, type=list[Diverging])


def diverging() -> dict[str, str]:
    """The traces known to diverge, each with the kind of the first event that differs."""
    listed: dict[str, str] = {}
    for group in groups():
        listed.update(dict.fromkeys(group.traces, group.event))
    return listed


def as_listed(divergence: Divergence, known: dict[str, str], query_id: str) -> bool:
    """Returns True if the list has this trace, with this kind of event or with any."""
    return query_id in known and known[query_id] in ("", divergence.kind)


def traces() -> Iterator[tuple[str, list[bytes]]]:
    """The traces of the corpus, each with its id."""
    with lzma.open(CORPUS / "traces-before-redesign.jsonl.xz") as file:
        for query_id, lines in groupby(
            file, key=lambda line: str(msgspec.json.decode(line)["query_id"])
        ):
            yield query_id, [line.rstrip(b"\n") for line in lines]


def recorded_results() -> dict[str, tuple[int, int, bool]]:
    """The replay results when the corpus was recorded: events, events compared, and whether the query was over."""
    with lzma.open(CORPUS / "index.tsv.xz", "rt", encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {
            row["query_id"]: (
                int(row["events"]),
                int(row["compared"]),
                row["end"] == "closed",
            )
            for row in rows
        }


def result_of(replayed: ReplayResult, lines: Sequence[bytes]) -> tuple[int, int, bool]:
    """The figures of one replay, counted as when the corpus was recorded.

    Back then the settling of a round was no decision, and was verified in another way.
    """
    settled = [line for line in lines if b'"kind":"tools_settled"' in line]
    return replayed.events, replayed.compared - len(settled), replayed.closed


def test_every_trace_of_the_corpus_replays_to_the_same_events_except_those_listed() -> (
    None
):
    expected = recorded_results()
    known = diverging()
    differing: list[str] = []
    diverged: set[str] = set()
    replayed = 0

    for query_id, lines in traces():
        result = replay_lines(lines)
        replayed += 1
        if result.divergence is not None:
            diverged.add(query_id)
            if not as_listed(result.divergence, known, query_id):
                differing.append(f"{query_id}: {result.divergence.detail}")
        elif result_of(result, lines) != expected[query_id]:
            now = result_of(result, lines)
            differing.append(f"{query_id}: {now} was {expected[query_id]}")

    assert differing == []
    assert diverged == set(known)
    assert replayed == len(expected) == 1_309


def test_the_corpus_holds_every_kind_of_event() -> None:
    kinds: set[str] = set()

    for _, lines in traces():
        kinds |= {msgspec.json.decode(line)["event"]["kind"] for line in lines}

    assert kinds == set(BUILT_IN.by_kind) - NOT_RECORDED


def test_only_partial_answers_choose_other_sentences() -> None:
    listed: set[str] = set()
    for group in groups():
        if group.reason.startswith("one sentence ranker"):
            listed |= set(group.traces)

    partial: set[str] = set()
    for query_id, lines in traces():
        if query_id in listed and b'"kind":"partial_evidence"' in b"".join(lines):
            partial.add(query_id)

    assert partial == listed


def test_redaction_with_a_real_looking_key_and_patterns_changes_no_event_of_the_corpus() -> (
    None
):
    redaction = guarded()

    for _, lines in traces():
        for line in lines:
            event = from_json(line).event
            assert redaction.event(event) is event
