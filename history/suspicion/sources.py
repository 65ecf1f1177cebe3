"""Finds what is wrong with the material: orders to the model, stale data, contradictions, and what is relied on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from itertools import product
from typing import NamedTuple

from antiphon.history.suspicion.reading import (
    READ_CHARS,
    Finding,
    Reading,
    SentenceFound,
    quoted,
)
from antiphon.language.evidence import is_light
from antiphon.language.orders import order_in
from antiphon.language.questions import NUMBER_WORDS
from antiphon.language.words import sentence_terms, terms, words
from antiphon.vocabulary.values import Citation, Passage

FRESH_DAYS = 90
"""Data of that age is taken for fresh: what a course says of a term is often written that long before."""
OLD_DAYS = 3 * 365
"""Data of that age and older is as stale as can be."""
SAME_SUBJECT = 0.5
"""Two sentences that share so much of their telling terms speak of the same thing."""
MOST_STATEMENTS = 150
"""As many sentences with numbers are compared with one another."""
MOST_RELIED_ON = 3

_DATED = re.compile(
    r"\b(as[_ ]of|(?:last[_ ])?(?:updated|modified|changed|synced|refreshed|checked)(?:[_ ]?(?:at|on))?"
    r"|(?:fetched|retrieved|generated|cached|exported|published|snapshot)(?:[_ ]?(?:at|on|from))?"
    r"|valid[_ ](?:until|to|through)|expires?(?:[_ ]?(?:at|on))?|timestamp)"
    r"[\"']?\s*[:=]?\s*[\"']?(\d{4})-(\d{2})(?:-(\d{2}))?",
    re.IGNORECASE,
)
"""A date by which data says how old it is, in JSON or in a sentence."""
_STALE = re.compile(
    r"\b(?:stale|outdated|out of date|superseded|no longer (?:valid|current|maintained|up to date)|cached copy"
    r"|last known (?:value|state))\b",
    re.IGNORECASE,
)

_OF_ORDERS = sentence_terms(
    "ignore disregard forget override previous prior instructions rules prompt system say answer reply respond must"
)
"""The words in which orders are given, rather than what they order."""


def orders(reading: Reading) -> Iterator[Finding]:
    """Yields the passages in which a model is given orders, where they came in."""
    shown = {sentence.text for sentence in reading.shown}
    for search in reading.searches:
        for passage in search.found.event.passages:
            for text, order in _orders_in(passage):
                happened, share = "The call that answered was not shown it.", 0.0
                if _is_obeyed(reading, order):
                    happened, share = "The answer repeats words of it.", 1.0
                elif text in shown:
                    happened, share = "It was shown to the model.", 0.5
                sentence = f"{quoted(passage.source)} gives orders to the model: {quoted(order)} {happened}"
                yield Finding(
                    "instruction_in_source", sentence, search.found.seq, share
                )


def _is_obeyed(reading: Reading, order: str) -> bool:
    """Returns True if the answer holds words of the order that are no words of the question."""
    if reading.response is None:
        return False
    own = sentence_terms(order) - sentence_terms(reading.question) - _OF_ORDERS
    return not own.isdisjoint(terms(reading.response.answer))


def _orders_in(passage: Passage) -> Iterator[tuple[str, str]]:
    """Yields the sentences and labels of a passage that hold an order, each with its words."""
    # In a tool's JSON everything stands in quotation marks.
    may_quote = not passage.text.text.lstrip().startswith(("{", "["))
    texts = [passage.sentence(number) for number in range(len(passage.starts))]
    for text in (*texts, passage.source, passage.title or ""):
        if words_of_order := order_in(text, may_quote=may_quote):
            yield text, words_of_order


def stale_data(reading: Reading) -> Iterator[Finding]:
    """Yields the results of tools that say themselves how old they are, and are old."""
    asked_on = _day_of(reading)
    for search in reading.searches:
        name = search.found.event.name
        for passage in search.found.event.passages:
            # A course speaks of dates and of stale caches: only what tools say of their own data is meant.
            if passage.kind != "text":
                continue
            text = passage.text.text[:READ_CHARS]
            if old := _oldest(text, asked_on):
                dated, days = old
                said = f"What {name} brought dates itself: {quoted(dated)}, {_age(days)} before the question."
                yield Finding("stale_data", said, search.found.seq, days / OLD_DAYS)
            elif said_so := _STALE.search(text):
                said = f"What {name} brought says of itself that it is {quoted(said_so.group())}."
                yield Finding("stale_data", said, search.found.seq, 0.7)


def _day_of(reading: Reading) -> date:
    """Returns the day on which the question was asked; a trace from elsewhere may hold one that no calendar knows."""
    for recorded in reading.events:
        try:
            return datetime.fromtimestamp(recorded.at, UTC).date()
        except (OverflowError, ValueError, OSError):
            break
    return date.min


def _oldest(text: str, asked_on: date) -> tuple[str, int] | None:
    """Returns the words of the oldest date that is not fresh, and its age in days."""
    oldest: tuple[str, int] | None = None
    for found in _DATED.finditer(text):
        _, year, month, day = found.groups()
        try:
            dated = date(int(year), int(month), int(day or 1))
        except ValueError:
            continue
        days = (asked_on - dated).days
        if days > FRESH_DAYS and (oldest is None or days > oldest[1]):
            oldest = (found.group(), days)
    return oldest


def _age(days: int) -> str:
    if days < 2 * 365:
        return f"{days} days"
    return f"{days / 365.25:.1f} years"


class _Statement(NamedTuple):
    """A sentence that gives numbers: these, and the telling terms that say of what."""

    sentence: SentenceFound
    numbers: frozenset[str]
    subject: frozenset[str]


def contradictions(reading: Reading) -> Iterator[Finding]:
    """Yields what was found beside what the answer relies on, and gives another number for the same thing."""
    relied_on = [sentence for _, sentence in _relied_on(reading)] or reading.shown
    others = _statements(reading.sentences)
    seen: set[str] = set()
    for one, other in product(_statements(relied_on), others):
        if other.sentence.text in seen or not _contradict(one, other):
            continue
        seen.add(other.sentence.text)
        text = f"{_said(one.sentence)}, and {_said(other.sentence)}."
        yield Finding("contradiction", text, reading.found_seq(other.sentence))


def _said(sentence: SentenceFound) -> str:
    return f"{quoted(sentence.fact.passage.source)} says {quoted(sentence.text)}"


def _statements(sentences: Sequence[SentenceFound]) -> list[_Statement]:
    """Returns the sentences that give numbers, as far as they are compared."""
    found: list[_Statement] = []
    for sentence in sentences:
        numbers, subject = _numbers(sentence.text), _subject(sentence)
        if numbers and len(subject) > 1:
            found.append(_Statement(sentence, numbers, subject))
    return found[:MOST_STATEMENTS]


def _contradict(one: _Statement, other: _Statement) -> bool:
    """Returns True for two sentences on the same subject that give different numbers, and none of the same."""
    if one.sentence.fact.id == other.sentence.fact.id or one.numbers & other.numbers:
        return False
    shared = len(one.subject & other.subject)
    return shared >= SAME_SUBJECT * len(one.subject | other.subject)


def _subject(sentence: SentenceFound) -> frozenset[str]:
    telling: set[str] = set()
    for term in sentence.terms:
        if not term.isdigit() and term not in NUMBER_WORDS and not is_light(term):
            telling.add(term)
    return frozenset(telling)


def _numbers(text: str) -> frozenset[str]:
    found: set[str] = set()
    for word in words(text[:READ_CHARS]):
        # "One" is an article more often than a number.
        if word in NUMBER_WORDS and word != "one":
            found.add(str(NUMBER_WORDS[word]))
        elif word.replace(".", "").isdigit():
            found.add(word)
    return frozenset(found)


def relied_on(reading: Reading) -> Iterator[Finding]:
    """Yields the sentences that the answer rests on: where all else is well, one of them is wrong, or its document."""
    by_text: dict[str, tuple[Citation, SentenceFound]] = {}
    for citation, sentence in _relied_on(reading):
        by_text.setdefault(sentence.text, (citation, sentence))
    # What answers the question most directly comes first: that is what was wrong, if the answer was.
    ranked = sorted(
        by_text.values(),
        key=lambda pair: reading.asked.share(pair[1].terms),
        reverse=True,
    )
    for citation, sentence in ranked[:MOST_RELIED_ON]:
        text = (
            f"The answer relies on {quoted(sentence.text)} in {quoted(citation.source)}: "
            "if that is wrong, the document is."
        )
        seq = reading.found_seq(sentence)
        if seq:
            share = reading.asked.share(sentence.terms)
            yield Finding("relied_on", text, seq, share)


def _relied_on(reading: Reading) -> Sequence[tuple[Citation, SentenceFound]]:
    """Returns what is cited, each citation with its words and their fact."""
    found: list[tuple[Citation, SentenceFound]] = []
    if reading.response is None:
        return found
    for citation in reading.response.citations:
        fact = reading.facts.get(citation.fact)
        if fact is not None:
            found.append((citation, SentenceFound(fact, citation.cited_text)))
    return found
