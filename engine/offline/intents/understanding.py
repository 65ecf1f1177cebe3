"""Understands a message, step by step: the questions in it, and of each the places it names and its kind."""

from __future__ import annotations

import re
from collections.abc import Sequence

from antiphon.engine.offline.catalogue import EMPTY, Catalogue
from antiphon.engine.offline.intents.beside import neighbour_by_meaning
from antiphon.engine.offline.intents.by_meaning import small_talk_by_meaning
from antiphon.engine.offline.intents.follow_ups import follow_up, placed_by_answer
from antiphon.engine.offline.intents.foreign_words import (
    foreign_words,
)
from antiphon.engine.offline.intents.inquiry import NO_QUESTION, Inquiry
from antiphon.engine.offline.intents.joining import LEANS, joined
from antiphon.engine.offline.intents.kinds import with_kind
from antiphon.engine.offline.intents.parsing import parse
from antiphon.engine.offline.intents.places import (
    in_only_course,
    with_courses,
    with_lesson,
)
from antiphon.engine.offline.intents.two_steps import (
    after_lesson,
    asked_elsewhere,
    finding_first,
    in_found_lesson,
    in_two_steps,
    steps_in,
    told_first,
)
from antiphon.engine.offline.intents.wording import MOST_CHARS, in_english, plainly
from antiphon.language.asking import Ask
from antiphon.language.lesson_parts import AskedPart, asked_part
from antiphon.language.lesson_places import lesson_place
from antiphon.language.lesson_position import LessonPlace
from antiphon.language.question_borders import questions_in
from antiphon.language.small_talk import small_talk
from antiphon.language.tongues import ENGLISH, Tongue, tongue_of

MOST_EARLIER = 3

_MOST_FOREIGN = 3
_TOLD_BY_TEXTS: frozenset[Ask] = frozenset({"overview"})
_HOW_MANY_ALONE = re.compile(
    r"\bhow many\b(?=\s+(?:has|have|does|do|did|are|is|in|of|for|with)\b)", re.I
)


def understand(
    question: str,
    earlier: Sequence[str] = (),
    catalogue: Catalogue = EMPTY,
    answered: str = "",
) -> Inquiry:
    """Reads a message: small talk, one question, or several.

    Args:
        earlier: Earlier questions of the conversation, oldest first.
        catalogue: The courses that there are; empty where none is at hand.
        answered: The answer to the last of the earlier questions.
    """
    talk = small_talk(question) or small_talk_by_meaning(question, catalogue)
    if talk is not None:
        return Inquiry("greeting", question[:MOST_CHARS], "", talk=talk)
    asked = plainly(question)
    before = _before(earlier, catalogue, answered)
    tongue = tongue_of(asked)
    # One set of rules reads what is asked of a catalogue, in whichever language.
    english = in_english(asked, tongue, catalogue)
    inquiry = _understand_all(english, before, catalogue)
    if tongue is not ENGLISH and inquiry.kind != "outline":
        inquiry = _without_foreign_words(english, before, catalogue) or inquiry
    if not any(part.speaks_of_catalogue for part in inquiry.parts or (inquiry,)):
        inquiry = _understand_all(asked, before, catalogue)
    return _asked_in(tongue, inquiry)


def _without_foreign_words(
    english: str, before: Inquiry, catalogue: Catalogue
) -> Inquiry | None:
    """Returns what a question asks of the catalogue, if a few words that no table translates are all else in it."""
    foreign = foreign_words(english, catalogue)
    if not 0 < len(foreign) <= _MOST_FOREIGN:
        return None
    kept = english
    for token in reversed(foreign):
        kept = kept[: token.start] + kept[token.end :]
    inquiry = _understand_all(kept, before, catalogue)
    if inquiry.kind != "outline" or inquiry.asks <= _TOLD_BY_TEXTS:
        return None
    return inquiry


