"""Reads a misspelt word of a question as the word of the courses that it is nearest to; pure."""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz.distance import OSA, Indel

from antiphon.engine.offline.catalogue import Catalogue
from antiphon.engine.offline.task import Source
from antiphon.engine.offline.titles import Token, nearest_word, tokens_of
from antiphon.language.asking import QUESTION_WORDS
from antiphon.language.commonness import is_common, spelt_alike
from antiphon.language.evidence import Weigh, is_unknown
from antiphon.language.tongues import ENGLISH, tongue_of
from antiphon.language.words import stem, terms, words

MOST_WORDS = 20_000
_SHORTEST = 3
_LONG = 5
_LONGER = 6
_SHORT_WORDS = [
    "have",
    "how",
    "link",
    "list",
    "many",
    "the",
    "what",
    "when",
    "where",
    "which",
    "who",
    "why",
    "with",
]
"""Most words as short as these are near to one another, so that only these are meant by a misspelt one."""
_LONG_WORDS = sorted([word for word in QUESTION_WORDS if len(word) >= _LONG])


def corrected(
    question: str, weigh: Weigh, catalogue: Catalogue, sources: Iterable[Source]
) -> str:
    """Returns the question with each word that no passage holds as the nearest one of titles and of what was found.

    A word that is near to none stays: it is a name that the courses do not know, which tells much. In another language
    no word is misspelt for being unknown.
    """
    if tongue_of(question) is not ENGLISH:
        return question
    vocabulary = _vocabulary(catalogue, sources)
    # A title is known by its longer words, and its shorter ones by the title.
    for _ in range(2):
        question = _corrected(question, weigh, catalogue, vocabulary)
    return question


def _corrected(
    question: str, weigh: Weigh, catalogue: Catalogue, vocabulary: tuple[str, ...]
) -> str:
    telling = _telling(question)
    unknown = [token for token in telling if is_unknown(token.term or "", weigh)]
    named: list[str] = []
    if unknown:
        named = _words_of_titles(question, catalogue)
    text = question
    # From the end, so that the places of those before stay right.
    for token in reversed(telling):
        # Each look reads the whole vocabulary, so only the one that is wanted is taken.
        near = (
            _meant(token, question, named, vocabulary)
            if token in unknown
            else _of_same_stem(token, vocabulary)
        )
        if near is not None:
            text = text[: token.start] + near + text[token.end :]
    return text


def _telling(question: str) -> list[Token]:
    """Returns the words that say what the question is about."""
    telling: list[Token] = []
    for token in tokens_of(question):
        if token.term is not None and token.word not in QUESTION_WORDS:
            telling.append(token)
    return telling


def _of_same_stem(token: Token, vocabulary: tuple[str, ...]) -> str | None:
    """Returns the word that is misspelt at its end: by its stem "convergance" is known, but not by its meaning."""
    word = token.word
    if len(word) < _LONGER or word in vocabulary or word in spelt_alike(word):
        return None
    return _slip(word, [each for each in vocabulary if stem(each) == token.term])


def _meant(
    token: Token, question: str, named: Iterable[str], vocabulary: tuple[str, ...]
) -> str | None:
    """Returns the word that is misspelt: of the titles named, of questions, of the courses, of English; or None."""
    return (
        _slip(token.word, named)
        or _word_of_questions(token, question)
        or nearest_word(token.word, vocabulary)
        or _common_word(token, question)
    )


def _word_of_questions(token: Token, question: str) -> str | None:
    """Returns the word in which questions are put that is misspelt here: "what" for "wat", "lesson" for "leson"."""
    written = question[token.start : token.end]
    # A capital within the question begins a name.
    if token.start and not written.islower():
        return None
    if len(written) < _LONG:
        return _slip(token.word, _SHORT_WORDS)
    return _slip(token.word, _LONG_WORDS)


def _common_word(token: Token, question: str) -> str | None:
    """Returns the common English word that is misspelt: "actually" for "actualy"; a capital begins a name."""
    if question[token.start].isupper() or is_common(token.term or ""):
        return None
    # Another letter in the place of one makes too many words: "esquire" is not "enquire".
    letters = sorted(token.word)
    meant: list[str] = []
    for word in spelt_alike(token.word):
        if len(word) != len(letters) or sorted(word) == letters:
            meant.append(word)
    return _slip(token.word, meant)


def _slip(written: str, meant: Iterable[str]) -> str | None:
    """Returns the first of the words from which this one differs by a slip, rather by a letter more or less."""
    found: str | None = None
    if len(written) < _SHORTEST:
        return None
    for word in meant:
        # Few people mistake the first letter.
        if word[0] != written[0]:
            continue
        if word[-1] == written[-1] and Indel.distance(written, word) == 1:
            return word
        if found is None and _is_swapped_or_replaced(written, word):
            found = word
    return found


def _is_swapped_or_replaced(written: str, word: str) -> bool:
    """Returns True for two letters that changed places, in a longer word also for another letter."""
    if len(written) != len(word):
        return False
    if OSA.distance(written, word) != 1:
        return False
    if sorted(written) == sorted(word):
        return True
    # What is inflected differs at its end: "caller" is not "called".
    return len(word) >= _LONGER and word[-1] == written[-1]


def _words_of_titles(question: str, catalogue: Catalogue) -> list[str]:
    """Returns the words of titles of which another one is in the question: there a short word is one of theirs."""
    asked = frozenset(terms(question))
    titles = [course.title for course in catalogue.courses]
    titles += [each.lesson.title for each in catalogue.lessons]
    found: dict[str, None] = {}
    for title in titles:
        if not asked.isdisjoint(terms(title)):
            found.update(dict.fromkeys(words(title)))
    return [word for word in found if len(word) > _SHORTEST]


def _vocabulary(catalogue: Catalogue, sources: Iterable[Source]) -> tuple[str, ...]:
    texts = [course.title for course in catalogue.courses]
    texts += [each.lesson.title for each in catalogue.lessons]
    for source in sources:
        texts += source.blocks
    found: dict[str, None] = {}
    for text in texts:
        found.update(dict.fromkeys(words(text)))
        if len(found) > MOST_WORDS:
            break
    return tuple(found)
