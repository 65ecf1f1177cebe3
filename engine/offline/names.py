"""The courses, lessons and teachers of a catalogue, and which of them a question names; pure.

A course is named by its title, by what stands before the colon in it, by its teacher, or by words of these beside the
word "course"; a lesson by its number, its place, or its title.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from antiphon.language.questions import LESSONS, number_written
from antiphon.language.words import STOP_WORDS, fold, stem
from antiphon.vocabulary.ports import KnownCourse

READ_CHARS = 2_000
MOST_CALLED = 3
"""As many times the word "course" is looked at for a name beside it."""
_WORD = re.compile(r"[^\W_]+(?:[.'\u2019][^\W_]+)*[+#]*")
_QUOTES = ("'", '"', "\u201c", "\u2018")
_COURSE_WORDS = frozenset(("course", "courses", "class", "training"))
_CONNECTING = re.compile(
    r"\s*(?:on|about|by|of|from|with|called|named|titled)?\s*(?:the|an?)?\s*", re.I
)
"""What may stand between the word "course" and the name behind it."""
_PLACES = {
    "first": 1, "opening": 1, "introduction": 1, "intro": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5,
    "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10, "last": -1, "final": -1, "closing": -1,
    "conclusion": -1, "penultimate": -2,
}  # fmt: skip
_FROM_END = {"next": -2, "second": -2, "third": -3}
_BY_PLACE = re.compile(
    rf"\b(?:the |very ){{0,3}}(?:(?P<from_end>{'|'.join(_FROM_END)})[ -]to[ -](?:the[ -])?last"
    rf"|(?P<before_last>one before (?:the )?last)|(?P<place>{'|'.join(_PLACES)})"
    r"|(?P<counted>\d{1,2})(?:st|nd|rd|th))\b(?: (?:lesson|lecture)\b)?",
    re.I,
)
_SAYS_LESSON = re.compile(r"\b(?:lesson|lecture)s?\b", re.I)
_BESIDE = re.compile(
    r"\b(?:(?P<count>two|three|\d) lessons? )?(?:(?P<next>after|following|behind|follows|next)"
    r"|(?P<previous>before|preceding|precedes|previous))\b",
    re.I,
)
_DESCRIBED = re.compile(
    r"\b(?:after|before|behind|next to|follow(?:s|ing)|preced(?:es|ing)) the (?:one|lesson|lecture|part) "
    r"(?:(?:that is |that's |which is )?"
    r"(?:on|about|with|where|in which|that|which) )(?P<what>[^,.;?!]{3,200})",
    re.I,
)
_TEACHERS_APART = re.compile(r"[,;&/]|\band\b", re.I)


class Lesson(NamedTuple):
    """A lesson by number and title."""

    number: int
    title: str


class Course(NamedTuple):
    """What is known of one course."""

    title: str
    teachers: tuple[str, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    language: str | None = None

    def lesson(self, number: int | None) -> Lesson | None:
        """Returns the lesson of this number."""
        return next((each for each in self.lessons if each.number == number), None)

    def placed(self, place: int) -> Lesson | None:
        """Returns the lesson at a place: 1 is the first, -1 the last."""
        at = place - 1 if place > 0 else place
        if -len(self.lessons) <= at < len(self.lessons):
            return self.lessons[at]
        return None

    def beside(self, number: int, step: int) -> Lesson | None:
        """Returns the lesson so many steps behind another, or before it where the step is negative."""
        numbers = [each.number for each in self.lessons]
        if number not in numbers:
            return None
        at = numbers.index(number) + step
        return self.lessons[at] if 0 <= at < len(numbers) else None


class Place(NamedTuple):
    """The place that a question names.

    Attributes:
        course: The course, also where only a lesson of it is named.
        others: Courses that are named beside it.
        lesson: The number of the lesson.
        by_number: The lesson is named by its number or its place, and not by its title.
        missing: The number of a lesson that the course does not have.
        step: 1 where the lesson after the one that is named or described is meant, -1 for the one before.
        described: The words that describe the lesson beside the one that is meant.
        rest: The question without the words that name the place.
    """

    course: Course | None = None
    others: tuple[Course, ...] = ()
    lesson: int | None = None
    by_number: bool = False
    missing: int | None = None
    step: int = 0
    described: str = ""
    rest: str = ""


class _Word(NamedTuple):
    """A word that says something: where it stands in its text, and its stem."""

    start: int
    end: int
    folded: str
    stem: str


class _Name(NamedTuple):
    """The stems of a name, in order, and what it is the name of."""

    stems: tuple[str, ...]
    course: Course
    lesson: Lesson | None = None


class _Found(NamedTuple):
    """The names that stand in a question.

    Attributes:
        lessons: Those of one title, which several courses may have.
        words: All that the names take.
    """

    courses: list[Course]
    lessons: list[_Name]
    words: list[_Word]

    def take(self, name: _Name, run: Sequence[_Word]) -> None:
        """Takes a name that stands in the question as these words."""
        self.words.extend([word for word in run if word not in self.words])
        if name.lesson is None:
            self.courses.append(name.course)
        elif not self.lessons or self.lessons[0].stems == name.stems:
            self.lessons.append(name)


class Catalogue:
    """All courses, ready to be found in a question; empty where none are known."""

    def __init__(self, courses: Sequence[Course] = ()) -> None:
        self.courses = tuple(courses)
        self._words_of: dict[str, set[str]] = {}
        names: list[_Name] = []
        for course in self.courses:
            self._words_of[course.title] = _calling_words(course)
            own = [_stems(text) for text in (*_forms(course.title), *course.teachers)]
            names += [_Name(stems, course) for stems in own]
            for lesson in course.lessons:
                for stems in map(_stems, _forms(lesson.title)):
                    # A lesson that is called as its course, such as "Getting Started", is not what is meant by that.
                    if stems not in own:
                        names.append(_Name(stems, course, lesson))
        # Of several names that stand at one place the longest is meant.
        self._names = sorted(
            [name for name in names if name.stems], key=lambda name: -len(name.stems)
        )

    def course(self, title: str | None) -> Course | None:
        """Returns the course with exactly this title."""
        return next((each for each in self.courses if each.title == title), None)

    def called_by(self, topic: Sequence[str]) -> Course | None:
        """Returns the one course that may be called by all of these words; None where there is none, or several."""
        stems = {stem(word) for word in topic}
        found = [each for each in self.courses if stems <= self._words_of[each.title]]
        return found[0] if stems and len(found) == 1 else None

    def place(self, question: str, course: Course | None = None) -> Place:
        """Returns the place that a question names.

        Args:
            course: The one that is spoken of, where the question itself names none.
        """
        question = question[:READ_CHARS]
        found = self._named_in(question)
        if found.courses:
            course = found.courses[0]
        rest = _without(question, found.words)
        place = Place(course, tuple(found.courses[1:]), rest=rest)
        lessons = [name for name in found.lessons if course in (None, name.course)]
        if len(lessons) == 1:
            place = _with_lesson(place, lessons[0])
        elif _SAYS_LESSON.search(rest):
            place = _with_number(place)
        described = _DESCRIBED.search(question)
        if described is not None and place.lesson is None:
            place = place._replace(described=described["what"])
        if place.lesson is not None or place.described:
            place = _with_step(place)
        return place

    def _named_in(self, question: str) -> _Found:
        asked = _words(question)
        places: dict[str, list[int]] = {}
        for at, word in enumerate(asked):
            places.setdefault(word.stem, []).append(at)
        found = _Found([], [], [])
        runs: dict[tuple[str, ...], list[_Word]] = {}
        for name in self._names:
            # Who teaches several courses names each of them, and a title may be that of several lessons.
            run = runs.get(name.stems)
            if run is None:
                run = _run_of(name.stems, asked, places, found.words)
            if run and _is_meant(name, run, question):
                runs[name.stems] = run
                found.take(name, run)
        if not found.courses:
            self._add_called(found, question, asked)
        return found._replace(courses=list(dict.fromkeys(found.courses)))

    def _add_called(self, found: _Found, question: str, asked: Sequence[_Word]) -> None:
        """Adds the course whose words stand beside "course", such as "the photo archive course"."""
        calls: list[tuple[Course, list[_Word]]] = []
        places = [at for at, word in enumerate(asked) if word.folded in _COURSE_WORDS]
        for at in places[:MOST_CALLED]:
            for course in self.courses:
                known = self._words_of[course.title]
                calls.append((course, _calling(question, asked, at, known)))
        longest = max([words for _, words in calls], key=len, default=[])
        meant = [course for course, words in calls if len(words) == len(longest)]
        if longest and meant.count(meant[0]) == len(meant):
            found.courses.append(meant[0])
            found.words.extend(longest)


EMPTY = Catalogue()


def catalogue_of(courses: Sequence[KnownCourse]) -> Catalogue:
    """Makes the catalogue of the courses of a library."""
    entries: list[Course] = []
    for course in courses:
        lessons = [Lesson(each.number, each.title) for each in course.lessons]
        teachers = _TEACHERS_APART.split(course.instructor or "")
        named = tuple([name.strip() for name in teachers if name.strip()])
        entries.append(Course(course.title, named, tuple(lessons), course.language))
    return Catalogue(entries)


def _words(text: str) -> list[_Word]:
    found: list[_Word] = []
    for match in _WORD.finditer(text):
        folded = fold(match[0]).removesuffix("'s").removesuffix("\u2019s")
        if folded not in STOP_WORDS or folded in _COURSE_WORDS:
            found.append(_Word(match.start(), match.end(), folded, stem(folded)))
    return found


def _stems(text: str) -> tuple[str, ...]:
    return tuple([word.stem for word in _words(text)])


def _forms(title: str) -> list[str]:
    """Returns a title, and what stands before its colon."""
    head, colon, _ = title.partition(":")
    return [title, head] if colon else [title]


def _calling_words(course: Course) -> set[str]:
    """Returns the stems by which a course is called: of its title and teachers, and initials such as "MCP"."""
    known = set(_stems(" ".join([course.title, *course.teachers])))
    for part in course.title.split(":"):
        initials = "".join([word[0] for word in part.split() if word[0].isupper()])
        for end in range(3, len(initials) + 1):
            for start in range(max(0, end - 5), end - 2):
                known.add(initials[start:end].lower())
    return known


def _run_of(
    stems: Sequence[str],
    asked: Sequence[_Word],
    places: Mapping[str, Sequence[int]],
    taken: Sequence[_Word],
) -> list[_Word]:
    """Returns the words that stand side by side with these stems, none of them taken; none where they do not.

    Args:
        places: Where each stem stands among the words.
    """
    for at in places.get(stems[0], ()):
        run = list(asked[at : at + len(stems)])
        if any(word in taken for word in run):
            continue
        if [word.stem for word in run] == list(stems):
            return run
    return []


def _is_meant(name: _Name, run: Sequence[_Word], question: str) -> bool:
    """Returns False for a title that is most likely a topic: it is a lesson's where lessons are spoken of."""
    in_capitals = all(question[word.start].isupper() for word in run)
    is_named = in_capitals and run[0].start > 0
    if question[max(0, run[0].start - 1) : run[0].start] in _QUOTES:
        return True
    if len(run) == 1:
        says_lesson = name.lesson is not None and _SAYS_LESSON.search(question)
        return is_named if name.lesson is None else bool(says_lesson) and in_capitals
    return name.lesson is None or is_named or _SAYS_LESSON.search(question) is not None


