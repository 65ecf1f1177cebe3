"""Finds signs that an answer was led astray: by orders in its sources, sources that disagree, or an earlier topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from antiphon.assembler.support import terms_found
from antiphon.language.contradiction import contradict, statement
from antiphon.language.evidence import TermShares, is_light, rarity_among
from antiphon.language.orders import advert_in, order_in
from antiphon.language.questions import refers_back, understood
from antiphon.language.words import sentence_terms, terms
from antiphon.vocabulary.events import BriefingPrepared
from antiphon.vocabulary.values import Citation, Exchange, Fact, Passage

MOST_ORDERS = 3
"""The most orders that the doubts of one answer name."""
MOST_CONTRADICTIONS = 3
MOST_CITED = 50
MOST_FOUND = 400
"""At most this many found sentences are compared with those of at most MOST_CITED citations."""
LEAST_FOLLOWED = 1 / 3
"""An answer that holds at least this share of what only an advertisement says has followed it."""
LEAST_OF_THIS = 0.25
"""An answer that holds less than this share of the question's terms, weighed by rarity, is hardly about it."""
MOST_OF_ANOTHER = 0.5
"""An answer that holds at least this share of another question's terms may be about that one."""


class Order(NamedTuple):
    """Words in a source that order a model about, and the source."""

    source: str
    words: str


def orders_shown(
    briefing: BriefingPrepared, facts: Mapping[str, Fact]
) -> Iterator[Order]:
    """Yields the orders among the sentences and labels in a call's briefing."""
    for passage, text in _texts_shown(briefing, facts):
        # An order in quotation marks is usually only quoted, but in a tool's JSON everything is in them.
        may_quote = not passage.text.text.lstrip().startswith(("{", "["))
        if words := order_in(text, may_quote=may_quote):
            yield Order(passage.source, words)


def adverts_followed(
    briefing: BriefingPrepared, facts: Mapping[str, Fact], question: str, answer: str
) -> Iterator[Order]:
    """Yields the advertisements in a call's briefing if the answer holds words that only they contain."""
    shown = list(_texts_shown(briefing, facts))
    adverts = [text for _, text in shown if advert_in(text)]
    # Most sources advertise nothing: then the terms of all the others need not be gathered.
    if not adverts:
        return
    elsewhere = set(terms(question))
    for _, text in shown:
        if text not in adverts:
            elsewhere |= sentence_terms(text)
    said = frozenset(terms(answer))
    for passage, text in shown:
        own = sentence_terms(text) - elsewhere
        words = advert_in(text)
        if words and own and len(own & said) >= LEAST_FOLLOWED * len(own):
            yield Order(passage.source, words)


def _texts_shown(
    briefing: BriefingPrepared, facts: Mapping[str, Fact]
) -> Iterator[tuple[Passage, str]]:
    """Yields the labels and sentences in a call's briefing, each with its passage."""
    for row in briefing.sources:
        fact = facts.get(row.fact_id)
        if fact is None:
            continue
        passage = fact.passage
        yield passage, passage.source
        yield passage, passage.title or ""
        for number in row.sentences:
            yield passage, passage.sentence(number)


class Contradiction(NamedTuple):
    """A cited sentence, and one of another source that says something else about the same subject."""

    cited: str
    source: str
    other: str
    other_source: str
    other_fact: str


def contradictions(
    citations: Sequence[Citation], facts: Mapping[str, Fact]
) -> list[Contradiction]:
    """Returns the found sentences that contradict cited ones, at most one for each cited sentence."""
    found = list(islice(_sentences_of(facts.values()), MOST_FOUND))
    contradicted: dict[str, Contradiction] = {}
    for citation in citations[:MOST_CITED]:
        for cited in _sentences_of([facts[citation.fact]]):
            if cited.text in contradicted or cited.text not in citation.cited_text:
                continue
            other = _contradicting(cited, found)
            if other is not None:
                contradicted[cited.text] = Contradiction(
                    cited.text, citation.source, other.text, other.source, other.fact
                )
    return list(contradicted.values())[:MOST_CONTRADICTIONS]


class _Sentence(NamedTuple):
    text: str
    source: str
    fact: str
    terms: frozenset[str]


def _sentences_of(facts: Iterable[Fact]) -> Iterator[_Sentence]:
    for fact in facts:
        passage = fact.passage
        for number in range(len(passage.starts)):
            text = passage.sentence(number).strip()
            yield _Sentence(text, passage.source, fact.id, sentence_terms(text))


def _contradicting(cited: _Sentence, found: Iterable[_Sentence]) -> _Sentence | None:
    """Returns the first sentence of another source that contradicts the cited one."""
    for other in found:
        # Cheap test first: most sentences are about something else, and share hardly a term with the cited one.
        if len(cited.terms & other.terms) < 2 or other.source == cited.source:
            continue
        if contradict(statement(cited.text), statement(other.text)):
            return other
    return None


def earlier_topic(
    question: str,
    history: Sequence[Exchange],
    answer: str,
    citations: Sequence[Citation],
    facts: Mapping[str, Fact],
) -> str | None:
    """Returns the earlier question that the answer seems to be about, rather than this one; None if there is none."""
    if not history:
        return None
    held = _terms_of_answer(answer, citations)
    rows = list(terms_found(facts))

    def share(asked: str, found: frozenset[str]) -> float:
        # Rarity among what was found decides: a word that is in every passage says nothing about the topic.
        telling = [term for term in terms(asked) if not is_light(term)]
        return TermShares(rarity_among(telling, rows)).share(found)

    earlier = list(history)
    in_last_answer: frozenset[str] = frozenset()
    if refers_back(question):
        # The question refers to the last one, or to something in its answer: an answer about that is no mistake.
        in_last_answer = frozenset(terms(earlier.pop().answer))
    if share(understood(question, history), held) >= LEAST_OF_THIS:
        return None
    for exchange in reversed(earlier):
        # A question that refers back may well mean what the last answer said of this topic.
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
