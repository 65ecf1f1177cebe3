"""A trace as a regression test: a sealed file and a few lines of pytest that replay it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from antiphon.history.folding import Fold, failures_by_event
from antiphon.history.lineage import answer_in
from antiphon.history.replaying import DECIDED, replay
from antiphon.traces import event_of, plain, read_trace_file, trace_file, trace_lines
from antiphon.vocabulary.errors import BadInputError, TraceError
from antiphon.vocabulary.events import Event, QueryReceived, Recorded

_TEST = '''"""Replays a recorded query; written by `antiphon traces test`.

{question}
"""

from pathlib import Path

from antiphon.service import answer_in, replay, sealed_trace

SHA256 = "{sha256}"
"""Of the events: a trace that was changed is refused."""


def test_{name}_replays_to_the_same_events_and_the_same_answer() -> None:
    events = sealed_trace(Path(__file__).with_name("{file}"), SHA256)

    divergence = replay(events).divergence

    assert divergence is None or divergence.difference == "settings", divergence
    answer = answer_in(events)
    assert answer.confidence == {confidence!r}
    assert answer.sources == {sources!r}
    for fact in {facts!r}:
        assert fact in answer.answer
'''


def trace_test(events: Sequence[Recorded[Event]], name: str, redact: Sequence[str] = ()) -> tuple[bytes, str]:
    """The sealed file of a trace, and the test that goes with it as `<name>.jsonl`.

    Args:
        redact: Patterns; what they match is crossed out everywhere.

    Raises:
        BadInputError: A pattern cannot be used, the trace has no answer, or it would not replay.
    """
    events = redacted(events, redact)
    divergence = replay(events).divergence
    if divergence is not None:
        raise BadInputError(
            f"This trace does not replay as it is{' after redaction' if redact else ''} ({divergence.detail}): "
            "a test of it would fail from the start."
        )
    data = trace_file(events)
    answer, first = answer_in(events), events[0].event
    quoted = [each.cited_text.strip() for each in answer.citations]
    return data, _TEST.format(
        question=_harmless(first.query) if isinstance(first, QueryReceived) else "",
        sha256=trace_lines(data)[0].sha256,
        name=re.sub(r"\W+", "_", name),
        file=f"{name}.jsonl",
        confidence=answer.confidence,
        sources=answer.sources,
        facts=tuple(dict.fromkeys(cited for cited in quoted if cited and cited in answer.answer)),
    )


def sealed_trace(path: Path, sha256: str) -> list[Recorded[Event]]:
    """The events of a sealed file.

    Raises:
        DecodeError: The file cannot be used.
        TraceError: It is another one than was sealed.
    """
    data = path.read_bytes()
    found = trace_lines(data)[0].sha256
    if found != sha256:
        raise TraceError(f"{path.name} is not the trace that was sealed: its hash is {found}, not {sha256}")
    return read_trace_file(data)


def redacted(events: Sequence[Recorded[Event]], patterns: Sequence[str]) -> Sequence[Recorded[Event]]:
    """The events with whatever a pattern matches crossed out, letter by letter, so that all offsets stay.

    Raises:
        BadInputError: A pattern is no regular expression.
    """
    if not patterns:
        return events
    try:
        wanted = re.compile("|".join(f"(?:{pattern})" for pattern in patterns))
    except re.error as error:
        raise BadInputError(f"A pattern to redact is no regular expression: {error}") from error
    return said_anew([replace(each, event=event_of(_crossed_out(plain(each.event), wanted))) for each in events])


def said_anew(events: Sequence[Recorded[Event]]) -> list[Recorded[Event]]:
    """The trace with what the rules say of it now: some of that is made of texts (ids of passages that were joined)."""
    fold, failed = Fold(), failures_by_event(events)
    told: list[Recorded[Event]] = []
    for recorded in events:
        if type(recorded.event) in DECIDED:
            for emission in fold.emitted:
                if emission.cause == recorded.cause and type(emission.event) is type(recorded.event):
                    fold.emitted.remove(emission)
                    recorded = replace(recorded, event=emission.event)
                    break
        fold.hear(recorded, failed.get(recorded.seq, frozenset()))
        told.append(recorded)
    return told


def _crossed_out(value: object, wanted: re.Pattern[str]) -> object:
    if isinstance(value, str):
        return wanted.sub(lambda found: "x" * len(found.group()), value)
    if isinstance(value, dict):
        return {name: each if name == "kind" else _crossed_out(each, wanted) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_crossed_out(each, wanted) for each in value]
    return value


def _harmless(text: str) -> str:
    """A question as part of a docstring: one line that ends nothing."""
    return " ".join(text.split())[:200].replace("\\", "").replace('"', "'")
