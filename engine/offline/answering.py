"""Answers by extraction: the sentences of the sources that answer best, each with its citation; pure."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from antiphon.engine.offline.across import answer_by_course, answer_elsewhere
from antiphon.engine.offline.catalogue_answers import answer_from_catalogue, of_found
from antiphon.engine.offline.comparing import answer_sides
from antiphon.engine.offline.excerpts import Found, look, quote_all
from antiphon.engine.offline.in_place import (
    answer_beside,
    answer_in_place,
    answer_part,
    answer_second_step,
)
from antiphon.engine.offline.intents import EXACT, Inquiry
from antiphon.engine.offline.lesson_overview import sum_lesson_up
from antiphon.engine.offline.remarks import (
    heading_of,
    owning_up,
    talk_back,
    with_remarks,
)
from antiphon.engine.offline.task import Source, Task
from antiphon.engine.offline.wire import Draft
from antiphon.language.asking import NOT_HELD, asks_what_to_know
from antiphon.language.certainty import LEVELS, Certainty, least
from antiphon.language.evidence import WORDS_ALONE, Measures
from antiphon.language.extract import MOST_EXCERPTS, Excerpt, extract
from antiphon.language.markup import Material
from antiphon.language.sentences import sentences
from antiphon.language.words import words
from antiphon.vocabulary.events import NOT_SEARCHED, NOTHING_FOUND
from antiphon.vocabulary.ports import Json

LEAST_FOR_SUMMARY = 0.1
MOST_MATERIAL = 100

IRRELEVANT = "The answer is not in these courses: what was found in them does not speak to this question."
NOT_IN_CATALOGUE = (
    "That is not in the catalogue, which holds the title, the teacher, the lessons and the links of a course, "
    "and nothing in these courses was found to say it."
)
NO_MATCH = (
    "The answer is not in these courses: nothing was found in them for this question."
)
ALL_FAILED = "Nothing could be looked up in the courses for this question, because every tool call failed."
NO_CALL = "Nothing was searched for this question, and without course material there is no answer to give."
NOTHING_TO_NOTE = "Nothing to note."
_TO_KNOW = frozenset(("know", "need", "prerequisites"))
_A_COURSE = frozenset(
    ("prerequisites", "course", "courses", "class", "lesson", "lessons", "we", "you")
)


def answer(task: Task, measures: Measures = WORDS_ALONE) -> Draft:
    """Writes the answer, or a statement that there is none."""
    inquiry = task.inquiry
    draft = Draft()
    if inquiry.kind == "greeting":
        draft.say(talk_back(inquiry, task))
    elif not task.sources:
        _decline(task, draft)
    elif inquiry.parts:
        _answer_parts(inquiry, task, measures, draft)
    else:
        _answer_from_sources(inquiry, task, measures, draft)
    # Nothing in the sources was evidence enough.
    if not draft.blocks:
        draft.decline(inquiry.tongue.nothing or IRRELEVANT, NOTHING_FOUND)
    return with_remarks(inquiry, task, draft)


def summary(
    question: str, material: Sequence[Material], measures: Measures = WORDS_ALONE
) -> list[Json]:
    """Sums the material up by the sentences that answer most of the question, each with its source, in one block."""
    material = material[:MOST_MATERIAL]
    passages = [sentences(each.said) for each in material]
    labels = [each.source for each in material]
    found = extract(question, passages, measures, titles=labels)
    if found.evidence < LEAST_FOR_SUMMARY:
        return [{"type": "text", "text": NOTHING_TO_NOTE}]
    noted: list[str] = []
    for excerpt in found.excerpts:
        passage = passages[excerpt.passage]
        quoted = "".join(passage[excerpt.first : excerpt.end]).strip()
        noted.append(f"{labels[excerpt.passage]}: {quoted}")
    return [{"type": "text", "text": " ".join(noted)}]


def _answer_parts(
    inquiry: Inquiry, task: Task, measures: Measures, draft: Draft
) -> None:
    """Answers each question of several in its turn; one that nothing was found for is named."""
    missing = False
    drafts: list[Draft] = []
    answers = Draft()
    for part in inquiry.parts:
        of_part = Draft()
        _answer_from_sources(part, task, measures, of_part)
        answers.paragraph(heading_of(part))
        if of_part.blocks:
            answers.add(of_part)
            drafts.append(of_part)
            missing = missing or of_part.part_missing
        else:
            answers.say("Nothing that answers this was found in these courses.")
            missing = True
    # Where none is answered, the general statement is truer than several that nothing was found.
    if drafts:
        draft.add(answers)
        draft.doubt(least([each.certainty for each in drafts]), part_missing=missing)


def _decline(task: Task, draft: Draft) -> None:
    """Says why nothing is there to answer from."""
    outcomes = {attempt.outcome for attempt in task.attempts}
    if not outcomes:
        draft.decline(NO_CALL, NOT_SEARCHED)
    elif task.unknown_course:
        draft.decline(task.unknown_course, NOTHING_FOUND)
    elif outcomes == {"failed"}:
        draft.decline(ALL_FAILED, NOT_SEARCHED)
    else:
        draft.decline(task.inquiry.tongue.nothing or NO_MATCH, NOTHING_FOUND)


def _answer_from_sources(
    inquiry: Inquiry, task: Task, measures: Measures, draft: Draft
) -> None:
    if inquiry.kind == "outline" and task.unknown_course:
        _answer_of_meant(inquiry, task, measures, draft)
    # An outline answers where one is asked for, and also where there is nothing else.
    elif task.has_catalogue and (inquiry.kind == "outline" or not task.passages):
        answer_from_catalogue(inquiry, task, draft)
        if inquiry.asks == {"duration"}:
            # No outline says it.
            draft.doubt("low")
    else:
        _answer_from_texts(inquiry, task, measures, draft)


def _answer_from_texts(
    inquiry: Inquiry, task: Task, measures: Measures, draft: Draft
) -> None:
    answer_of_kind = _OF_KIND.get(inquiry.kind, answer_in_place)
    of_texts = Draft()
    answer_of_kind(inquiry, task, measures, of_texts)
    if inquiry.may_ask_catalogue and task.has_catalogue and not of_texts.is_sure:
        answer_beside(inquiry, task, of_texts, draft)
    else:
        draft.take(of_texts)
    # What the catalogue is asked for exactly, it says exactly.
    if not (task.has_catalogue and inquiry.asks & EXACT):
        draft.take(owning_up(inquiry, draft))


def _answer_of_meant(
    inquiry: Inquiry, task: Task, measures: Measures, draft: Draft
) -> None:
    """Answers of the course that speaks most of what none is called, and says that none is."""
    name = inquiry.unknown or inquiry.focus
    found = look(task.passages, name, measures)
    if not task.outlines or not found.is_likely:
        draft.decline(task.unknown_course or NO_MATCH, NOTHING_FOUND)
        return
    draft.say(
        f"No course is called \u201c{name}\u201d; this is the one that speaks of it."
    )
    answer_from_catalogue(inquiry, task, draft)
    draft.doubt("medium")


def _answer_of_found(
    inquiry: Inquiry, task: Task, measures: Measures, draft: Draft
) -> None:
    """Answers what is asked of a course or lesson that was found by what it says; a lesson itself is quoted."""
    found = look(task.passages, inquiry.topic, measures)
    if not found.answers:
        if inquiry.asks_of_found_course:
            answer_in_place(
                inquiry._replace(kind="plain", topic=inquiry.question),
                task,
                measures,
                draft,
            )
        return
    inquiry = of_found(inquiry, task)
    if inquiry.part is not None and answer_part(inquiry, task, draft):
        draft.doubt(_sure_of_place(found))
        return
    if inquiry.wanted:
        sure = answer_second_step(
            inquiry, _of_second_step(inquiry, task), measures, draft
        )
        draft.doubt(least([sure, _sure_of_place(found)]))
        return
    _answer_of_place(inquiry, found, task, measures, draft)


def _of_second_step(inquiry: Inquiry, task: Task) -> list[Source]:
    """Returns the passages of the place that was found: first those that were found there for what is asked."""
    of_place = task.passages_of(inquiry.course, inquiry.lesson)
    found = task.found_for(inquiry.wanted, inquiry.course)
    # A dict keeps each passage once, in this order.
    ordered = dict.fromkeys([*found, *of_place])
    return [source for source in ordered if source in of_place]


def _sure_of_place(found: Found) -> Certainty:
    """Returns how sure it is that a course or lesson is the one: it is, because what it says is."""
    return max(found.certainty, "medium", key=LEVELS.index)


def _answer_of_place(
    inquiry: Inquiry, found: Found, task: Task, measures: Measures, draft: Draft
) -> None:
    """Answers from the catalogue of a course or lesson that was found, and quotes the lesson where it is asked for."""
    answer_from_catalogue(inquiry, task, draft)
    # What stands in its outline is sure.
    draft.doubt(_sure_of_place(found))
    if inquiry.by_lesson and not inquiry.step and "title" not in inquiry.asks:
        passages = task.passages_of(inquiry.course, inquiry.lesson)
        of_lesson = look(passages, inquiry.topic, measures, limit=1)
        quote_all(of_lesson, draft)
        # Another lesson may speak of it more plainly, such as an introduction that announces this one.
        known = max(of_lesson.certainty, "medium", key=LEVELS.index)
        draft.doubt(least([found.certainty, known]))
    elif not inquiry.by_lesson and inquiry.is_about_lesson and not inquiry.step:
        _sum_up_where_asked(inquiry, task, measures, draft)


def _sum_up_where_asked(
    inquiry: Inquiry, task: Task, measures: Measures, draft: Draft
) -> None:
    """Sums up the lesson of a course that was found, where it is asked what that lesson is about."""
    passages = task.passages_of(inquiry.course, inquiry.lesson)
    if "overview" in inquiry.asks:
        sum_lesson_up(passages, measures, draft)


def _answer_not_held(
    inquiry: Inquiry, task: Task, measures: Measures, draft: Draft
) -> None:
    """Answers what no catalogue holds, such as the price of a course, where a sentence says it of a course."""
    passages = task.passages_of(inquiry.course, None)
    wanted = NOT_HELD.intersection(words(inquiry.question))
    most = 1
    if asks_what_to_know(inquiry.question):
        wanted, most = wanted | _TO_KNOW, MOST_EXCERPTS
    found = look(passages, inquiry.topic, measures, limit=most)
    telling: list[Excerpt] = []
    for excerpt in found.extraction.excerpts:
        run = found.sources[excerpt.passage].blocks[excerpt.first : excerpt.end]
        if _says_of_course(run, wanted):
            telling.append(excerpt)
    if not telling:
        draft.decline(NOT_IN_CATALOGUE, NOTHING_FOUND)
        return
    extraction = found.extraction._replace(excerpts=tuple(telling))
    quote_all(found._replace(extraction=extraction), draft)
    draft.doubt("medium")


def _says_of_course(sentences_said: Sequence[str], wanted: AbstractSet[str]) -> bool:
    """Returns True where a sentence holds what is wanted, and speaks of a course or to those who take it."""
    for sentence in sentences_said:
        said = words(sentence)
        if not _A_COURSE.isdisjoint(said) and not wanted.isdisjoint(said):
            return True
    return False


_OF_KIND = {
    "find": _answer_of_found,
    "look_up": answer_elsewhere,
    "compare": answer_sides,
    "across": answer_by_course,
    "not_held": _answer_not_held,
}
