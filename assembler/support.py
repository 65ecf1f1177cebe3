"""Finds what an answer says without support: claims that their own citations do not bear out, and uncited sentences.

Words are compared, not meanings: a claim in quite other words than its source's is doubted, and a claim in the source's
words that says the opposite is not. Numbers and names must stand in the source as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from antiphon.assembler.lost_support import FEWEST_TERMS, READ_CHARS, uncited_sentences
from antiphon.language.evidence import (
    TermShares,
    is_light,
    rarity_among,
)
from antiphon.language.questions import NUMBER_WORDS
from antiphon.language.words import is_english, sentence_terms, terms, words
from antiphon.vocabulary.values import Citation, Fact

LEAST_SHARED = 0.15
"""A cited claim shares at least this much of its terms, weighed by rarity, with the text that it cites."""
LEAST_FOUND = 1 / 3
"""Of an uncited sentence this share of its terms stands somewhere in what was found, or in the conversation."""
MOST_NAMED = 3
"""As many sentences are named in the doubts of one answer."""

_NUMBER = re.compile(r"\d[\d,.]*")
_ITEM = re.compile(r"^[^\S\n]*(?:\d{1,3}[.)]|[-*+])\s+", re.MULTILINE)
_ASIDE = re.compile(r"\([^()]*\)")
"""What stands in parentheses is often the same in other units, such as 22 °C (72 °F)."""
_NAME = re.compile(r"(?<=[\w,;] )[A-Z][\w-]+(?: [A-Z][\w-]*)*")
_ACRONYM = re.compile(r"[A-Z]{2,6}s?")
_OWN_WORDS = re.compile(
    r"\W*(?:for (?:example|instance)|imagine|suppose|say,|let me know|feel free|if you(?:'d| would) like|i can)\b",
    re.IGNORECASE,
)
"""The beginning of an example of the model's own, or of an offer."""


class Unsupported(NamedTuple):
    """A claim of the answer, and why it is taken for unsupported."""

    claim: str
    why: str


class Evidence:
    """Texts that a claim may rest on, read as far as a check needs."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset[str]().union(*[sentence_terms(text) for text in self._texts])

    @cached_property
    def numbers(self) -> frozenset[str]:
        found: set[str] = set()
        for text in self._texts:
            found |= _numbers(text)
        # "Seven days" bears out "7 days".
        for word in self._words:
            if word in NUMBER_WORDS:
                found.add(str(NUMBER_WORDS[word]))
        return frozenset(found)

    def holds_name(self, name: str) -> bool:
        """Returns True if any word of the name stands there, or the name in short or in full."""
        held = frozenset(terms(name))
        if not held or not held.isdisjoint(self.terms):
            return True
        if _ACRONYM.fullmatch(name):
            return name.rstrip("s").lower() in "".join(
                [word[0] for word in self._words]
            )
        return "".join([word[0] for word in words(name)]) in self._words

    @cached_property
    def _words(self) -> list[str]:
        return list(chain.from_iterable(map(words, self._texts)))


def unsupported_citations(
    answer: str, citations: Sequence[Citation], facts: Mapping[str, Fact], question: str
) -> list[Unsupported]:
    """Returns the claims that do not rest on what they cite, in order.

    Args:
        question: Its own numbers and names may be repeated by any claim.
    """
    own_words = _in_own_words(answer, citations)
    # Most claims of an extract are its very words: only for others are the words of all that was found looked at.
    if not own_words:
        return []
    labels = [fact.passage.source for fact in facts.values()]
    rarity = rarity_among(sentence_terms(answer), terms_found(facts))
    found: list[Unsupported] = []
    for claim, cited in own_words:
        passages = [facts[citation.fact].passage.text.text for citation in cited]
        evidence = Evidence([*passages, *labels, question])
        why = _why_not_cited(claim, cited, rarity) or _what_is_missing(claim, evidence)
        if why:
            found.append(Unsupported(claim, why))
    return found[:MOST_NAMED]


def _in_own_words(
    answer: str, citations: Sequence[Citation]
) -> list[tuple[str, list[Citation]]]:
    """Returns the cited claims that are no quotation of what they cite, each with its citations."""
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
    """Returns the text without white space, and without the marks by which a quotation is emphasised."""
    return "".join(text.split()).replace("**", "")


def unsupported_sentences(
    answer: str,
    citations: Sequence[Citation],
    facts: Mapping[str, Fact],
    said: Sequence[str],
) -> list[Unsupported]:
    """Returns the sentences that cite nothing, and that nothing found bears out, in order.

    Args:
        said: The question and the conversation, which a sentence may repeat.
    """
    known = Evidence([*said, *_texts(facts)])
    found: list[Unsupported] = []
    for sentence in uncited_sentences(answer[:READ_CHARS], citations):
        if _states_nothing(sentence):
            continue
        why = _why_not_found(sentence, known) or _what_is_missing(sentence, known)
        if why:
            found.append(Unsupported(sentence, why))
    return found[:MOST_NAMED]


def _texts(facts: Mapping[str, Fact]) -> Iterator[str]:
    """Yields the sentences of every fact, and what it stands under."""
    for fact in facts.values():
        passage = fact.passage
        yield f"{passage.source} {passage.title or ''}"
        for number in range(len(passage.starts)):
            yield passage.sentence(number)


def terms_found(facts: Mapping[str, Fact]) -> Iterator[frozenset[str]]:
    """Yields the terms of each sentence of every fact, and of what it stands under."""
    for text in _texts(facts):
        yield sentence_terms(text)


def _states_nothing(sentence: str) -> bool:
    """Returns True for a lead-in, a question, an offer, or an example of the model's own."""
    text = sentence.strip().rstrip("*_ ")
    return text.endswith((":", "?")) or _OWN_WORDS.match(text) is not None


def _why_not_cited(
    claim: str, cited: Sequence[Citation], rarity: Mapping[str, float]
) -> str:
    """Returns why the claim is not about what it cites; empty where it is, or where that cannot be told."""
    weights = {
        term: rarity.get(term, 0.0) for term in terms(claim) if not is_light(term)
    }
    # One word may be put in another, and words of two languages cannot be compared.
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


def _what_is_missing(claim: str, evidence: Evidence) -> str:
    """Returns the first number or name of the claim that the evidence lacks, in words; empty where it lacks none."""
    for number in sorted(_numbers(_ASIDE.sub(" ", _ITEM.sub(" ", claim)))):
        if number not in evidence.numbers:
            return f"the number {number} does not stand there"
    # Other languages write more than names with a capital.
    if not is_english(claim):
        return ""
    for name in _NAME.findall(claim):
        if not evidence.holds_name(name):
            return f"the name {name} does not stand there"
    return ""


def _numbers(text: str) -> set[str]:
    """Returns the numbers of the text, without the commas between thousands."""
    written = _NUMBER.findall(text)
    return {number.rstrip(".,").replace(",", "") for number in written}
