"""Turns a trace into a regression test: a sealed file, and a few lines of pytest that replay it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from antiphon.composition import catalog_of, deciders_of, load_subscribers
from antiphon.history.folding import Fold, decided_events, failures_by_event
from antiphon.history.replay_run import Form
from antiphon.history.replaying import replay
from antiphon.history.sealed import answer_now
from antiphon.traces import event_of, plain, trace_file, trace_lines
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import (
    Event,
    QueryReceived,
    ReasoningStarted,
    Recorded,
    ResponseAssembled,
)
from antiphon.vocabulary.outside import clean
from antiphon.vocabulary.subscribers import Subscriber

QUESTION_CHARS = 200
"""Characters of the question in the test's docstring, which only identifies the query."""

_TEST = '''"""Replays a recorded query; written by `antiphon traces test`.

{question}
"""

from pathlib import Path

from antiphon.service import {imports}

SHA256 = {sha256!r}
"""Of the events: a trace that was changed is refused."""


def test_{name}_replays_to_the_same_events_and_the_same_answer() -> None:
{load}    replayed = replay_sealed(Path(__file__).with_name({file!r}), SHA256{further})

    assert replayed.holds, replayed.divergence
{answer}'''
_ANSWER = """\
    assert replayed.answer is not None
    assert replayed.answer.confidence == {confidence!r}
    assert replayed.answer.sources == {sources!r}
    for fact in {facts!r}:
        assert fact in replayed.answer.answer
"""
_NO_ANSWER = """\
    assert replayed.answer is None
"""
_WITHOUT_SUBSCRIBERS = {"imports": "replay_sealed", "load": "", "further": ""}
_WITH_SUBSCRIBERS = {
    "imports": "load_subscribers, replay_sealed",
    "load": "    subscribers = load_subscribers({paths!r})\n",
    "further": ", subscribers",
}


def trace_test(
    events: Sequence[Recorded[Event]],
    name: str,
    redact: Sequence[str] = (),
    subscriber_paths: str = "",
    forms: Sequence[Form] | None = None,
) -> tuple[bytes, str]:
    """Returns the sealed file of a trace, and the test that reads it as `<name>.jsonl`.

    Args:
        redact: Patterns whose matches are crossed out everywhere.
        subscriber_paths: The components from outside that took part in the query, as `ANTIPHON_SUBSCRIBERS` names them,
            by which the test loads them.
        forms: Each event in the trace's form; an older one is sealed in today's form.

    Raises:
        BadInputError: A pattern cannot be used, or the trace would not replay.
        ConfigurationError: A subscriber cannot be loaded.
    """
    subscribers = load_subscribers(subscriber_paths)
    events = in_todays_form(events, forms, subscribers)
    events = redacted(events, redact, subscribers)
    # Crossing out may change the decisions of rules, and so the query's requests.
    divergence = replay(events, subscribers=subscribers).divergence
    if divergence is not None and divergence.difference != "settings":
        after = " after redaction" if redact else ""
        raise BadInputError(
            f"This trace does not replay as it is{after} ({divergence.detail}): a test of it would fail from the start."
        )
    data = trace_file(events)
    first = events[0].event
    question = first.query if isinstance(first, QueryReceived) else ""
    load = _WITH_SUBSCRIBERS["load"].format(paths=subscriber_paths)
    code = _WITH_SUBSCRIBERS | {"load": load} if subscribers else _WITHOUT_SUBSCRIBERS
    test = _TEST.format(
        question=_as_docstring(question),
        sha256=trace_lines(data)[0].sha256,
        name=re.sub(r"[^A-Za-z0-9_]+", "_", name),
        file=f"{name}.jsonl",
        answer=_assertions(answer_now(events, subscribers)),
        **code,
    )
    return data, test


def _assertions(answer: ResponseAssembled | None) -> str:
    """Returns the lines of a test that check the answer; a query may have ended without one."""
    if answer is None:
        return _NO_ANSWER
    return _ANSWER.format(
        confidence=answer.confidence,
        sources=answer.sources,
        facts=_quoted_facts(answer),
    )


def redacted(
    events: Sequence[Recorded[Event]],
    patterns: Sequence[str],
    subscribers: Sequence[Subscriber] = (),
) -> Sequence[Recorded[Event]]:
    """Returns the events with all matches of a pattern crossed out letter by letter, which keeps all offsets.

    Raises:
        BadInputError: A pattern is not a regular expression.
    """
    if not patterns:
        return events
    # Each in its own group, so that an alternative in one does not absorb a part of the next.
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
    renewed = decided_anew(crossed_out, subscribers)
    if replay(renewed, subscribers=subscribers).divergence is None:
        return renewed
    # Requests cannot be rebuilt from inputs with crossed-out parts, such as definitions of tools.
    return [_without_inputs(recorded) for recorded in renewed]


def _without_inputs(recorded: Recorded[Event]) -> Recorded[Event]:
    event = recorded.event
    if isinstance(event, ReasoningStarted):
        event = replace(event, profile=None, tool_definitions=None)
    elif isinstance(event, QueryReceived):
        left = [version for version in event.versions if version[0] != "tools"]
        event = replace(event, versions=tuple(left))
    return replace(recorded, event=event)


def in_todays_form(
    events: Sequence[Recorded[Event]],
    forms: Sequence[Form] | None,
    subscribers: Sequence[Subscriber] = (),
) -> Sequence[Recorded[Event]]:
    """Fills fields that a trace's events lacked with today's decisions of the rules.

    Renews only a trace that differs in nothing but such fields; leaves any other as it was recorded.
    """
    if forms is None or replay(events, subscribers=subscribers).divergence is None:
        return events
    if replay(events, forms, subscribers).divergence is None:
        return decided_anew(events, subscribers)
    return events


def decided_anew(
    events: Sequence[Recorded[Event]], subscribers: Sequence[Subscriber] = ()
) -> list[Recorded[Event]]:
    """Returns the trace with the recorded decisions of the rules replaced by today's.

    Decisions change with the texts on which they are based (such as the ids of joined passages), and newer rules fill
    fields that the trace lacks.
    """
    decided = decided_events(subscribers)
    # Skips rules that failed then, as a replay does, because the reason may be gone by now.
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
    """Replaces a recorded event by the one that the fold emitted for it; keeps it if there is none."""
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
        # Decoding needs the tag, which names the event's class. Our own prompt contains no secrets.
        if name not in ("kind", "system"):
            changed[name] = _crossed_out(inner, pattern)
    return changed


def _quoted_facts(answer: ResponseAssembled) -> tuple[str, ...]:
    """Returns the cited texts that the answer contains word for word, each once."""
    quoted: list[str] = []
    for citation in answer.citations:
        cited = citation.cited_text.strip()
        if cited and cited in answer.answer and cited not in quoted:
            quoted.append(cited)
    return tuple(quoted)


def _as_docstring(question: str) -> str:
    """Returns a question as part of a docstring: one line that cannot end the string."""
    plain_text = clean(" ".join(question.split())[:QUESTION_CHARS])
    return plain_text.replace("\\", "").replace('"', "'")
