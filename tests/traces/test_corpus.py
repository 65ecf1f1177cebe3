"""Every trace of the corpus that was recorded before the redesign replays to the same events."""

from __future__ import annotations

import csv
import lzma
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import msgspec

from antiphon.service import ReplayResult, replay_lines
from antiphon.traces.codec import from_json
from antiphon.vocabulary.catalog import BUILT_IN
from tests.guarded import guarded

CORPUS = Path(__file__).parent / "corpus"
NOT_RECORDED = {"review_requested", "draft_reviewed"}
"""Events that are younger than the corpus."""


def traces() -> Iterator[tuple[str, list[bytes]]]:
    """The traces of the corpus, each with its id."""
    with lzma.open(CORPUS / "traces-before-redesign.jsonl.xz") as file:
        for query_id, lines in groupby(
            file, key=lambda line: str(msgspec.json.decode(line)["query_id"])
        ):
            yield query_id, [line.rstrip(b"\n") for line in lines]


def recorded_results() -> dict[str, tuple[int, int, bool]]:
    """What a replay found when the corpus was recorded: events, events compared, and whether the query was over."""
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


def result_of(replayed: ReplayResult) -> tuple[int, int, bool]:
    """The figures of one replay."""
    return replayed.events, replayed.compared, replayed.closed


def test_every_trace_of_the_corpus_replays_to_the_same_events() -> None:
    expected = recorded_results()
    differing: list[str] = []
    replayed = 0

    for query_id, lines in traces():
        result = replay_lines(lines)
        replayed += 1
        if result.divergence is not None:
            differing.append(f"{query_id}: {result.divergence.detail}")
        elif result_of(result) != expected[query_id]:
            differing.append(
                f"{query_id}: {result_of(result)} was {expected[query_id]}"
            )

    assert differing == []
    assert replayed == len(expected) == 1_309


def test_the_corpus_holds_every_kind_of_event() -> None:
    kinds: set[str] = set()

    for _, lines in traces():
        kinds |= {msgspec.json.decode(line)["event"]["kind"] for line in lines}

    assert kinds == set(BUILT_IN.by_kind) - NOT_RECORDED


def test_beside_a_real_looking_key_and_patterns_every_event_of_the_corpus_stays_itself() -> (
    None
):
    redaction = guarded()

    for _, lines in traces():
        for line in lines:
            event = from_json(line).event
            assert redaction.event(event) is event
