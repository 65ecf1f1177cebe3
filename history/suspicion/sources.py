"""Finds what is wrong with the material: orders to the model, stale data, contradictions, and what is relied on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from itertools import product

from antiphon.history.suspicion.reading import (
    READ_CHARS,
    Finding,
    Reading,
    SentenceFound,
    quoted,
)
from antiphon.language.contradiction import contradict, statement
from antiphon.language.orders import order_in
from antiphon.language.words import sentence_terms, terms
from antiphon.vocabulary.values import Citation, Passage

FRESH_DAYS = 90
"""Data of that age is taken for fresh: what a course says of a term is often written that long before."""
OLD_DAYS = 3 * 365
"""Data of that age and older is as stale as can be."""
MOST_STATEMENTS = 150
"""As many sentences that are relied on are compared with those found."""
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
    # In a tool's JSON everything is in quotation marks.
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


def contradictions(reading: Reading) -> Iterator[Finding]:
    """Yields what was found beside what the answer relies on, and says otherwise of the same thing."""
    relied_on = [sentence for _, sentence in _relied_on(reading)] or reading.shown
    seen: set[str] = set()
    for one, other in product(relied_on[:MOST_STATEMENTS], reading.sentences):
        if other.text in seen or not _contradict(one, other):
            continue
        seen.add(other.text)
        text = f"{_said(one)}, and {_said(other)}."
        yield Finding("contradiction", text, reading.found_seq(other))


def _said(sentence: SentenceFound) -> str:
    return f"{quoted(sentence.fact.passage.source)} says {quoted(sentence.text)}"


def _contradict(one: SentenceFound, other: SentenceFound) -> bool:
    # Most sentences are on something else, and telling that from their terms costs little.
    if len(one.terms & other.terms) < 2:
        return False
    if one.fact.passage.source == other.fact.passage.source:
        return False
    return contradict(statement(one.text), statement(other.text))


def relied_on(reading: Reading) -> Iterator[Finding]:
    """Yields the sentences that the answer rests on: if all else is well, one of them is wrong, or its document."""
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
