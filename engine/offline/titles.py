"""Finds known titles in a question: in full, in part, as a nickname or misspelt; pure.

A title is found as a run of its words. Whether a run names the title or only shares words with it is decided by what
stands around it: "the reliability course" names one, "how reliable is it" does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rapidfuzz import fuzz, process

from antiphon.language.evidence import is_light
from antiphon.language.words import fold, stem, terms

MOST_TOKENS = 250
_WORD = re.compile(r"\w+(?:\.\w+)*[+#]*")
_HYPHENED = re.compile(r"\w+(?:-\w+){1,3}")
_QUOTES = "\"\u201c\u201d\u2018\u2019'`"
_SENTENCE_END = re.compile(r"[?!;]|\.\s")
_MOST_BETWEEN = 3
"""As many little words may stand between two words of a title, and the title be named all the same."""
_ARTICLES = frozenset(("a", "an", "the"))
_FEWEST_LETTERS = 5
_LONG_WORD = 7
_SAME_SHORT = 80.0
_SAME_LONG = 86.0
"""Misspelt: "retreival" is 89 like "retrieval"; but "practice" is 82 like "practical", and another word."""
_FEWEST_INITIALS = 3
_MOST_INITIALS = 6


class Token(NamedTuple):
    """A word of a question, and where it stands.

    Attributes:
        word: Folded.
        term: Its stem; None for a word that carries no meaning.
    """

    start: int
    end: int
    word: str
    term: str | None


NO_TOKEN = Token(0, 0, "", None)
"""What stands beside the first and the last word."""


class Run(NamedTuple):
    """Neighbouring words of a question that are words of titles.

    Attributes:
        first: The first token.
        last: The last one.
        titles: The titles (by their place in the list) of which the most words are meant; one where it is clear.
        matched: How many words of the title are there.
        full: All of them are.
    """

    first: int
    last: int
    titles: tuple[int, ...]
    matched: int
    full: bool


class Titles:
    """Titles, ready to be found in a question."""

    def __init__(self, titles: Sequence[str]) -> None:
        self._titles = tuple(titles)
        self._terms: list[frozenset[str]] = []
        self._wholes: list[list[frozenset[str]]] = []
        self._written: list[frozenset[str]] = []
        self._ends: list[frozenset[str]] = []
        self._holding: dict[str, list[int]] = {}
        self._initials: dict[str, list[int]] = {}
        self._words: dict[str, str] = {}
        for at, title in enumerate(self._titles):
            self._add(at, title)
        self._spellings = tuple(self._words)

    def _add(self, at: int, title: str) -> None:
        held: list[str] = []
        initials = ""
        tokens = tokens_of(title)
        self._written.append(frozenset([token.word for token in tokens]) | _ARTICLES)
        for token in tokens:
            if token.term is not None:
                held.append(token.term)
                initials += token.word[0]
                self._words.setdefault(token.word, token.term)
        for whole in _HYPHENED.finditer(title):
            # "Multi-Stage" is also written "multistage".
            first, *_ = tokens_of(whole[0])
            if first.term is not None:
                self._words.setdefault(fold(whole[0].replace("-", "")), first.term)
        self._ends.append(frozenset(_pairs(tokens)))
        self._terms.append(frozenset(held))
        wholes = [frozenset(held)]
        # "MCP Servers: Build Rich Apps" is also called by what stands before the colon.
        main = frozenset(terms(title.partition(":")[0]))
        if len(main) > 1:
            wholes.append(main)
        self._wholes.append(wholes)
        for term in dict.fromkeys(held):
            self._holding.setdefault(term, []).append(at)
        for abbreviation in _abbreviations(initials):
            self._initials.setdefault(abbreviation, []).append(at)

    def runs(self, tokens: Sequence[Token]) -> list[Run]:
        """Returns the runs of title words in a question, those of most words first, none in another."""
        meant = [self._meant(token) for token in tokens]
        candidates: dict[int, None] = {}
        for term in meant:
            candidates.update(dict.fromkeys(self._holding.get(term or "", ())))
        found: list[Run] = []
        for title in candidates:
            found += self._runs_of(title, meant, tokens)
        found += self._by_initials(tokens)
        found.sort(key=lambda run: (-run.matched, -run.full, run.first))
        return _apart(found)

    def has_word(self, term: str) -> bool:
        """Returns True for a term of one of the titles."""
        return term in self._holding

    def is_written(self, word: str) -> bool:
        """Returns True for a word that stands in one of the titles as it is written."""
        return word in self._words

    def holding(self, words: Sequence[Token]) -> tuple[int, ...]:
        """Returns the titles that hold all of these words."""
        wanted = {self._meant(token) for token in words if token.term is not None}
        if not wanted or None in wanted:
            return ()
        return tuple([at for at, held in enumerate(self._terms) if wanted <= held])

    def _meant(self, token: Token) -> str | None:
        """Returns the term of the titles that a word stands for; None where it stands for none."""
        if token.term is None or token.term in self._holding:
            return token.term
        near = nearest_word(token.word, self._spellings)
        if near is None:
            return None
        return self._words[near]

    def _runs_of(
        self, title: int, meant: Sequence[str | None], tokens: Sequence[Token]
    ) -> list[Run]:
        wanted = self._terms[title]
        runs: list[Run] = []
        # Where the words of the title stand, in pieces that nothing but little words interrupts.
        piece: list[int] = []
        for at, term in enumerate(meant):
            if term not in wanted:
                continue
            if piece and not self._joined(title, tokens[piece[-1] + 1 : at]):
                runs.append(self._run(title, piece, meant, tokens))
                piece = []
            piece.append(at)
        if piece:
            runs.append(self._run(title, piece, meant, tokens))
        return runs

    def _joined(self, title: int, between: Sequence[Token]) -> bool:
        """Returns True where nothing but little words of the title stands between two of its words.

        A verb such as "uses" begins what is said of it.
        """
        if len(between) > _MOST_BETWEEN:
            return False
        return all(
            token.term is None and token.word in self._written[title]
            for token in between
        )

    def _run(
        self,
        title: int,
        piece: Sequence[int],
        meant: Sequence[str | None],
        tokens: Sequence[Token],
    ) -> Run:
        last = piece[-1]
        # "Computer Use" ends with a word that carries no meaning.
        pair = " ".join([token.word for token in tokens[last : last + 2]])
        if pair in self._ends[title] and tokens[last + 1].term is None:
            last += 1
        held = frozenset([term for at in piece if (term := meant[at]) is not None])
        full = any(held >= whole for whole in self._wholes[title])
        return Run(piece[0], last, (title,), len(held), full)

    def _by_initials(self, tokens: Sequence[Token]) -> list[Run]:
        found: list[Run] = []
        for at, token in enumerate(tokens):
            titles = self._initials.get(token.word, ())
            if titles and token.term not in self._holding:
                found.append(Run(at, at, tuple(titles), 1, full=False))
        return found


def _abbreviations(initials: str) -> Iterable[str]:
    """Returns the initials of a title and of each part of it: "MCP" of "Building with the Model Context Protocol"."""
    found: dict[str, None] = {}
    for first in range(len(initials)):
        for length in range(_FEWEST_INITIALS, _MOST_INITIALS + 1):
            part = initials[first : first + length]
            if len(part) == length:
                found.setdefault(part)
    return found


def _pairs(tokens: Sequence[Token]) -> list[str]:
    """Returns each two words that stand beside one another."""
    behind = tokens[1:]
    return [
        f"{one.word} {other.word}" for one, other in zip(tokens, behind, strict=False)
    ]


def _apart(runs: Iterable[Run]) -> list[Run]:
    """Returns the runs of which none overlaps a better one; equals over the same words become one of several titles."""
    kept: list[Run] = []
    for run in runs:
        rival = _overlapping(run, kept)
        if rival is None:
            kept.append(run)
        elif kept[rival]._replace(titles=run.titles) == run:
            titles = kept[rival].titles + run.titles
            kept[rival] = run._replace(titles=titles)
    return kept


def _overlapping(run: Run, others: Sequence[Run]) -> int | None:
    for at, other in enumerate(others):
        if run.first <= other.last and other.first <= run.last:
            return at
    return None


def nearest_word(word: str, vocabulary: Sequence[str]) -> str | None:
    """Returns the word that another is a misspelling of; None where none is near enough."""
    if len(word) < _FEWEST_LETTERS:
        return None
    least = _SAME_SHORT
    if len(word) >= _LONG_WORD:
        least = _SAME_LONG
    near = process.extractOne(word, vocabulary, scorer=fuzz.ratio, score_cutoff=least)
    # Few people mistake the first letter; many other words differ in it alone.
    if near is None or near[0][0] != word[0]:
        return None
    return str(near[0])


def tokens_of(text: str) -> list[Token]:
    """Returns the words of a text with their places; only a bounded beginning is read."""
    tokens: list[Token] = []
    for found in _WORD.finditer(text):
        if len(tokens) >= MOST_TOKENS:
            break
        word = fold(found[0])
        # What an apostrophe cuts off is no word.
        if word in ("s", "t") and text[found.start() - 1 : found.start()] in (
            "'",
            "\u2019",
        ):
            continue
        term: str | None = None
        if terms(word):
            term = stem(word)
        tokens.append(Token(found.start(), found.end(), word, term))
    return tokens


def is_quoted(text: str, start: int, end: int) -> bool:
    """Returns True where quotation marks stand right around a part of the text."""
    before = text[max(start - 1, 0) : start]
    after = text[end : end + 1]
    return bool(before) and before in _QUOTES and bool(after) and after in _QUOTES


def carries_meaning(token: Token) -> bool:
    """Returns True for a word that says what something is about, rather than how it is put."""
    return token.term is not None and not is_light(token.term)


def ends_between(text: str, start: int, end: int) -> bool:
    """Returns True where a sentence ends between two places."""
    return _SENTENCE_END.search(text, start, end) is not None
