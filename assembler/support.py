"""Finds unsupported statements of an answer: claims that their own citations do not bear out, and uncited sentences.

The checks compare words, not meanings: they doubt a claim in words quite unlike its source's, and see that one says
the opposite only by a negator. Numbers and names must be in the source; quantities and dates may be in another
notation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from antiphon.assembler.evidence import Evidence, numbers_in
from antiphon.assembler.lost_support import FEWEST_TERMS, READ_CHARS, uncited_sentences
from antiphon.language.commonness import name_at_start
from antiphon.language.contradiction import denial, statement
from antiphon.language.evidence import (
    TermShares,
    is_light,
    rarity_among,
)
from antiphon.language.quantities import dates_in, quantities_in
from antiphon.language.sentences import sentences
from antiphon.language.words import is_english, sentence_terms, terms
from antiphon.vocabulary.events import RULES
from antiphon.vocabulary.values import Citation, Fact, Passage

READS_QUANTITIES = 4
"""The first version of the rules that compares quantities and dates, sees denials, and looks at whole names."""
LEAST_SHARED = 0.15
"""A cited claim shares at least this much of its terms, weighed by rarity, with the text that it cites."""
LEAST_FOUND = 1 / 3
"""At least this share of an uncited sentence's terms is somewhere in what was found, or in the conversation."""
MOST_NAMED = 3
"""The most sentences that the doubts of one answer name, of each kind."""

_ITEM = re.compile(r"^[^\S\n]*(?:\d{1,3}[.)]|[-*+])\s+", re.MULTILINE)
_ASIDE = re.compile(r"\([^()]*\)")
"""Parentheses often repeat a quantity in other units, such as 22 °C (72 °F), and are not checked."""
_NAME = re.compile(r"(?<=[\w,;] )[A-Z][\w-]+(?: [A-Z][\w-]*)*")
"""Words with a capital within a sentence: at its beginning any word has one."""
_OWN_WORDS = re.compile(
    r"\W*(?:for (?:example|instance)|imagine|suppose|say,|let me know|feel free|if you(?:'d| would) like|i can)\b",
    re.IGNORECASE,
)
"""The beginning of one of the model's own examples, or of an offer."""


class Unsupported(NamedTuple):
    """A claim of the answer, and the reason why it seems unsupported."""

    claim: str
    why: str


def unsupported_citations(
    answer: str,
    citations: Sequence[Citation],
    facts: Mapping[str, Fact],
    question: str,
    rules: int = RULES,
) -> list[Unsupported]:
    """Returns the claims that do not rest on what they cite, in order.

    Args:
        question: Any claim may repeat its numbers and names.
        rules: The version of the rules that decide.
    """
    own_words = _in_own_words(answer, citations)
    # Extracts mostly quote word for word, and then the terms of everything that was found are not needed.
    if not own_words:
        return []
    labels = [fact.passage.source for fact in facts.values()]
    rarity = rarity_among(sentence_terms(answer), terms_found(facts))
    found: list[Unsupported] = []
    for claim, cited in own_words:
        passages = [facts[citation.fact].passage for citation in cited]
        texts = [passage.text.text for passage in passages]
        evidence = Evidence([*texts, *labels, question])
        why = _why_not_cited(claim, cited, rarity)
        if rules >= READS_QUANTITIES:
            why = why or _how_contradicted(claim, cited, passages)
        why = why or _what_is_missing(claim, evidence, rules)
        if why:
            found.append(Unsupported(claim, why))
    return found[:MOST_NAMED]


def _in_own_words(
    answer: str, citations: Sequence[Citation]
) -> list[tuple[str, list[Citation]]]:
    """Returns the cited claims that do not quote their sources word for word, each with its citations."""
    by_span: dict[tuple[int, int], list[Citation]] = {}
    for citation in citations:
        by_span.setdefault((citation.start, citation.end), []).append(citation)
    claims: list[tuple[str, list[Citation]]] = []
    for (start, end), cited in by_span.items():
        claim = answer[start:end]
        quoted = "".join([_letters(citation.cited_text) for citation in cited])
        if _letters(claim) not in quoted:
            claims.append((claim, cited))
    return claims


def _letters(text: str) -> str:
    """Returns the text without white space, and without the Markdown that emphasises words in a quotation."""
    return "".join(text.split()).replace("**", "")


def unsupported_sentences(
    answer: str,
    citations: Sequence[Citation],
    facts: Mapping[str, Fact],
    said: Sequence[str],
    rules: int = RULES,
) -> list[Unsupported]:
    """Returns the sentences that cite nothing and that no finding bears out, in order.

    Args:
        said: The question and the conversation, which a sentence may repeat.
    """
    known = Evidence([*said, *_texts(facts)])
    found: list[Unsupported] = []
    for sentence in uncited_sentences(answer[:READ_CHARS], citations):
        if _states_nothing(sentence):
            continue
        why = _why_not_found(sentence, known)
        why = why or _what_is_missing(sentence, known, rules)
        if why:
            found.append(Unsupported(sentence, why))
    return found[:MOST_NAMED]