def _understand_all(asked: str, before: Inquiry, catalogue: Catalogue) -> Inquiry:
    inquiry: Inquiry | None = None
    finding = finding_first(asked)
    if finding is not None:
        inquiry = _understand_finding(finding, before, catalogue)
    steps = steps_in(asked)
    if inquiry is None and steps is not None:
        inquiry = _understand_steps(steps, before, catalogue)
    elif inquiry is None:
        inquiry = _understand_told(asked, before, catalogue)
    return inquiry or _understand_each(asked, before, catalogue)


def _understand_steps(
    steps: tuple[str, str], before: Inquiry, catalogue: Catalogue
) -> Inquiry | None:
    """Returns what is asked of a lesson to look at; None for a step that is no more than how the question begins."""
    first, then = steps
    step = _understand_one(first, before, catalogue)
    if not _is_known_lesson(step, catalogue):
        return None
    # "Take the lesson after X": it is the one to look at.
    beside = _neighbour(step, catalogue)
    if beside is not None:
        step = step._replace(lesson=beside, step=0)
    place = lesson_place(then)
    if place is not None and place.is_relative:
        # "Tell me what the following lesson says of it."
        then = f"In lesson {step.lesson} of \u201c{step.course}\u201d, {then}"
        return _understand_one(then, step, catalogue)
    return in_two_steps(step, _understand_each(then, step, catalogue), then)


def _is_known_lesson(step: Inquiry, catalogue: Catalogue) -> bool:
    return step.is_about_lesson and catalogue.course(step.course) is not None


def _understand_told(
    text: str, before: Inquiry, catalogue: Catalogue
) -> Inquiry | None:
    """Returns what is asked behind a statement about one lesson, where another course has to answer it."""
    told = told_first(text)
    if told is None:
        return None
    said, asked = told
    lesson = _understand_one(said, before, catalogue)
    if not _is_known_lesson(lesson, catalogue) or lesson.lessons or lesson.other:
        return None
    return asked_elsewhere(lesson, _understand_each(asked, lesson, catalogue), asked)


def _understand_finding(
    steps: tuple[str, str], before: Inquiry, catalogue: Catalogue
) -> Inquiry | None:
    """Returns "which course deals with gyms? Give me its link": one question where it can be asked as one."""
    first, then = steps
    place = _understand_one(first, before, catalogue)
    if place.kind == "find" and place.by_lesson:
        return in_found_lesson(place, then)
    # A lesson that is known is only to be looked at.
    if _is_known_lesson(place, catalogue):
        return None
    asked = " ".join(steps)
    inquiry = _understand_each(asked, before, catalogue)
    if inquiry.kind in ("find", "several"):
        return inquiry
    return _understand_parts(asked, steps, before, catalogue)


def _understand_each(asked: str, before: Inquiry, catalogue: Catalogue) -> Inquiry:
    return _understand_parts(asked, questions_in(asked), before, catalogue)


def _understand_parts(
    asked: str, questions: Sequence[str], before: Inquiry, catalogue: Catalogue
) -> Inquiry:
    parts: list[Inquiry] = []
    for part in questions:
        if parts:
            part = _counting_the_same(part, parts[-1])
        before = _understand_one(part, before, catalogue)
        if parts and catalogue:
            before = _of_course_before(parts[-1], before, part, catalogue)
            before = after_lesson(parts[-1], before)
        if parts:
            before = joined(parts, before, part)
        parts.append(before)
    if len(parts) == 1:
        return parts[0]
    return Inquiry("several", asked, asked, parts=tuple(parts))


def _of_course_before(
    first: Inquiry, inquiry: Inquiry, part: str, catalogue: Catalogue
) -> Inquiry:
    """Returns "and which company does she speak of in it?" as asked of the course that the question before names."""
    if inquiry.course is not None:
        return inquiry
    if _names_lesson(inquiry) and catalogue.course(first.course):
        # "…, and what is lesson 7 called?"
        return _understand_one(
            f"In \u201c{first.course}\u201d, {part}", first, catalogue
        )
    if inquiry.has_course or not LEANS.search(part):
        return inquiry
    return _leaning_on(first, inquiry, part, catalogue)


