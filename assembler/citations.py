"""Traces a reply's citations back to recorded evidence, character for character."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from antiphon.language.answer_text import AnswerText
from antiphon.vocabulary.values import (
    Citation,
    Fact,
    Passage,
    ReplyCitation,
    ShownSource,
)


class Resolved(NamedTuple):
    """The citations that lead to evidence, in order of the answer, and the number of those that do not."""

    citations: tuple[Citation, ...]
    unresolved: int


def resolve(
    cited: Sequence[ReplyCitation],
    answer: AnswerText,
    table: Sequence[ShownSource],
    facts: Mapping[str, Fact],
) -> Resolved:
    """Resolves `cited` against the `table` of the very request that the reply answers.

    A citation that does not resolve is counted and left out: one that names a source, block or span of the answer
    which does not exist, or quotes words that were not in that block. Citations in text that is not part of the answer
    are ignored.
    """
    resolved: dict[
        Citation, None
    ] = {}  # a dictionary, because it keeps each once and in order
    unresolved = 0
    for citation in cited:
        if answer.leaves_out(citation):
            continue
        found = _resolve_one(citation, answer, table, facts)
        if not found:
            unresolved += 1
        resolved.update(dict.fromkeys(found))
    ordered = sorted(resolved, key=lambda citation: (citation.start, citation.end))
    return Resolved(tuple(ordered), unresolved)


def _resolve_one(
    cited: ReplyCitation,
    answer: AnswerText,
    table: Sequence[ShownSource],
    facts: Mapping[str, Fact],
) -> list[Citation]:
    """Returns one citation for each quoted piece of the passage; none if the citation does not resolve."""
    # The model's offsets count in its whole text, ours in the part of it that is the answer.
    start = answer.place_of(cited.start)
    end = answer.place_of(cited.end)
    if start >= end:
        return []
    numbers = _cited_sentences(cited, table)
    if not numbers:
        return []
    fact = facts.get(table[cited.source].fact_id)
    if fact is None or not _quotes(cited.cited_text, fact.passage, numbers):
        return []
    citations: list[Citation] = []
    for run in runs(numbers):
        text = stretch(fact.passage, run[0], run[-1])
        if text:
            citations.append(cite(fact, start, end, text, fact.passage.starts[run[0]]))
    return citations


def _cited_sentences(
    cited: ReplyCitation, table: Sequence[ShownSource]
) -> tuple[int, ...]:
    """Returns the numbers of the sentences that a citation names; none if the request had no such blocks."""
    # Every index comes from the model's server, and a negative one would silently count from the end.
    if not 0 <= cited.source < len(table):
        return ()
    shown = table[cited.source].sentences
    if not 0 <= cited.first_block < cited.end_block <= len(shown):
        return ()
    # Blocks count only the sentences in the request, which may leave out some of the passage.
    return shown[cited.first_block : cited.end_block]


def cite(fact: Fact, start: int, end: int, cited_text: str, at: int) -> Citation:
    """Builds a citation: the answer from `start` to `end` cites `cited_text`, at character `at` of the passage."""
    passage = fact.passage
    place = None
    link = passage.link
    found = passage.place_at(at)
    if found is not None:
        place = found.name
        link = found.link or link
    return Citation(
        start=start,
        end=end,
        cited_text=cited_text,
        source=passage.source,
        fact=fact.id,
        course=passage.course,
        lesson=passage.lesson,
        link=link,
        place=place,
    )


def stretch(passage: Passage, first: int, last: int) -> str:
    """Returns the passage's text from sentence `first` to sentence `last`, without outer white space."""
    end = passage.starts[last + 1] if last + 1 < len(passage.starts) else None
    return passage.text.text[passage.starts[first] : end].strip()


def runs(numbers: Sequence[int]) -> list[list[int]]:
    """Groups consecutive sentence numbers: only those are one piece of the passage."""
    groups: list[list[int]] = []
    for number in numbers:
        if groups and number == groups[-1][-1] + 1:
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups


def _quotes(cited_text: str, passage: Passage, numbers: Sequence[int]) -> bool:
    """Returns True if the quoted text is in the named blocks."""
    # Servers differ in the white space that they put between blocks.
    shown = "".join(map(passage.sentence, numbers))
    return "".join(cited_text.split()) in "".join(shown.split())
