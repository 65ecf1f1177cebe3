"""Decides the kind of answer to a question: facts of the catalogue, a whole lesson, or passages of texts; pure.

It removes the words that name a place from the question. If only words for facts of a catalogue are left, it has
understood the whole question and looks up the answer. Any other question goes to the search unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from antiphon.engine.offline.known import Course, Place
from antiphon.engine.offline.names import Catalogue
from antiphon.language.asking import Ask, Asked, asked_of_catalogue, names_catalogue
from antiphon.language.evidence import is_light
from antiphon.language.questions import refers_back
from antiphon.language.tongues import tongue_of
from antiphon.language.words import terms, words

Kind = Literal["greeting", "conversation", "catalogue", "lesson", "find", "text"]
Talk = Literal["hello", "thanks", "bye"]

GREETINGS: dict[str, Talk] = {
    "hi": "hello", "hello": "hello", "hey": "hello", "hi there": "hello", "hello there": "hello",
    "good morning": "hello", "thanks": "thanks", "thank you": "thanks", "thanks a lot": "thanks",
    "thank you very much": "thanks", "thx": "thanks", "bye": "bye", "goodbye": "bye",
}  # fmt: skip
_HELD: frozenset[Ask] = frozenset(
    ("teacher", "link", "title", "lessons", "contents", "courses")
)
"""The facts that the catalogue has about a course or a lesson found by its texts."""
_OF_CATALOGUE: frozenset[Ask] = frozenset(("teacher", "link", "lessons", "courses"))
_WHICH_PLACE = re.compile(
    r"\b(?:which|what) (?:\w+ )?(?:course|lesson|lecture)s?\b", re.I
)
_PARTS_LISTED = "chapter chapters unit units module modules section sections session episode week notebook"
_PARTS = frozenset(_PARTS_LISTED.split())
"""Other words for lessons, in questions for the subject of one."""
_WHICH_PART = re.compile(
    rf"\b(?:which (?:\w+ )?|what )(?:courses?|lessons?|lectures?|{'|'.join(sorted(_PARTS))})\b",
    re.I,
)
_WHERE = re.compile(
    r"\bwhere\b.{1,200}\b(?:explained|covered|taught|discussed|introduced|described|treated|mentioned)\b"
    r"|\bwhere (?:do|can|could|should|may) (?:i|we|you|one) (?:find|read|learn|hear) (?:\w+ ){0,2}(?:about|on)\b",
    re.I,
)
_OF_PLACES: frozenset[Ask] = frozenset(
    ("overview", "title", "lessons", "courses", "contents")
)
_LISTED: frozenset[Ask] = frozenset(("courses", "contents", "title"))
_SPOKEN_OF: frozenset[Ask] = frozenset(("overview", "title"))
_WHOLE: frozenset[Ask] = frozenset(("overview", "contents"))
_WHICH = re.compile(
    r"\b(?:which|what|the|in|a|that|one|any|of|his|her) (?:\w+ )?(?:courses?|class|lessons?|lecture)\b",
    re.I,
)
_SAYS_COURSE = re.compile(r"\b(?:course|class|training)\b", re.I)
_COURTESIES = re.compile(
    r"\b(?:pls|plz|please|thx|thanks|thank you|hey|hi|hello)\b", re.I
)
_OF_CONVERSATION = re.compile(
    r"\b(?:did|have|had|were) (?:I|we|you) (?:\w+ ){0,2}?"
    r"(?:ask|asked|say|said|talk|talked|talking|discuss|discussed|tell|told|answer|answered)\b"
    r"|\b(?:I|we|you) (?:just )?(?:asked|said|talked|discussed|told|answered)\b"
    r"|\b(?:my|your|our) (?:very )?(?:first |last |previous |earlier )?(?:question|answer)s?\b"
    r"|\b(?:our|this) (?:whole )?(?:conversation|chat)\b",
    re.I,
)
_WHEN = "first last previous earlier before ago beginning start so far about again repeat list show summarize recap"
_WHEN_ASKED = frozenset(_WHEN.split())
"""Words beside these that do not name a subject."""
_ELSEWHERE = re.compile(
    r"\b(?:(?:other|another) (?:course|lesson)|besides|apart from|except|in addition to)\b",
    re.I,
)


class Inquiry(NamedTuple):
    """The interpretation of a question.

    Attributes:
        question: The original question; if it refers back, followed by the question before it.
        kind: `conversation`: it asks about the conversation itself. `catalogue`: the catalogue answers all of it.
            `lesson`: it asks about one lesson as a whole. `find`: it asks for the catalogue's facts about a course or a
            lesson that must first be found by its texts. `text`: the texts answer it.
        topic: The words that neither ask for facts of a catalogue nor name a place.
    """

    question: str
    kind: Kind = "text"
    asks: frozenset[Ask] = frozenset()
    place: Place = Place()
    topic: tuple[str, ...] = ()
    talk: Talk = "hello"

    @property
    def course(self) -> Course | None:
        """The course that it names."""
        return self.place.course

    @property
    def lesson(self) -> int | None:
        """The number of the meant lesson: the named one, or the one before or after it."""
        place = self.place
        if place.course is None or place.lesson is None or not place.step:
            return place.lesson
        beside = place.course.beside(place.lesson, place.step)
        return None if beside is None else beside.number

    @property
    def asks_catalogue(self) -> bool:
        """True if the question asks for a fact of the catalogue, even as an aside."""
        if self.asks & _OF_CATALOGUE:
            return True
        return _WHICH_PLACE.search(self.question) is not None

    @property
    def asks_place(self) -> bool:
        """True if the question asks only which lesson covers a topic."""
        is_sought = self.kind == "find" and not self.place.described
        return is_sought and self.asks <= _OF_PLACES and _asks_place(self.question)

    @property
    def asks_titles(self) -> bool:
        """True if the lessons titled as the topic answer the question."""
        return self.asks_place or bool(self.asks & _LISTED)

    @property
    def sought(self) -> str:
        """The words to search for: the original question, or the topic that the lesson should cover."""
        return " ".join(self.topic) if self.asks_place else self.question

    @property
    def is_elsewhere(self) -> bool:
        """True if it asks about courses other than the one that it names."""
        return self.course is not None and _ELSEWHERE.search(self.question) is not None


def understand(question: str, earlier: Sequence[str], catalogue: Catalogue) -> Inquiry:
    """Reads a question.

    Args:
        earlier: Earlier questions of the conversation, oldest first.
    """
    talk = GREETINGS.get(" ".join(words(question)))
    if talk is not None:
        return Inquiry(question, "greeting", talk=talk)
    if _is_of_conversation(question):
        return Inquiry(question, "conversation")
    return _of_courses(question, earlier, catalogue)


def _of_courses(question: str, earlier: Sequence[str], catalogue: Catalogue) -> Inquiry:
    meant = question
    place = catalogue.place(tongue_of(question).in_english(question))
    # A question that refers back is searched together with the one before it, and means that one's place.
    if earlier and refers_back(question):
        meant = f"{question}\n{earlier[-1]}"
        if place.course is None:
            place = _placed_before(question, earlier[-1], catalogue)
    # The only course is always the one that is meant.
    if place.course is None and len(catalogue.courses) == 1:
        place = place._replace(course=catalogue.courses[0])
    asked = _asked_beside(place)
    called = catalogue.called_by(asked.topic)
    if _asks_where(question, asked):
        topic = [word for word in asked.topic if word not in _PARTS]
        asked = asked._replace(topic=tuple(topic))
    elif _is_of(called, asked, place):
        place, asked = place._replace(course=called), asked._replace(topic=())
    kind = _kind(question, asked, place)
    return Inquiry(meant, kind, asked.asks, place, asked.topic)


def _is_of(called: Course | None, asked: Asked, place: Place) -> bool:
    if called is None or not asked.asks:
        return False
    return place.course in (None, called)


def _is_of_conversation(question: str) -> bool:
    """Returns True if the question asks only what was said before, not what was said about a subject."""
    rest = _OF_CONVERSATION.sub(" ", question)
    if rest == question:
        return False
    subject = [word for word in words(rest) if word not in _WHEN_ASKED]
    return all(map(is_light, terms(" ".join(subject))))


def _placed_before(question: str, before: str, catalogue: Catalogue) -> Place:
    """Returns the place of a question that names no course, and so means that of the question before it."""
    earlier = catalogue.place(before)
    place = catalogue.place(question, earlier.course)
    if place.lesson is None and place.missing is None:
        place = place._replace(lesson=earlier.lesson, by_number=earlier.by_number)
    return place


def _asked_beside(place: Place) -> Asked:
    """Returns the requested facts and the topic, from the words that neither name nor describe the place."""
    asked = asked_of_catalogue(
        _COURTESIES.sub(" ", place.rest), of_course=place.course is not None
    )
    described = frozenset(words(place.described))
    return asked._replace(
        topic=tuple([word for word in asked.topic if word not in described])
    )


def _asks_where(question: str, asked: Asked) -> bool:
    """Returns True if the question asks only which lesson covers a topic."""
    # "Which unit is used for length?" does not ask for a lesson.
    is_of_lesson = "overview" in asked.asks or names_catalogue(question)
    if not is_of_lesson or _ELSEWHERE.search(question):
        return False
    return asked.asks <= _SPOKEN_OF and _asks_place(question)


def _asks_place(question: str) -> bool:
    return any(each.search(question) for each in (_WHICH_PART, _WHERE))


def _kind(question: str, asked: Asked, place: Place) -> Kind:
    if place.missing is not None:
        return "catalogue"
    if place.described:
        return "find"
    if not asked.topic:
        return _kind_of_whole(asked, place)
    return _kind_of_topic(question, asked, place)


def _kind_of_topic(question: str, asked: Asked, place: Place) -> Kind:
    """Returns the kind of a question with a topic: to find a place by the topic, or texts about it."""
    if _asks_where(question, asked) and not place.by_number:
        return "find" if place.lesson is None else "lesson"
    asks_for_holder = asked.asks & _HELD and place.lesson is None
    if asks_for_holder and _WHICH.search(question) and names_catalogue(question):
        return "find"
    return "text"


def _kind_of_whole(asked: Asked, place: Place) -> Kind:
    """Returns the kind of a question that consists of a place and words for facts of a catalogue."""
    is_one = place.lesson is not None and not place.step and not place.others
    if is_one and asked.asks <= _WHOLE:
        # A bare title may be the topic rather than the lesson.
        return "lesson" if asked.asks or place.by_number else "text"
    if place.course is None:
        return "catalogue" if asked.asks - {"overview"} else "text"
    return "catalogue" if _is_of_course(asked, place) else "text"


def _is_of_course(asked: Asked, place: Place) -> bool:
    """Returns False for "What is MCP?", which does not ask about a course even if one is called so."""
    if asked.asks or place.step or not words(place.rest):
        return True
    return _SAYS_COURSE.search(place.rest) is not None
