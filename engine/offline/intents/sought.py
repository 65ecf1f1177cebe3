"""Recognises the questions that speak of a course or a lesson by what it says: it has to be found first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from antiphon.engine.offline.intents.clauses import asks_of_texts, clauses_of
from antiphon.engine.offline.intents.inquiry import Inquiry
from antiphon.engine.offline.intents.parsing import Parsed
from antiphon.engine.offline.titles import tokens_of
from antiphon.language.asking import TELLS, Ask, asked_of_catalogue
from antiphon.language.lesson_places import asks_for_neighbour
from antiphon.language.words import STOP_WORDS

_STRETCH_CHARS = 200
_TREATING = r"(?:that|which|whose|where|in which|with|w/|covering|explaining|discussing|dealing with|treating)"
_SAID = r"\s+(?P<said>[^.;?!\n]+)"
_SOMEWHERE = (
    r"(?:(?:somewhere|anywhere|in (?:any|one|some) of (?:the|your|these) courses) )?"
)
_LESSON_THAT = re.compile(
    rf"\b(?:lesson|lecture|one) {_SOMEWHERE}(?:{_TREATING}|about|on){_SAID}", re.I
)
_WHICH_LESSON = re.compile(
    r"\b(?:which|what) (?:lesson|lecture)\b"
    r"|\bwhere (?:is|are|do you|can i)\b.*\b(?:taught|teach|explained|explain|covered|cover|treated)\b"
    # "Is there a lesson about it? Which course is it in?"
    r"|\bthere\b(?: (?:is|was|has to be|must be))? (?:an?|any|some|one) (?:lesson|lecture)\b"
    r".*\b(?:(?:which|what) (?:course|class)|where|title|called)\b",
    re.I | re.S,
)
_COURSE_THAT = re.compile(
    rf"\b(?:course|class) (?:(?:is |being )?(?:taught|given|held) )?{_TREATING}{_SAID}",
    re.I,
)
_WHICH_COURSE = re.compile(
    r"\b(?:which|what) (?:course|class|(?:one )?of (?:the|your|these|all) courses) (?:is|was) (?:the|that) "
    rf"(?:one|course) (?:{_TREATING}|about|on|of){_SAID}",
    re.I,
)
_TEACHER_THAT = re.compile(
    r"\b(?:which|what) (?:of (?:the|your) )?(?:instructor|teacher|lecturer|tutor)s? "
    rf"(?:is it that |was it that )?(?!(?:of|for|in|teaches (?:the|this) (?:course|class))\b)\w+{_SAID}",
    re.I,
)
_SENTENCES = re.compile(r"[^.?!\n]+[.?!]*")
_IN_SOME_PLACE = re.compile(
    r"\W*(?:in|from|during|of)\s+(?:the|that)\s+(?:\w+\s+)?(?:course|class|lesson|lecture)\b",
    re.I,
)
_POINTS_AT_SAID = re.compile(
    r"\b(?:in|of|by|for|to|does|teaches|gives|is)\s+(?:that|this)(?:\s+(?:one|course|class))?\s*[?.!]*\s*$"
    r"|\b(?:that|this)\s+(?:one|course|class)\b"
    r"|\b(?:in|of|from|to|does|is)\s+(?:his|her|their|its)\s+(?:course|class)\b",
    re.I,
)
_ASKS_PLACE = re.compile(
    r"\b(?:lesson|lecture|course|class|taught|teach|where)\b", re.I
).search
_OF_FOUND: frozenset[Ask] = frozenset(
    ("teacher", "link", "lessons", "contents", "title")
)
_OF_SAID_COURSE: frozenset[Ask] = frozenset(("teacher", "lessons", "contents"))
_OF_FOUND_LESSON: frozenset[Ask] = frozenset(("title", "link"))
_CALLED_LESSON = re.compile(
    r"\bthe\s+(?P<name>(?:(?!the\b)[^\s.;?!]{1,40}\s+){1,6})(?:lesson|lecture)\b", re.I
)


def asks_for_found(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes what asks of a course that has to be found first: "Who teaches the course that explains HNSW?"."""
    if _counts_in_unknown(inquiry, parsed):
        return inquiry._replace(kind="find", topic=inquiry.unknown or "", lesson=None)
    of_neighbour = _asked_of_neighbour(inquiry, parsed)
    if of_neighbour is not None:
        return of_neighbour
    topic = sought(inquiry, parsed)
    if topic is None:
        return None
    by_lesson = _seeks_lesson(inquiry, parsed)
    asks = inquiry.asks
    if by_lesson and inquiry.step and not _asks_what_neighbour_says(parsed.question):
        asks = asks - {"overview"}
    return inquiry._replace(kind="find", topic=topic, by_lesson=by_lesson, asks=asks)


