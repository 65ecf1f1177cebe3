"""The answers that need no reply of a model: extracts from the findings, a plain statement, and the last resort."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from antiphon.assembler.answer_state import AnswerState
from antiphon.assembler.citations import cite, stretch
from antiphon.assembler.uncertainty import confidence, indicator
from antiphon.assembler.wording import TOOL_FAILURES, one_line
from antiphon.language.extract import Excerpt, extract
from antiphon.vocabulary.events import ResponseAssembled, ToolFailed
from antiphon.vocabulary.values import Citation, Fact, Indicator, Passage, Usage, Value

NOBODY = "none"
LONGEST_SENTENCE_CHARS = 2_000
"""A longer "sentence" is not course text, and nobody would read it."""
MOST_TOOLS = 6
"""The most lookups that a statement lists."""


class Draft(Value, frozen=True, kw_only=True):
    """An answer before its confidence is settled: its text, its citations, the doubts about it, and its author."""

    text: str
    citations: tuple[Citation, ...] = ()
    doubts: tuple[Indicator, ...] = ()
    reasoner: str = NOBODY


def draft_from_facts(state: AnswerState, why: str, event_seq: int) -> Draft:
    """Drafts extracts with exact citations; a plain statement if no fact speaks to the question."""
    passages: list[list[str]] = []
    titles: list[str] = []
    for fact in state.facts:
        passages.append(_sentences(fact.passage))
        titles.append(fact.passage.source)
    excerpts = extract(state.question, passages, titles)
    text, citations = _write(state.facts, excerpts)
    # If there is nothing to cite, no finding speaks to the question: then there is no partial answer either.
    if not citations:
        return draft_statement(state, why, event_seq)
    reason = _reason(why)
    paragraphs = [
        text,
        f"This is what was found; it may not be the whole answer, because it was cut short: {reason}.",
    ]
    if state.open_parts:
        paragraphs.append(
            f"Nothing was found on: {one_line('; '.join(state.open_parts))}."
        )
    return Draft(
        text="\n\n".join(paragraphs),
        citations=citations,
        doubts=(state.doubt("partial_evidence", event_seq, why=reason),),
    )


def _sentences(passage: Passage) -> list[str]:
    """Returns the passage's sentences, with an empty text for one that is too long, so that the numbers still fit."""
    sentences: list[str] = []
    for number in range(len(passage.starts)):
        sentence = passage.sentence(number)
        # Leaving it out would shift the numbers by which citations find the sentences after it.
        if len(sentence) > LONGEST_SENTENCE_CHARS:
            sentence = ""
        sentences.append(sentence)
    return sentences


def _write(
    facts: Sequence[Fact], excerpts: Sequence[Excerpt]
) -> tuple[str, tuple[Citation, ...]]:
    """Writes each excerpt as a paragraph on one line, with the citation of the exact text."""
    paragraphs: list[str] = []
    citations: list[Citation] = []
    start = 0
    for excerpt in excerpts:
        fact = facts[excerpt.passage]
        quoted = stretch(fact.passage, excerpt.first, excerpt.end - 1)
        # Only the answer is put on one line; the citation keeps the passage's white space, character for character.
        paragraph = " ".join(quoted.split())
        if not paragraph:
            continue
        at = fact.passage.starts[excerpt.first]
        citations.append(cite(fact, start, start + len(paragraph), quoted, at))
        paragraphs.append(paragraph)
        start += len(paragraph) + len("\n\n")
    return "\n\n".join(paragraphs), tuple(citations)


def draft_statement(state: AnswerState, why: str, event_seq: int) -> Draft:
    """Drafts a statement that there is no answer, with the reason and what was tried, each cut to a line."""
    text = f"This question could not be answered: {_reason(why)}. {_lookups(state)}"
    return Draft(text=text, doubts=(state.doubt("no_evidence", event_seq),))


def _reason(why: str) -> str:
    """Returns on one line why there is no reply; without a reason given, time ran out."""
    return one_line(why) or "no answer came in time"


def _lookups(state: AnswerState) -> str:
    """Lists the tools that were called, with the reason for each failure."""
    failures: dict[str, str] = {}
    for incident in state.incidents:
        event = incident.event
        if isinstance(event, ToolFailed):
            failures[event.tool_call_id] = TOOL_FAILURES[event.failure]
    # A dictionary, because it keeps each line once and in order: the model may have tried one tool many times.
    lookups: dict[str, None] = {}
    for reply in state.replies:
        for call in reply.event.tool_calls:
            words = one_line(call.name)
            if call.id in failures:
                words = f"{words} ({failures[call.id]})"
            lookups[words] = None
    if not lookups:
        return "Nothing could be looked up."
    return f"Tried: {'; '.join(list(lookups)[:MOST_TOOLS])}."


def last_resort(
    why: str,
    event_seq: int,
    *,
    failed: bool = True,
    rounds: int = 0,
    calls: int = 0,
    usage: Usage = Usage(),  # noqa: B008 - a frozen value
) -> ResponseAssembled:
    """Builds the answer for when even the assembler failed: it needs nothing that could fail too.

    Args:
        why: The reason, in words for users.
        event_seq: The event that reports the failure; the trace leads on from there.
        failed: True if a part of the service failed; False if the caller went away.
    """
    indicators = [indicator("no_evidence", event_seq)]
    if failed:
        indicators.insert(0, indicator("component_failed", event_seq))
    reason = one_line(why) or "the answer could not be put together"
    return ResponseAssembled(
        answer=f"This question could not be answered: {reason}.",
        sources=(),
        source_links=(),
        citations=(),
        confidence=confidence(indicators),
        indicators=tuple(indicators),
        rounds=rounds,
        reasoner=NOBODY,
        calls=calls,
        usage=usage,
    )


def with_trace(
    response: ResponseAssembled, event_seq: int, *, recorded: bool
) -> ResponseAssembled:
    """Returns the answer with the doubt that its trace is incomplete, or without it if the trace is whole.

    Args:
        event_seq: The event on which the doubt rests if the answer does not have it yet.
        recorded: True if the trace is whole.
    """
    kept: list[Indicator] = []
    doubts: list[Indicator] = []
    for doubt in response.indicators:
        if doubt.kind == "trace_incomplete":
            doubts.append(doubt)
        else:
            kept.append(doubt)
    if recorded:
        return replace(response, indicators=tuple(kept))
    # One such doubt is enough, even if recording failed more than once.
    if not doubts:
        doubts.append(indicator("trace_incomplete", event_seq))
    return replace(response, indicators=(*kept, *doubts))
