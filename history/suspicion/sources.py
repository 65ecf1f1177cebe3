"""Finds faults in the material: orders to the model, stale data, contradictions, and sentences the answer relies on."""

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
"""Data up to this age counts as fresh: courses often write about a term that long before it."""
OLD_DAYS = 3 * 365
"""Data of this age or older counts as completely stale."""
MOST_STATEMENTS = 150
"""Most cited sentences to compare with all found ones."""
MOST_RELIED_ON = 3

_DATED = re.compile(
    r"\b(as[_ ]of|(?:last[_ ])?(?:updated|modified|changed|synced|refreshed|checked)(?:[_ ]?(?:at|on))?"
    r"|(?:fetched|retrieved|generated|cached|exported|published|snapshot)(?:[_ ]?(?:at|on|from))?"
    r"|valid[_ ](?:until|to|through)|expires?(?:[_ ]?(?:at|on))?|timestamp)"
    r"[\"']?\s*[:=]?\s*[\"']?(\d{4})-(\d{2})(?:-(\d{2}))?",
    re.IGNORECASE,
)
"""A date that data gives as its own, in JSON or in a sentence."""
_STALE = re.compile(
    r"\b(?:stale|outdated|out of date|superseded|no longer (?:valid|current|maintained|up to date)|cached copy"
    r"|last known (?:value|state))\b",
    re.IGNORECASE,
)

_OF_ORDERS = sentence_terms(
    "ignore disregard forget override previous prior instructions rules prompt system say answer reply respond must"
)
"""The words in which orders are given, as opposed to their content."""


def orders(reading: Reading) -> Iterator[Finding]:
    """Yields passages with orders to the model, at the events that brought them."""
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
    """Returns True if the answer contains words of the order that are not words of the question."""
    if reading.response is None:
        return False
    own = sentence_terms(order) - sentence_terms(reading.question) - _OF_ORDERS
    return not own.isdisjoint(terms(reading.response.answer))


def _orders_in(passage: Passage) -> Iterator[tuple[str, str]]:
    """Yields the sentences and labels of a passage that contain an order, each with the order's words."""
    # In a tool's JSON all texts are in quotation marks, which therefore do not mean a quotation.
    may_quote = not passage.text.text.lstrip().startswith(("{", "["))
    texts = [passage.sentence(number) for number in range(len(passage.starts))]
    for text in (*texts, passage.source, passage.title or ""):
        if words_of_order := order_in(text, may_quote=may_quote):
            yield text, words_of_order


def stale_data(reading: Reading) -> Iterator[Finding]:
    """Yields the results of tools that give their own age and are old."""
    asked_on = _day_of(reading)
    for search in reading.searches:
        name = search.found.event.name
        for passage in search.found.event.passages:
            # Courses may mention dates and stale caches; only tools' statements about their own data count.
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
    """Returns the day of the question; the earliest day if a trace from elsewhere has an impossible time."""
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
    """Yields found sentences that contradict one on which the answer relies."""
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
    # A cheap check first, because most sentences are about different things.
    if len(one.terms & other.terms) < 2:
        return False
    if one.fact.passage.source == other.fact.passage.source:
        return False
    return contradict(statement(one.text), statement(other.text))


def relied_on(reading: Reading) -> Iterator[Finding]:
    """Yields the sentences on which the answer relies: if all else is well, one of them or its document is wrong."""
    by_text: dict[str, tuple[Citation, SentenceFound]] = {}
    for citation, sentence in _relied_on(reading):
        by_text.setdefault(sentence.text, (citation, sentence))
    # The most direct answer to the question comes first: if the answer was wrong, then it was.
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
    """Returns the citations, each with the cited sentence and its fact."""
    found: list[tuple[Citation, SentenceFound]] = []
    if reading.response is None:
        return found
    for citation in reading.response.citations:
        fact = reading.facts.get(citation.fact)
        if fact is not None:
            found.append((citation, SentenceFound(fact, citation.cited_text)))
    return found