def _asked_of_neighbour(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes "In the lesson after the one where X is explained, what is Y?": X is to be found, and Y asked beside it."""
    *before, last = clauses_of(parsed.question) or [""]
    if not before or not inquiry.step or inquiry.lesson is not None:
        return None
    place = before[-1]
    found = _LESSON_THAT.search(place)
    if found is None or not asks_for_neighbour(place) or not asks_of_texts(last):
        return None
    said = found["said"].strip()
    # "The lesson that follows the one where X is explained": of the two the inner one.
    while inner := _LESSON_THAT.search(said):
        said = inner["said"].strip()
    return inquiry._replace(
        kind="find",
        topic=said,
        by_lesson=True,
        wanted=last,
        asks=frozenset(),
    )


def _asks_what_neighbour_says(question: str) -> bool:
    """Returns True for "What is covered in the lesson after the one where X is explained?", by what stands in front."""
    found = _LESSON_THAT.search(question)
    if found is None:
        return False
    return "overview" in asked_of_catalogue(question[: found.start("said")]).asks


def _counts_in_unknown(inquiry: Inquiry, parsed: Parsed) -> bool:
    """Returns True for "the last lesson of the course about the gym": the course is to be found first."""
    if not inquiry.unknown or inquiry.place is None or not parsed.catalogue:
        return False
    return bool(inquiry.step) or parsed.asked.is_pure or parsed.is_bare


def sought(inquiry: Inquiry, parsed: Parsed) -> str | None:
    """Returns what a course or lesson says that is to be found first: "explains HNSW"."""
    if inquiry.lesson is not None or _asks_beside_place(parsed):
        return None
    if _seeks_lesson(inquiry, parsed):
        return _described(_LESSON_THAT, parsed)
    if _seeks_course(inquiry, parsed):
        return _described(_COURSE_THAT, parsed)
    if inquiry.has_course:
        return None
    for pattern in (_TEACHER_THAT, _WHICH_COURSE):
        if pattern.search(parsed.question):
            return _described(pattern, parsed)
    return _said_of_course(inquiry, parsed)


def _asks_beside_place(parsed: Parsed) -> bool:
    """Returns True for "In the course with the pizza, how big must the pool be?": the texts say where that stands."""
    first, *further = clauses_of(parsed.question) or [""]
    if not _IN_SOME_PLACE.match(first) or asks_of_texts(first):
        return False
    return any(map(asks_of_texts, further))


def _said_of_course(inquiry: Inquiry, parsed: Parsed) -> str | None:
    """Returns what is said in front of a question that asks of "that one" only what a catalogue holds.

    "One of the courses goes on about bikes. Who teaches that one?"
    """
    *before, last = _SENTENCES.findall(parsed.question) or [""]
    if inquiry.has_course or not before or not _POINTS_AT_SAID.search(last):
        return None
    asked = asked_of_catalogue(last, of_course=True)
    # "What is the name for that?" asks for the name of anything.
    wanted = _OF_SAID_COURSE
    if parsed.places:
        wanted = _OF_SAID_COURSE | _OF_FOUND_LESSON
    if not asked.is_pure or not asked.asks <= wanted:
        return None
    said = " ".join(before)
    return _stretch(said, asked_of_catalogue(said).topic)


def _described(pattern: re.Pattern[str], parsed: Parsed) -> str | None:
    """Returns what is said of the course or lesson that has to be found, without the word that it is said."""
    found = pattern.search(parsed.question)
    if parsed.topic != parsed.question:
        told = topic_stretch(parsed)
        # By meaning "the lesson after the one where X is explained" may ask for a neighbour and for nothing else.
        if told is not None or found is None or not parsed.places:
            return told
    if found is None:
        return _said_beside(parsed.question) or topic_stretch(parsed)
    said = found["said"].strip()
    for word in tokens_of(said):
        if word.word not in TELLS | STOP_WORDS:
            return said[word.start :][:_STRETCH_CHARS]
    return topic_stretch(parsed)


def _said_beside(question: str) -> str:
    """Returns the sentences beside that which asks for the place: "I want to cut long texts. Where is that taught?".

    Of that which asks they keep what it says of its own: "Which lesson deals with undoing that?".
    """
    said: list[str] = []
    is_beside = False
    for sentence in _SENTENCES.findall(question):
        if _asks_place(sentence):
            said.append(_told(sentence))
        else:
            is_beside = True
            said.append(sentence)
    if not is_beside:
        return ""
    return " ".join(said).strip()[:_STRETCH_CHARS]


def _told(sentence: str) -> str:
    """Returns "undoing" of "Which lesson deals with undoing that?"; "which should I go back to" tells of nothing."""
    asked = asked_of_catalogue(sentence)
    if "overview" not in asked.asks:
        return ""
    return _stretch(sentence, asked.topic) or ""


def _asks_place(sentence: str) -> bool:
    """Returns True for a sentence that asks for the place; not for "I have long lecture texts."."""
    if sentence.rstrip().endswith((".", "!")) and not _WHICH_LESSON.search(sentence):
        return False
    return _ASKS_PLACE(sentence) is not None


def _seeks_lesson(inquiry: Inquiry, parsed: Parsed) -> bool:
    """Returns True for "Which lesson explains HNSW?", for its title, and for the one that comes after it."""
    if inquiry.step or _WHICH_LESSON.search(parsed.question):
        return True
    if not parsed.asked.asks & _OF_FOUND_LESSON:
        return False
    return _LESSON_THAT.search(parsed.question) is not None


def _seeks_course(inquiry: Inquiry, parsed: Parsed) -> bool:
    if inquiry.has_course or not (parsed.asked.asks & _OF_FOUND or parsed.places):
        return False
    found = _COURSE_THAT.search(parsed.question)
    # "Every course with its teacher" has what each course has.
    return found is not None and not asked_of_catalogue(found["said"]).is_pure


def called_lesson(parsed: Parsed) -> str | None:
    """Returns the X of "the link of the X lesson", where no lesson is called so."""
    if not parsed.asked.asks or parsed.asked.asks - _OF_FOUND_LESSON:
        return None
    found = _CALLED_LESSON.search(parsed.question)
    if found is None or parsed.places:
        return None
    return found["name"].strip()


def topic_stretch(parsed: Parsed) -> str | None:
    """Returns what the question says from the first to the last word of its topic."""
    return _stretch(parsed.question, parsed.asked.topic)


def _stretch(text: str, topic: Sequence[str]) -> str | None:
    if not topic:
        return None
    folded = text.lower()
    begins, ends = (list(_whole_word(word, folded)) for word in (topic[0], topic[-1]))
    if not begins or not ends or ends[-1].end() <= begins[0].start():
        return None
    return text[begins[0].start() : ends[-1].end()][:_STRETCH_CHARS]


def _whole_word(word: str, text: str) -> Iterator[re.Match[str]]:
    """Yields the places of a word: the "im" of "I'm" is none of "time"."""
    return re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text)
