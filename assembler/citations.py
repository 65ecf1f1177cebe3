"""Leads a reply's citations back to recorded evidence, character for character."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from antiphon.vocabulary.values import Citation, Fact, Passage, ReplyCitation, ShownSource


class Resolved(NamedTuple):
    """The citations that lead to evidence, in order of the answer, and how many do not."""

    citations: tuple[Citation, ...]
    unresolved: int


class Answer(NamedTuple):
    """The answer's text, and how far into the reply's text it begins."""

    text: str
    offset: int


def answer_of(reply_text: str) -> Answer:
    """The reply's text without outer white space."""
    return Answer(reply_text.strip(), len(reply_text) - len(reply_text.lstrip()))


def resolve(
    cited: Sequence[ReplyCitation], answer: Answer, table: Sequence[ShownSource], facts: Mapping[str, Fact]
) -> Resolved:
    """Resolves `cited` against the `table` of the very request that the reply answers.

    What does not resolve is counted and left out: a citation that names no source shown, no block of it, no span
    of the answer, or that quotes what was not shown there.
    """
    rows = [_resolve_one(citation, answer, table, facts) for citation in cited]
    found = dict.fromkeys(citation for row in rows for citation in row)
    ordered = sorted(found, key=lambda citation: (citation.start, citation.end))
    return Resolved(tuple(ordered), sum(not row for row in rows))


def _resolve_one(
    cited: ReplyCitation, answer: Answer, table: Sequence[ShownSource], facts: Mapping[str, Fact]
) -> list[Citation]:
    start = max(0, cited.start - answer.offset)
    end = min(len(answer.text), cited.end - answer.offset)
    if start >= end or not 0 <= cited.source < len(table):
        return []
    shown = table[cited.source]
    fact = facts.get(shown.fact_id)
    if fact is None or not 0 <= cited.first_block < cited.end_block <= len(shown.sentences):
        return []
    numbers = shown.sentences[cited.first_block : cited.end_block]
    if not _quotes(cited.cited_text, fact.passage, numbers):
        return []
    quoted = [stretch(fact.passage, run[0], run[-1]) for run in runs(numbers)]
    return [cite(fact, start, end, text) for text in quoted if text]


def cite(fact: Fact, start: int, end: int, cited_text: str) -> Citation:
    """The citation of `cited_text` by the span from `start` to `end` of the answer."""
    passage = fact.passage
    return Citation(
        start=start,
        end=end,
        cited_text=cited_text,
        source=passage.source,
        fact=fact.id,
        course=passage.course,
        lesson=passage.lesson,
        link=passage.link,
    )


def stretch(passage: Passage, first: int, last: int) -> str:
    """The passage's text from sentence `first` to sentence `last`, without outer white space."""
    end = passage.starts[last + 1] if last + 1 < len(passage.starts) else None
    return passage.text.text[passage.starts[first] : end].strip()


def runs(numbers: Sequence[int]) -> list[list[int]]:
    """Consecutive sentence numbers together: only those are one piece of the passage."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][-1] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return found


def _quotes(cited_text: str, passage: Passage, numbers: Sequence[int]) -> bool:
    """Whether the text quoted is in the blocks named; servers differ in the white space between blocks."""
    shown = "".join(passage.sentence(number) for number in numbers)
    return "".join(cited_text.split()) in "".join(shown.split())
