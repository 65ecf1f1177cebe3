"""Finds signs that an answer was led astray: orders in what was shown, and an earlier topic of the conversation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from antiphon.assembler.support import terms_found
from antiphon.language.evidence import TermShares, is_light, rarity_among
from antiphon.language.orders import order_in
from antiphon.language.questions import refers_back, understood
from antiphon.language.words import terms
from antiphon.vocabulary.events import BriefingPrepared
from antiphon.vocabulary.values import Citation, Exchange, Fact, Passage

MOST_ORDERS = 3
"""As many orders are named in the doubts of one answer."""
LEAST_OF_THIS = 0.25
"""An answer that holds less of the question, weighed by rarity, is hardly about it."""
MOST_OF_ANOTHER = 0.5
"""An answer that holds this much of another question may be about that one."""


class Order(NamedTuple):
    """Words in a source that order a model about, and the source."""

    source: str
    words: str


def orders_shown(
    briefing: BriefingPrepared, facts: Mapping[str, Fact]
) -> Iterator[Order]:
    """Yields the orders among the sentences and labels that a call was shown."""
    for row in briefing.sources:
        fact = facts.get(row.fact_id)
        if fact is None:
            continue
        passage = fact.passage
        # In a tool's JSON everything stands in quotation marks.
        may_quote = not passage.text.text.lstrip().startswith(("{", "["))
        for text in (
            passage.source,
            passage.title or "",
            *_shown(passage, row.sentences),
        ):
            if words := order_in(text, may_quote=may_quote):
                yield Order(passage.source, words)


def _shown(passage: Passage, numbers: Sequence[int]) -> Iterator[str]:
    for number in numbers:
        yield passage.sentence(number)


def earlier_topic(
    question: str,
    history: Sequence[Exchange],
    answer: str,
    citations: Sequence[Citation],
    facts: Mapping[str, Fact],
) -> str | None:
    """Returns the earlier question that the answer seems to be about, rather than this one; None where it is not so."""
    if not history:
        return None
    held = _terms_of_answer(answer, citations)
    rows = list(terms_found(facts))

    def share(asked: str, found: frozenset[str]) -> float:
        telling = [term for term in terms(asked) if not is_light(term)]
        return TermShares(rarity_among(telling, rows)).share(found)

    earlier = list(history)
    in_last_answer: frozenset[str] = frozenset()
    if refers_back(question):
        # What it refers to is the last question, or something that its answer named.
        in_last_answer = frozenset(terms(earlier.pop().answer))
    if share(understood(question, history), held) >= LEAST_OF_THIS:
        return None
    for exchange in reversed(earlier):
        if share(exchange.question, in_last_answer) >= MOST_OF_ANOTHER:
            continue
        if share(exchange.question, held) >= MOST_OF_ANOTHER:
            return exchange.question
    return None


def _terms_of_answer(answer: str, citations: Sequence[Citation]) -> frozenset[str]:
    held = frozenset(terms(answer))
    for citation in citations:
        held |= frozenset(terms(f"{citation.source} {citation.cited_text}"))
    return held
