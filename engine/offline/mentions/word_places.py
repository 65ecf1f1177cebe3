"""The words of a question by their places, and what stands around a run of them."""

from __future__ import annotations

from antiphon.engine.offline.mentions.values import CourseMention
from antiphon.engine.offline.titles import (
    NO_TOKEN,
    Run,
    Token,
    carries_meaning,
    is_quoted,
    tokens_of,
)
from antiphon.language.asking import QUESTION_WORDS, TELLS

TEACHES = frozenset(
    (
        "teach",
        "teaches",
        "teaching",
        "taught",
        "say",
        "says",
        "said",
        "do",
        "give",
        "gives",
        "hold",
        "holds",
    )
)
COURSE_WORDS = frozenset(("course", "class", "training"))
LESSON_WORDS = frozenset(("lesson", "lecture"))
_LESSONS = LESSON_WORDS | {"lessons"}
INDEFINITE = frozenset(
    ("a", "an", "any", "another", "other", "which", "what", "some", "every", "each")
)
_DETERMINERS = frozenset(("the", "this", "that", "your", "our", "my", "whole", "same"))
_PLACES = frozenset(("first", "last", "next", "entire", "longest", "shortest"))
NOT_NAMES = INDEFINITE | _DETERMINERS | _PLACES
"""Words that are no part of a name, or none of themselves."""
CALLING = frozenset(
    ("on", "about", "called", "named", "titled", "the", "for", "of", "number", "nr")
)
"""Between "course" and its name, or "lesson" and its title: "lesson number of X"."""
_OF = frozenset(("of", "in", "from"))
PLACING = frozenset(("in", "of", "from", "by", "into", "to", "for", "does", "do"))
_DOES = frozenset(("does", "do"))
_ASKS_OF_THING = frozenset(("how", "why", "when", "where", "what"))
_OF_COURSES = TEACHES | QUESTION_WORDS
"""What a course does, rather than what it is about: it covers, teaches, has lessons."""
_GENITIVES = ("'s", "\u2019s")
_STOPS = frozenset(",.;:?!")


class WordPlaces:
    """A question's words by their places; beside the first and the last there is nothing."""

    def __init__(self, question: str) -> None:
        self.text = question
        self.tokens = tokens_of(question)
        self._by_place = dict(enumerate(self.tokens))

    def token(self, at: int) -> Token:
        """Returns the token at a place; an empty one beyond the ends."""
        return self._by_place.get(at, NO_TOKEN)

    def word(self, at: int) -> str:
        """Returns the word at a place, folded; an empty one beyond the ends."""
        return self.token(at).word

    def mention(self, first: int, last: int) -> CourseMention:
        """Returns the words from one place to another as a name."""
        start, end = self.token(first).start, self.token(last).end
        return CourseMention(self.text[start:end], start, end)

    def carries_on(self, at: int) -> bool:
        """Returns True where the word beside a run could be one more word of a name."""
        token = self.token(at)
        return token.word not in TEACHES and carries_meaning(token)

    def is_genitive(self, at: int) -> bool:
        """Returns True for the word "Kwame" of "Kwame's course"."""
        return self.text[self.token(at).end :].startswith(_GENITIVES)

    def stands_alone(self, run: Run, *, loosely: bool = False) -> bool:
        """Returns True where no word beside a run could be one more of the name.

        Args:
            loosely: The words in which a catalogue is asked are none: "git teacher".
        """
        beside = (run.first - 1, run.last + 1)
        if loosely:
            return not any(
                self.carries_on(at) and self.word(at) not in QUESTION_WORDS
                for at in beside
            )
        return not any(map(self.carries_on, beside))

    def is_quoted(self, run: Run) -> bool:
        """Returns True for a run that is the whole of a quotation."""
        return is_quoted(
            self.text, self.token(run.first).start, self.token(run.last).end
        )

    def is_called(self, run: Run, nouns: frozenset[str]) -> bool:
        """Returns True for "the X course" and for "the course about X", where X is all of the name."""
        # "The first course" is no nickname of one on first principles.
        if run.first == run.last and self.word(run.first) in NOT_NAMES | CALLING:
            return False
        is_more = self.carries_on(run.first - 1) and not self.is_genitive(run.first - 1)
        is_name = not (self._is_placed_first(run) or is_more)
        if is_name and self.word(run.last + 1) in nouns:
            return True
        return self.is_called_after(run, nouns)

    def _is_placed_first(self, run: Run) -> bool:
        """Returns True for the "real" of "its first real lesson": a lesson by its place has no name before it."""
        return run.first == run.last and self.word(run.first - 1) in _PLACES

    def is_called_after(
        self, run: Run, nouns: frozenset[str], calling: frozenset[str] = CALLING
    ) -> bool:
        """Returns True for "the course about X", where X is all of the name."""
        noun = run.first - 1
        while self.word(noun) in calling:
            noun -= 1
        if self.word(noun) not in nouns or self.carries_on(run.last + 1):
            return False
        # "A whole lesson on X" is some lesson too.
        return INDEFINITE.isdisjoint((self.word(noun - 1), self.word(noun - 2)))

    def is_placed(self, run: Run) -> bool:
        """Returns True for the X of "in X", "by X" or "What does X cover"; "How does X work" asks of a thing."""
        at = self._before_article(run)
        if self.word(at) in _DOES and self.word(at - 1) in _ASKS_OF_THING:
            return self.word(run.last + 1) in _OF_COURSES
        return self.word(at) in PLACING

    def is_place_of_lesson(self, run: Run) -> bool:
        """Returns True for the X of "lesson 3 of X"."""
        # "What lesson 2 of X covers" says nothing more of the name.
        behind = run.last + 1
        if self.carries_on(behind) and self.word(behind) not in TELLS:
            return False
        return self.leads_on_from(_LESSONS, self._before_article(run))

    def leads_on_from(self, nouns: frozenset[str], at: int) -> bool:
        """Returns True for the "of" of "lesson 3 of X", where the nouns are those for lessons."""
        if self.word(at) not in _OF:
            return False
        return not nouns.isdisjoint((self.word(at - 1), self.word(at - 2)))

    def before_article(self, run: Run) -> str:
        """Returns the word before a run and its article."""
        return self.word(self._before_article(run))

    def _before_article(self, run: Run) -> int:
        at = run.first - 1
        if self.word(at) == "the":
            at -= 1
        return at

    def is_interrupted(self, at: int) -> bool:
        """Returns True where a mark stands between a word and the one before it."""
        if at == 0:
            return False
        between = self.text[self.token(at - 1).end : self.token(at).start]
        return not _STOPS.isdisjoint(between)
