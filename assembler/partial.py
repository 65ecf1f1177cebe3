"""The answer without a reply: the sentences in hand that answer best, word for word, and what is missing."""

from __future__ import annotations

from antiphon.assembler.citations import cite, stretch
from antiphon.assembler.draft import Draft
from antiphon.assembler.plain import plain
from antiphon.assembler.seen import Seen
from antiphon.assembler.uncertainty import indicator
from antiphon.assembler.wording import one_line
from antiphon.language.extract import Pick, extract
from antiphon.vocabulary.values import Citation, Fact, Passage

LONGEST_CHARS = 2_000
"""A longer sentence is no course text, and nobody would read it."""


def partial(seen: Seen, why: str, event_seq: int) -> Draft:
    """The draft of extracts with true citations; a plain statement where no fact speaks to the question."""
    extraction = extract(
        seen.question,
        [_sentences(fact.passage) for fact in seen.facts],
        titles=[fact.passage.source for fact in seen.facts],
    )
    text, citations = _write(seen.facts, extraction.picks)
    if not citations:
        return plain(seen, why, event_seq)
    reason = one_line(why) or "no answer came in time"
    missing = f"This is what was found; it may not be the whole answer, because it was cut short: {reason}."
    return Draft(
        text="\n\n".join((text, missing, *_open_sentence(seen))),
        citations=citations,
        doubts=(indicator("partial_evidence", event_seq, why=reason),),
    )


def _sentences(passage: Passage) -> list[str]:
    texts = [passage.sentence(number) for number in range(len(passage.starts))]
    return [text if len(text) <= LONGEST_CHARS else "" for text in texts]


def _write(facts: tuple[Fact, ...], picks: tuple[Pick, ...]) -> tuple[str, tuple[Citation, ...]]:
    """The picks as paragraphs on one line each, and for each the citation of the very text."""
    paragraphs: list[str] = []
    citations: list[Citation] = []
    start = 0
    for pick in picks:
        fact = facts[pick.passage]
        quoted = stretch(fact.passage, pick.first, pick.end - 1)
        paragraph = " ".join(quoted.split())
        if not paragraph:
            continue
        citations.append(cite(fact, start, start + len(paragraph), quoted))
        paragraphs.append(paragraph)
        start += len(paragraph) + len("\n\n")
    return "\n\n".join(paragraphs), tuple(citations)


def _open_sentence(seen: Seen) -> list[str]:
    parts = seen.rounds[-1].event.open_parts if seen.rounds else ()
    return [f"Nothing was found on: {one_line('; '.join(parts))}."] if parts else []
