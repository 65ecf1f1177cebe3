"""Finds the known courses and lessons in a question, by title, nickname or teacher."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from antiphon.engine.offline.catalogue import Catalogue, CourseEntry, LessonOf
from antiphon.engine.offline.mentions.unknown import called_courses
from antiphon.engine.offline.mentions.values import (
    CourseMention,
    LessonMention,
    Mentions,
    overlaps,
)
from antiphon.engine.offline.mentions.word_places import (
    CALLING,
    COURSE_WORDS,
    LESSON_WORDS,
    TEACHES,
    WordPlaces,
)
from antiphon.engine.offline.titles import Run, ends_between
from antiphon.language.asking import (
    QUESTION_WORDS,
    SUMMARY_WORDS,
    names_catalogue,
)
from antiphon.language.commonness import is_common
from antiphon.language.evidence import is_light
from antiphon.language.lesson_places import asks_for_neighbour, speaks_of_lessons
from antiphon.language.questions import NUMBER_WORDS, lesson_numbers

_BESIDE = frozenset(("after", "before", "follows", "following", "precedes"))
_PART_WORDS = frozenset(("one", "session", "chapter"))
_WHICH_LESSON = re.compile(r"\b(?:which|what) (?:lesson|lecture)\b", re.IGNORECASE)
_SUMS_UP = SUMMARY_WORDS | {"takeaways"}
_SUMS_UP_IN_TWO = frozenset(
    (
        ("sum", "up"),
        ("tl", "dr"),
        ("main", "points"),
        ("main", "ideas"),
        ("key", "points"),
        ("key", "ideas"),
        ("important", "points"),
        ("important", "ideas"),
    )
)
_COURTEOUS = frozenset(("please", "thanks", "thank", "you"))
_DESCRIBED_IN_FRONT = re.compile(
    r"\W*(?:in|from|during|of)\s+(?P<said>(?:the|that)\s+(?:\w+\s+)?(?:course|class)\s+"
    r"(?:by|with|that|which|where|whose|in which|taught|given|about|on)\b[^,;:.?!]{1,200}),",
    re.IGNORECASE,
)
_WITH = frozenset(("from", "with"))
_OWNED = COURSE_WORDS | LESSON_WORDS | {"courses", "classes", "lessons", "lectures"}
_HAS = frozenset(
    ("has", "had", "covers", "explains", "speaks", "talks", "uses", "shows")
)


def mentions_in(
    question: str,
    catalogue: Catalogue,
    *,
    loosely: bool = False,
    after_courses: bool = False,
) -> Mentions:
    """Finds the courses and lessons that a question names.

    Args:
        loosely: The question can only be about courses, so that a part of a title alone is a name.
        after_courses: The question before was about courses, so that "the retrieval one" is one.
    """
    finder = _Finder(question, catalogue, loosely, after_courses)
    courses = finder.courses()
    return Mentions(courses, finder.lessons(courses))


class _Finder:
    def __init__(
        self, question: str, catalogue: Catalogue, loosely: bool, after_courses: bool
    ) -> None:
        self._catalogue = catalogue
        self._loosely = loosely
        self._words = WordPlaces(question)
        self._course_words = COURSE_WORDS
        if after_courses:
            self._course_words = COURSE_WORDS | {"one"}

    @cached_property
    def _titles(self) -> list[Run]:
        """The titles of lessons, and parts of them, that the question holds."""
        return self._catalogue.lesson_titles.runs(self._words.tokens)

    def courses(self) -> tuple[CourseMention, ...]:
        found: list[CourseMention] = []
        for run in self._runs_of_courses():
            courses = tuple([self._catalogue.courses[at] for at in run.titles])
            mention = self._words.mention(run.first, self._last_of_name(run))
            found.append(mention._replace(courses=courses))
        found += self._teachers(found)
        found += called_courses(self._words, self._catalogue, found)
        found = _of_its_teacher(found)
        found.sort(key=lambda mention: mention.start)
        return tuple(self._described_in_front(found))

    def _described_in_front(self, found: list[CourseMention]) -> list[CourseMention]:
        """Returns the mentions; one within "In the course by whoever …," is all of that clause, which describes it."""
        clause = _DESCRIBED_IN_FRONT.match(self._words.text)
        within = [each for each in found if clause and each.end <= clause.end("said")]
        if clause is None or len(within) != 1 or not within[0].courses:
            return found
        start, end = clause.span("said")
        whole = within[0]._replace(name=clause["said"], start=start, end=end)
        return [whole, *found[1:]]

    def _last_of_name(self, run: Run) -> int:
        """Returns the last word of a name: of "modelos of lenguaje", where a title holds the first, both are one."""
        words = self._words
        behind = words.token(run.last + 2)
        if words.word(run.last + 1) != "of" or behind.term is None:
            return run.last
        if (
            is_common(behind.term)
            or not words.text[behind.start : behind.end].islower()
        ):
            return run.last
        return run.last + 2

    def _runs_of_courses(self) -> list[Run]:
        """Returns the names of courses; what else a question has of a title says what it asks about.

        "Which sorts of language models are there in the photo course?" names one course once, whatever its full title.
        """
        runs = self._apart_from_lessons(
            self._catalogue.course_titles.runs(self._words.tokens)
        )
        called = [run for run in runs if self._is_called_course(run)]
        of_called = {title for run in called for title in run.titles}
        named: list[Run] = []
        for run in runs:
            named_before = not (run.full or of_called.isdisjoint(run.titles))
            if run in called or (self._could_be_course(run) and not named_before):
                named.append(run)
        return named

    def _apart_from_lessons(self, runs: list[Run]) -> list[Run]:
        """Returns the names without those within the whole title of a lesson: the "graph" of "Asking the Graph"."""
        titles = [each for each in self._titles if each.full and each.matched > 1]
        return [run for run in runs if run.full or not _is_within(run, titles)]

    def _is_called_course(self, run: Run) -> bool:
        """Returns True for a name that the question calls a course's, or has a lesson of."""
        words = self._words
        if words.is_called(run, self._course_words) or words.is_place_of_lesson(run):
            return True
        return self._is_one_of_courses(run)

    def _could_be_course(self, run: Run) -> bool:
        """Returns True for a name that nothing but where it stands makes one of a course."""
        words = self._words
        # A text without lessons is a document: its title is its subject, which questions name for its own sake.
        if self._catalogue.courses[run.titles[0]].is_document:
            return False
        return words.is_quoted(run) or self._is_title(run)

    def _is_one_of_courses(self, run: Run) -> bool:
        """Returns True for the X of "Is the Git course longer than the X one?" and of "lesson 3 in the X one"."""
        words = self._words
        if words.word(run.last + 1) != "one" or words.carries_on(run.first - 1):
            return False
        # "Two lessons before the caching one": a lesson.
        if words.before_article(run) in _BESIDE:
            return False
        held = {token.word for token in words.tokens}
        if not held.isdisjoint(COURSE_WORDS) or lesson_numbers(words.text):
            return True
        # "Who runs the LoRA one?"
        return words.word(0) in ("who", "whose", "by")

    def _is_title(self, run: Run) -> bool:
        """Returns True for words that can be nothing but a title: all of it, or what stands where one does."""
        if run.matched > 1 and run.full:
            return True
        # "From the prompt caching lesson": a lesson is named.
        if self._words.word(run.last + 1) in LESSON_WORDS:
            return False
        if not self._words.stands_alone(run, loosely=self._loosely):
            return False
        if self._loosely and self._says_little(run):
            return False
        return self._loosely or (run.matched > 1 and self._words.is_placed(run))

    def _teachers(self, known: Sequence[CourseMention]) -> list[CourseMention]:
        """Returns the courses that are named by who teaches them."""
        taught = list(self._catalogue.teachers.values())
        found: list[CourseMention] = []
        for run in self._catalogue.teacher_names.runs(self._words.tokens):
            courses: tuple[CourseEntry, ...] = ()
            for at in run.titles:
                courses += taught[at]
            mention = self._words.mention(run.first, run.last)
            # "Course link terminal coding desmond": the course that is named is his.
            is_of_named = any(
                each in courses for name in (*known, *found) for each in name.courses
            )
            if overlaps(mention, known) or not (
                is_of_named or self._names_teacher(run)
            ):
                continue
            found.append(mention._replace(courses=courses, names_teacher=True))
        return found

    def _names_teacher(self, run: Run) -> bool:
        """Returns True for a whole name, and for a part of one that nothing else than a teacher can be."""
        if run.full and run.matched > 1:
            return True
        if self._is_owner(run) or self._acts(run):
            return True
        words = self._words
        before = words.word(run.first - 1)
        is_with = before in _WITH
        if before == "by" or (is_with and words.word(run.first - 2) in _OWNED):
            return not words.carries_on(run.last + 1)
        # "With which lesson does Okonjo close his course?", and "anything from Okonjo".
        is_of_courses = is_with or names_catalogue(words.text)
        return is_of_courses and not self._is_common(run)

    def _acts(self, run: Run) -> bool:
        """Returns True for "that Kwame teaches", and for "Tom has a whole lesson on judges"."""
        words = self._words
        verb = words.word(run.last + 1)
        # As the subject it is a name even where it begins the sentence.
        is_name = words.text[words.token(run.first).start].isupper()
        return verb in TEACHES or (is_name and verb in _HAS)

    def _is_owner(self, run: Run) -> bool:
        """Returns True for "Kwame's", and without the apostrophe for "kwames course" and "kwames last lesson"."""
        words = self._words
        last = words.token(run.last)
        if words.is_genitive(run.last):
            return True
        behind = run.last + 1
        if words.word(behind) in QUESTION_WORDS - _OWNED:
            behind += 1
        is_written = self._catalogue.teacher_names.is_written(last.word)
        is_owner = last.word.endswith("s") and not is_written
        return is_owner and words.word(behind) in _OWNED

    def _is_common(self, run: Run) -> bool:
        """Returns True for a name such as Rose, that everybody uses for other things."""
        terms = [self._words.token(at).term for at in range(run.first, run.last + 1)]
        return any(term is not None and is_common(term) for term in terms)

    def lessons(self, courses: Sequence[CourseMention]) -> tuple[LessonMention, ...]:
        """Returns the lessons named by title, where the question speaks of lessons; those of its course first."""
        found: list[LessonMention] = []
        for run in self._runs_of_lessons():
            name, start, end, *_ = mention = self._words.mention(run.first, run.last)
            if overlaps(mention, courses) or not self._names_lesson(run):
                continue
            lesson = self._lesson_in(run, courses)
            if lesson is not None:
                found.append(LessonMention(name, start, end, lesson))
        return tuple(found)

    def _runs_of_lessons(self) -> list[Run]:
        text = self._words.text
        runs = self._titles
        if self._loosely or speaks_of_lessons(text):
            return runs
        # "What comes after Circuit Breakers?", where nothing follows.
        last = -1
        if asks_for_neighbour(text):
            last = len(self._words.tokens) - 1
        named: list[Run] = []
        for run in runs:
            if run.last == last or self._is_summed_up(run) or self._is_one(run):
                named.append(run)
        return named

    def _is_summed_up(self, run: Run) -> bool:
        """Returns True for "the main points of Circuit Breakers": where nothing else is said, all of a title is one."""
        if not run.full or run.matched < 2:
            return False
        words = self._words
        before = run.first - 1
        if words.word(before) in ("of", "from"):
            before -= 1
        last_two = (words.word(before - 1), words.word(before))
        if last_two[1] not in _SUMS_UP and last_two not in _SUMS_UP_IN_TWO:
            return False
        behind = [token.word for token in words.tokens[run.last + 1 :]]
        return _COURTEOUS.issuperset(behind)

    def _is_one(self, run: Run) -> bool:
        """Returns True for "the one on prompt caching"."""
        return run.matched > 1 and self._words.is_called_after(run, _PART_WORDS)

    def _names_lesson(self, run: Run) -> bool:
        if run.full and run.matched > 1:
            return True
        return not self._is_background(run) and self._is_called_lesson(run)

    def _is_called_lesson(self, run: Run) -> bool:
        words = self._words
        if words.is_called(run, LESSON_WORDS | {"one"}) or words.is_quoted(run):
            return True
        # "What is the lesson called" names none that is called Tool Calling.
        is_name = words.word(run.first) not in CALLING
        if is_name and words.is_called_after(run, LESSON_WORDS, CALLING | {"with"}):
            return True
        if run.full and words.word(run.first - 1) in _BESIDE:
            return True
        if self._says_little(run):
            return False
        return self._loosely and words.stands_alone(run)

    def _says_little(self, run: Run) -> bool:
        """Returns True for one word such as "many", "got" or "two", which titles hold too."""
        if run.first != run.last:
            return False
        token = self._words.token(run.first)
        if token.word in NUMBER_WORDS or token.word in QUESTION_WORDS:
            return True
        return token.term is not None and is_light(token.term)

    def _is_background(self, run: Run) -> bool:
        """Returns True in front of "Which lesson was that?": what is said there describes a lesson, and names none."""
        words = self._words
        sought = _WHICH_LESSON.search(words.text)
        if sought is None or asks_for_neighbour(words.text):
            return False
        return ends_between(words.text, words.token(run.last).end, sought.start())

    def _lesson_in(self, run: Run, named: Sequence[CourseMention]) -> LessonOf | None:
        """Returns the lesson that is named, in one of the courses named; None where it may be several."""
        courses: list[CourseEntry] = []
        for mention in named:
            courses += mention.courses
        lessons = [self._catalogue.lessons[at] for at in run.titles]
        of_courses = [lesson for lesson in lessons if lesson.course in courses]
        for found in (of_courses, lessons):
            if len(found) == 1:
                return found[0]
        return None


def _is_within(run: Run, others: Sequence[Run]) -> bool:
    """Returns True for words that are a part of other, longer ones."""
    for other in others:
        inside = other.first <= run.first and run.last <= other.last
        if inside and run.matched < other.matched:
            return True
    return False


def _of_its_teacher(found: list[CourseMention]) -> list[CourseMention]:
    """Returns the mentions; of "the agents course by Kwame" both mean the courses that are called so and are his."""
    taught: set[CourseEntry] = set()
    called: set[CourseEntry] = set()
    for mention in found:
        named = taught if mention.names_teacher else called
        named.update(mention.courses)
    both = taught & called
    narrowed: list[CourseMention] = []
    for mention in found:
        of_both = tuple([each for each in mention.courses if each in both])
        narrowed.append(mention._replace(courses=of_both or mention.courses))
    return narrowed
