"""Turns a trace into a regression test: a sealed file, and a few lines of pytest that replay it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from antiphon.composition import catalog_of, deciders_of, load_subscribers
from antiphon.history.folding import Fold, decided_events, failures_by_event
from antiphon.history.origins import answer_in
from antiphon.history.replaying import replay
from antiphon.traces import event_of, plain, read_trace_file, trace_file, trace_lines
from antiphon.vocabulary.errors import BadInputError, TraceError
from antiphon.vocabulary.events import Event, QueryReceived, Recorded, ResponseAssembled
from antiphon.vocabulary.outside import clean
from antiphon.vocabulary.subscribers import Subscriber

QUESTION_CHARS = 200
"""Characters of the question in the test's docstring, which only says which query it was."""

_TEST = '''"""Replays a recorded query; written by `antiphon traces test`.

{question}
"""

from pathlib import Path

from antiphon.service import {imports}

SHA256 = {sha256!r}
"""Of the events: a trace that was changed is refused."""


def test_{name}_replays_to_the_same_events_and_the_same_answer() -> None:
{load}    events = sealed_trace(Path(__file__).with_name({file!r}), SHA256{sealed_with})

    divergence = replay(events{replayed_with}).divergence

    assert divergence is None or divergence.difference == "settings", divergence
    answer = answer_in(events)
    assert answer.confidence == {confidence!r}
    assert answer.sources == {sources!r}
    for fact in {facts!r}:
        assert fact in answer.answer
'''
_WITHOUT_SUBSCRIBERS = {
    "imports": "answer_in, replay, sealed_trace",
    "load": "",
    "sealed_with": "",
    "replayed_with": "",
}
_WITH_SUBSCRIBERS = {
    "imports": "answer_in, load_subscribers, replay, sealed_trace",
    "load": "    subscribers = load_subscribers({paths!r})\n",
    "sealed_with": ", subscribers",
    "replayed_with": ", subscribers=subscribers",
}


def trace_test(
    events: Sequence[Recorded[Event]],
    name: str,
    redact: Sequence[str] = (),
    subscriber_paths: str = "",
) -> tuple[bytes, str]:
    """Returns the sealed file of a trace, and the test that goes with it as `<name>.jsonl`.

    Args:
        redact: Patterns; their matches are crossed out everywhere.
        subscriber_paths: The components from outside that the query was recorded with, as `ANTIPHON_SUBSCRIBERS` names
            them: the test loads them by the same names.

    Raises:
        BadInputError: A pattern cannot be used, the trace has no answer, or it would not replay.
        ConfigurationError: A subscriber cannot be loaded.
    """
    subscribers = load_subscribers(subscriber_paths)
    events = redacted(events, redact, subscribers)
    # Crossing out may change what rules decide, and so what the query would have asked for.
    divergence = replay(events, subscribers=subscribers).divergence
    if divergence is not None:
        after = ""
        if redact:
            after = " after redaction"
        raise BadInputError(
            f"This trace does not replay as it is{after} ({divergence.detail}): a test of it would fail from the start."
        )
    data = trace_file(events)
    answer = answer_in(events)
    first = events[0].event
    question = ""
    if isinstance(first, QueryReceived):
        question = first.query
    code = _WITHOUT_SUBSCRIBERS
    if subscribers:
        code = _WITH_SUBSCRIBERS | {
            "load": _WITH_SUBSCRIBERS["load"].format(paths=subscriber_paths)
        }
    test = _TEST.format(
        question=_as_docstring(question),
        sha256=trace_lines(data)[0].sha256,
        name=re.sub(r"[^A-Za-z0-9_]+", "_", name),
        file=f"{name}.jsonl",
        confidence=answer.confidence,
        sources=answer.sources,
        facts=_quoted_facts(answer),
        **code,
    )
    return data, test