def _calling(
    question: str, asked: Sequence[_Word], at: int, known: set[str]
) -> list[_Word]:
    """Returns the known words right in front of the word at a place, or behind it: the longer of the two runs."""
    before = _leading(reversed(asked[:at]), known)
    behind = _leading(asked[at + 1 :], known)
    if behind:
        between = question[asked[at].end : behind[0].start]
        if not _CONNECTING.fullmatch(between):
            behind = []
    return max(before, behind, key=len)


def _leading(words: Iterable[_Word], known: set[str]) -> list[_Word]:
    """Returns the words from the first on that are all known."""
    leading: list[_Word] = []
    for word in words:
        if word.stem not in known:
            break
        leading.append(word)
    return leading


def _with_lesson(place: Place, name: _Name) -> Place:
    """Returns the place with a lesson that is named by its title."""
    if name.lesson is None:
        return place
    return place._replace(course=name.course, lesson=name.lesson.number)


def _with_number(place: Place) -> Place:
    """Returns the place with the lesson that its rest names by number, or by where it stands in the course."""
    course, text = place.course, place.rest
    found = LESSONS.search(text)
    if found is not None:
        number = number_written(re.split(r"\W+", found[1])[0])
        rest = _cut(text, found)
        if course is not None and course.lesson(number) is None:
            return place._replace(missing=number, rest=rest)
        return place._replace(lesson=number, by_number=True, rest=rest)
    found = _BY_PLACE.search(text)
    if found is None or course is None:
        return place
    lesson = course.placed(_place_written(found))
    if lesson is None:
        return place
    return place._replace(lesson=lesson.number, by_number=True, rest=_cut(text, found))


def _place_written(found: re.Match[str]) -> int:
    if found["before_last"]:
        return -2
    if found["from_end"]:
        return _FROM_END[found["from_end"].lower()]
    if found["counted"]:
        return int(found["counted"]) or 1
    return _PLACES[found["place"].lower()]


def _with_step(place: Place) -> Place:
    """Returns the place with the step to the lesson beside the one that is named or described."""
    beside = _BESIDE.search(place.rest)
    if beside is None:
        return place
    step = number_written(beside["count"]) if beside["count"] else 1
    if beside["previous"]:
        step = -step
    return place._replace(step=step, rest=_cut(place.rest, beside))


def _cut(text: str, found: re.Match[str]) -> str:
    return f"{text[: found.start()]} {text[found.end() :]}"


def _without(text: str, words: Sequence[_Word]) -> str:
    for word in sorted(words, key=lambda word: -word.start):
        text = f"{text[: word.start]} {text[word.end :]}"
    return " ".join(text.split())