def _texts(facts: Mapping[str, Fact]) -> Iterator[str]:
    """Yields the sentences of every fact, and its source and title."""
    for fact in facts.values():
        yield f"{fact.passage.source} {fact.passage.title or ''}"
        yield from _sentences(fact.passage)


def _sentences(passage: Passage) -> Iterator[str]:
    for number in range(len(passage.starts)):
        yield passage.sentence(number)


def terms_found(facts: Mapping[str, Fact]) -> Iterator[frozenset[str]]:
    """Yields the terms of each sentence of every fact, and of its source and title."""
    for text in _texts(facts):
        yield sentence_terms(text)


def _states_nothing(sentence: str) -> bool:
    """Returns True for a lead-in, a question, an offer, or one of the model's own examples."""
    text = sentence.strip().rstrip("*_ ")
    return text.endswith((":", "?")) or _OWN_WORDS.match(text) is not None


def _why_not_cited(
    claim: str, cited: Sequence[Citation], rarity: Mapping[str, float]
) -> str:
    """Returns why the claim is not about what it cites; empty if it is, or if the check cannot tell."""
    weights = {
        term: rarity.get(term, 0.0) for term in terms(claim) if not is_light(term)
    }
    # A single word may well be paraphrased, and words of two languages cannot be compared.
    if len(weights) < 2 or not is_english(claim):
        return ""
    held: frozenset[str] = frozenset()
    for citation in cited:
        held |= frozenset(terms(citation.cited_text))
    if TermShares(weights).share(held) >= LEAST_SHARED:
        return ""
    return "it shares no telling word with it"


def _why_not_found(sentence: str, known: Evidence) -> str:
    telling = [term for term in sentence_terms(sentence) if not is_light(term)]
    if len(telling) < FEWEST_TERMS or not is_english(sentence):
        return ""
    held = known.terms.intersection(telling)
    if len(held) >= LEAST_FOUND * len(telling):
        return ""
    return "most of its words stand nowhere there"


def _how_contradicted(
    claim: str, cited: Sequence[Citation], passages: Sequence[Passage]
) -> str:
    """Returns in words how a claim contradicts what it cites; empty if it does not."""
    quoted = [citation.cited_text for citation in cited]
    if why := _what_differs(_without_asides(claim), Evidence(quoted)):
        return why
    # The rules for negation know English only.
    if not is_english(claim):
        return ""
    rested_on = list(map(statement, chain.from_iterable(map(sentences, quoted))))
    beside = list(map(statement, chain.from_iterable(map(_sentences, passages))))
    for sentence in sentences(claim):
        if denied := denial(statement(sentence), rested_on, beside):
            return f"it says the opposite of “{denied.strip()}”"
    return ""


def _what_differs(stated: str, evidence: Evidence) -> str:
    """Returns in words the first quantity or date for which the evidence holds only others of its kind."""
    for quantity in quantities_in(stated):
        if other := evidence.quantity_instead(quantity):
            return (
                f"“{quantity.written}” does not stand there, but “{other.written}” does"
            )
    for date in dates_in(stated):
        if instead := evidence.date_instead(date):
            return (
                f"“{date.written}” does not stand there, but “{instead.written}” does"
            )
    return ""


def _without_asides(claim: str) -> str:
    return _ASIDE.sub(" ", _ITEM.sub(" ", claim))


def _what_is_missing(claim: str, evidence: Evidence, rules: int) -> str:
    """Returns in words the first number or name of the claim that the evidence lacks; empty if it lacks none."""
    if rules >= READS_QUANTITIES:
        if why := _what_differs(_without_asides(claim), evidence):
            return why
        claim = evidence.without_held(claim)
    for number in sorted(numbers_in(_without_asides(claim))):
        if number not in evidence.numbers:
            return f"the number {number} does not stand there"
    # Names are found by their capitals, which other languages give to other words too.
    if not is_english(claim):
        return ""
    name = _missing_name(claim, evidence, rules)
    return f"the name {name} does not stand there" if name else ""


def _missing_name(claim: str, evidence: Evidence, rules: int) -> str:
    names = _NAME.findall(claim)
    is_held = evidence.holds_name
    if rules >= READS_QUANTITIES:
        names += filter(None, map(name_at_start, sentences(claim)))
        is_held = evidence.holds_whole_name
    for name in names:
        if not is_held(name):
            return str(name)
    return ""