def sealed_trace(
    path: Path, sha256: str, subscribers: Sequence[Subscriber] = ()
) -> list[Recorded[Event]]:
    """Reads the events of a sealed file.

    Args:
        subscribers: The components from outside that the query was recorded with.

    Raises:
        DecodeError: The file cannot be used.
        TraceError: It is not the one that was sealed.
    """
    data = path.read_bytes()
    found = trace_lines(data)[0].sha256
    if found != sha256:
        raise TraceError(
            f"{path.name} is not the trace that was sealed: its hash is {found}, not {sha256}"
        )
    return read_trace_file(data, catalog_of(subscribers))


def redacted(
    events: Sequence[Recorded[Event]],
    patterns: Sequence[str],
    subscribers: Sequence[Subscriber] = (),
) -> Sequence[Recorded[Event]]:
    """Returns the events with every match of a pattern crossed out, letter by letter, so that all offsets stay.

    Raises:
        BadInputError: A pattern is no regular expression.
    """
    if not patterns:
        return events
    # Each in a group of its own, so that an alternative in one does not take part of the next with it.
    groups = [f"(?:{pattern})" for pattern in patterns]
    try:
        pattern = re.compile("|".join(groups))
    except re.error as error:
        raise BadInputError(
            f"A pattern to redact is no regular expression: {error}"
        ) from error
    catalog = catalog_of(subscribers)
    crossed_out: list[Recorded[Event]] = []
    for recorded in events:
        event = event_of(_crossed_out(plain(recorded.event), pattern), catalog)
        crossed_out.append(replace(recorded, event=event))
    return decided_anew(crossed_out, subscribers)


def decided_anew(
    events: Sequence[Recorded[Event]], subscribers: Sequence[Subscriber] = ()
) -> list[Recorded[Event]]:
    """Returns the trace with today's decisions of the rules in the place of those that were recorded.

    Decisions change with the texts that they are made from (such as the ids of joined passages), and newer rules fill
    fields that the trace does not have yet.
    """
    decided = decided_events(subscribers)
    # A rule that failed then is passed over, as in a replay: what made it fail may not be there now.
    failed = failures_by_event(events)
    fold = Fold(deciders_of(subscribers))
    renewed: list[Recorded[Event]] = []
    for recorded in events:
        if type(recorded.event) in decided:
            recorded = _as_emitted(recorded, fold)
        fold.hear(recorded, failed.get(recorded.seq, frozenset()))
        renewed.append(recorded)
    return renewed


def _as_emitted(recorded: Recorded[Event], fold: Fold) -> Recorded[Event]:
    """Takes from the fold the event that it emitted in the place of a recorded one; without any, that one stays."""
    for emission in fold.emitted:
        if emission.stands_for(recorded):
            fold.emitted.remove(emission)
            return replace(recorded, event=emission.event)
    return recorded


def _crossed_out(value: object, pattern: re.Pattern[str]) -> object:
    if isinstance(value, str):
        return pattern.sub(lambda found: "x" * len(found.group()), value)
    if isinstance(value, list | tuple):
        return [_crossed_out(item, pattern) for item in value]
    if not isinstance(value, dict):
        return value
    changed = dict(value)
    for name, inner in value.items():
        # The tag names the event's class; without it nothing could be decoded.
        if name != "kind":
            changed[name] = _crossed_out(inner, pattern)
    return changed


def _quoted_facts(answer: ResponseAssembled) -> tuple[str, ...]:
    """Returns the cited texts that stand in the answer word for word, each once."""
    quoted: list[str] = []
    for citation in answer.citations:
        cited = citation.cited_text.strip()
        if cited and cited in answer.answer and cited not in quoted:
            quoted.append(cited)
    return tuple(quoted)


def _as_docstring(question: str) -> str:
    """Returns a question as part of a docstring: one line in which nothing ends the string."""
    plain_text = clean(" ".join(question.split())[:QUESTION_CHARS])
    return plain_text.replace("\\", "").replace('"', "'")