def _names_lesson(inquiry: Inquiry) -> bool:
    """Returns True for a lesson by its number or its place, of whichever course."""
    return inquiry.place is not None and not inquiry.place.is_relative


def _leaning_on(
    first: Inquiry, inquiry: Inquiry, part: str, catalogue: Catalogue
) -> Inquiry:
    """Returns what is asked of "it" as asked of the course, or of the lesson beside another, that was asked for."""
    if first.kind == "outline" and catalogue.course(first.course):
        place = f"In \u201c{first.course}\u201d"
        number = _neighbour(first, catalogue)
        if number is not None and inquiry.kind == "plain":
            place = f"In lesson {number} of \u201c{first.course}\u201d"
        return _understand_one(f"{place}, {part}", first, catalogue)
    if first.kind == "find" and inquiry.kind == "across":
        return inquiry._replace(kind="plain")
    return inquiry


def _neighbour(inquiry: Inquiry, catalogue: Catalogue) -> int | None:
    """Returns the number of the lesson that is asked for as the one beside another; None where none is."""
    if inquiry.lesson is None or not inquiry.step:
        return None
    place = LessonPlace(number=inquiry.lesson, step=inquiry.step)
    return place.among(catalogue.numbers_of(inquiry.course))


def _counting_the_same(part: str, first: Inquiry) -> str:
    """Returns "and how many has B?", behind a question how many lessons A has, with the word that was left out."""
    if "lessons" not in first.asks:
        return part
    return _HOW_MANY_ALONE.sub("how many lessons", part, count=1)


def _asked_in(tongue: Tongue, inquiry: Inquiry) -> Inquiry:
    parts = [part._replace(tongue=tongue) for part in inquiry.parts]
    return inquiry._replace(tongue=tongue, parts=tuple(parts))


def _understand_one(question: str, before: Inquiry, catalogue: Catalogue) -> Inquiry:
    asked = asked_part(question)
    if asked is not None:
        of_part = _understand_part(asked, before, catalogue)
        if of_part is not None:
            return of_part._replace(question=question)
    beside = neighbour_by_meaning(question, catalogue)
    if beside is not None:
        return _understand_place(beside, NO_QUESTION, catalogue)
    return _understand_place(question, before, catalogue)


def _understand_part(
    asked: AskedPart, before: Inquiry, catalogue: Catalogue
) -> Inquiry | None:
    """Returns how a lesson begins or ends as asked of that lesson; None where none is meant: "How does it end?"."""
    whole = f"What is covered in {asked.place}?"
    inquiry = _understand_place(whole, before, catalogue)
    if inquiry.is_about_lesson or (inquiry.kind == "find" and inquiry.place):
        return inquiry._replace(part=asked.part)
    inquiry = _understand_place(f"Which lesson is {asked.place}?", before, catalogue)
    if inquiry.kind == "find" and inquiry.by_lesson:
        return inquiry._replace(part=asked.part)
    return None


def _understand_place(question: str, before: Inquiry, catalogue: Catalogue) -> Inquiry:
    parsed = parse(question, before, catalogue)
    inquiry = with_courses(parsed)
    inquiry = follow_up(inquiry, parsed)
    inquiry = in_only_course(inquiry, parsed)
    inquiry = with_lesson(inquiry, parsed)
    return with_kind(inquiry, parsed)


def _before(earlier: Sequence[str], catalogue: Catalogue, answered: str) -> Inquiry:
    """Returns the last earlier question as it was understood, with a place that its answer named."""
    questions = [each for each in earlier if small_talk(each) is None]
    if not questions:
        return NO_QUESTION
    *recent, last = questions[-MOST_EARLIER:]
    inquiry = understand(last, recent, catalogue)
    if inquiry.parts:
        inquiry = inquiry.parts[-1]
    # After "the next lesson", that one was named.
    beside = _neighbour(inquiry, catalogue)
    if beside is not None and inquiry.kind == "outline":
        inquiry = inquiry._replace(lesson=beside, step=0)
    return placed_by_answer(inquiry, catalogue, answered)
