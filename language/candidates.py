"""Reads passages against a question, as candidates for excerpts; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from antiphon.language.evidence import TermShares
from antiphon.language.ranking import OWN_TERMS_WEIGHT, Forms
from antiphon.language.words import terms

MAX_SENTENCES = 2000


class Sentence(NamedTuple):
    """A candidate sentence.

    Attributes:
        number: Its place in its passage, from 0.
        terms: The question's terms that it holds.
        chars: Its length, without white space around it.
        added: The share of its score from its own words and its form.
        is_repeated: An earlier passage holds it too, as overlapping chunks do.
    """

    number: int
    terms: frozenset[str]
    text: str
    chars: int
    added: float
    is_repeated: bool


class Passage(NamedTuple):
    """One passage, read against the question.

    Attributes:
        of_title: The question's terms in its title.
    """

    sentences: list[Sentence]
    of_title: frozenset[str]


def read_passages(
    question: str,
    shares: TermShares,
    passages: Sequence[Sequence[str]],
    titles: Sequence[str],
) -> list[Passage]:
    """Reads the passages, at most `MAX_SENTENCES` sentences of all together."""
    forms = Forms(question, shares)
    read: list[Passage] = []
    seen: set[str] = set()
    room = MAX_SENTENCES
    for at, passage in enumerate(passages):
        of_title = shares.held(terms(titles[at])) if at < len(titles) else frozenset()
        sentences: list[Sentence] = []
        for number, sentence in enumerate(passage[:room]):
            text = sentence.strip()
            stems = terms(text)
            held = shares.held(stems)
            own = OWN_TERMS_WEIGHT * shares.share(held)
            sentences.append(
                Sentence(
                    number=number,
                    terms=held,
                    text=text,
                    chars=len(text),
                    added=own + forms.score(text, stems),
                    is_repeated=text in seen,
                )
            )
            seen.add(text)
        room -= len(sentences)
        read.append(Passage(sentences, of_title))
    return read
