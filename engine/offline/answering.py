"""Answers by extraction: the sentences of the sources that answer best, each with its citation; pure."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.engine.offline.catalogue_answers import answer_from_catalogue, of_found
from antiphon.engine.offline.elsewhere import elsewhere, nothing_elsewhere
from antiphon.engine.offline.excerpts import Found, look, place_of, quote, quote_all
from antiphon.engine.offline.intents import Inquiry
from antiphon.engine.offline.remarks import heading_of, talk_back, with_remarks
from antiphon.engine.offline.statements import cite_lesson
from antiphon.engine.offline.task import Source, Task
from antiphon.engine.offline.wire import Draft
from antiphon.language.asking import NOT_HELD
from antiphon.language.certainty import LEVELS, Certainty, least, probability
from antiphon.language.evidence import WORDS_ALONE, Measures, telling_words
from antiphon.language.extract import Excerpt, extract
from antiphon.language.markup import Material
from antiphon.language.sentences import sentences
from antiphon.language.words import terms, words
from antiphon.vocabulary.events import NOT_SEARCHED, NOTHING_FOUND
from antiphon.vocabulary.ports import Json

LEAST_FOR_SUMMARY = 0.1
MOST_OF_A_SIDE = 2
MOST_ELSEWHERE = 2
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
CLOSEST = "The courses may not answer this. The closest that was found:"
FROM_CATALOGUE = "The catalogue says:"
NOTHING_TO_NOTE = "Nothing to note."
_A_COURSE = frozenset(("course", "courses", "class", "lesson", "lessons", "we", "you"))


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
        answer_of_kind = _OF_KIND.get(inquiry.kind, _answer_in_place)
        answer_of_kind(inquiry, task, measures, draft)


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
        return
    inquiry = of_found(inquiry, task)
    answer_from_catalogue(inquiry, task, draft)
    # The course is said to be the one because the passage is; what stands in its outline is sure.
    draft.doubt(max(found.certainty, "medium", key=LEVELS.index))
    if inquiry.by_lesson and not inquiry.step and "title" not in inquiry.asks:
        passages = task.passages_of(inquiry.course, inquiry.lesson)
        quote_all(look(passages, inquiry.topic, measures, limit=1), draft)
        draft.doubt(found.certainty)


def _answer_in_place(
    inquiry: Inquiry, task: Task, measures: Measures, draft: Draft
) -> None:
    """Answers from the course and lesson that are named; of a lesson the outline says what it is called."""
    passages = task.passages_of(inquiry.course, inquiry.lesson)
    of_texts = Draft()
    _answer_plainly(inquiry, passages, measures, of_texts)
    is_doubtful = not of_texts.blocks or of_texts.certainty == "low"
    if is_doubtful and inquiry.may_ask_catalogue and task.has_catalogue:
        _answer_beside(inquiry, task, of_texts, draft)
        return
    line = task.lesson_line(inquiry.lesson)
    if line is not None and line.outline.course == inquiry.course and passages:
        cite_lesson(line, draft)
    draft.add(of_texts)
    if of_texts.blocks:
        draft.doubt(of_texts.certainty)


def _answer_beside(inquiry: Inquiry, task: Task, of_texts: Draft, draft: Draft) -> None:
    """Says what the catalogue knows beside the texts, which may not answer: one of the two may be what is meant."""
    asked = inquiry
    if not inquiry.has_course:
        asked = of_found(inquiry, task)
    of_catalogue = Draft()
    answer_from_catalogue(asked, task, of_catalogue)
    in_order = [of_texts, of_catalogue]
    if inquiry.asks:
        in_order.reverse()
    for part in in_order:
        if part is of_catalogue:
            draft.paragraph(FROM_CATALOGUE)
        draft.paragraph()
        draft.add(part)
    draft.doubt("low")


def _answer_plainly(
    inquiry: Inquiry, passages: Sequence[Source], measures: Measures, draft: Draft
) -> None:
    names_lesson = inquiry.lesson is not None
    if names_lesson and not telling_words(inquiry.topic):
        _sum_lesson_up(passages, measures, draft)
        return
    found = look(passages, inquiry.focus, measures)
    # "What is taught in it, before I approve the budget": the other words ask for nothing.
    if names_lesson and inquiry.asks == {"overview"} and not found.is_likely:
        _sum_lesson_up(passages, measures, draft)
    # Whoever names the lesson knows that it speaks of what is asked, in whatever words.
    elif found.extraction.excerpts and (found.answers or names_lesson):
        _quote_found(inquiry, found, draft)


def _quote_found(inquiry: Inquiry, found: Found, draft: Draft) -> None:
    """Writes what was found, under a remark where it may not be the answer."""
    if not found.is_likely:
        draft.paragraph(inquiry.tongue.closest or CLOSEST)
    quote_all(found, draft)
    draft.doubt(max(found.certainty, "low", key=LEVELS.index))


def _answer_not_held(
    inquiry: Inquiry, task: Task, measures: Measures, draft: Draft
) -> None:
    """Answers what no catalogue holds, such as the price of a course, where a sentence says it of a course."""
    passages = task.passages_of(inquiry.course, None)
    wanted = NOT_HELD.intersection(words(inquiry.question))
    found = look(passages, inquiry.topic, measures, limit=1)
    for excerpt in found.extraction.excerpts:
        said = words(found.sources[excerpt.passage].blocks[excerpt.key])
        if _A_COURSE.isdisjoint(said) or wanted.isdisjoint(said):
            continue
        quote_all(found, draft)
        draft.doubt("medium")
        return
    draft.decline(NOT_IN_CATALOGUE, NOTHING_FOUND)


def _answer_sides(
    inquiry: Inquiry, task: Task, measures: Measures, draft: Draft
) -> None:
    """Answers each side in turn; a side that nothing was found for is named as such."""
    # Where neither side is answered, the general statement is truer than two that nothing was found.
    levels: list[Certainty] = []
    missing = nowhere = False
    answers = Draft()
    for side in inquiry.sides:
        passages = task.found_for(side.topic, side.course)
        # Before two things can be compared, each has to be known for what it is.
        asked = f"What is {side.topic}?"
        found = look(passages, asked, measures, MOST_OF_A_SIDE)
        if found.answers:
            _quote_part(f"On {side.topic}", found, answers)
            levels.append(found.certainty)
        else:
            answers.paragraph(f"On {side.topic}: {_nothing(side.topic, task)}")
            missing = True
            nowhere = nowhere or found.is_of_unknown
    if not levels:
        return
    if nowhere:
        # With what the courses have no word for, they compare nothing.
        levels.append("low")
    draft.blocks += answers.blocks
    draft.doubt(least(levels), part_missing=missing)


def _nothing(topic: str, task: Task) -> str:
    """Says that nothing was found on a topic, and no more than was looked into."""
    if task.was_searched_everywhere(topic):
        return "nothing that answers this was found in these courses."
    return "nothing that answers this was found where it was looked for."


def _quote_part(opening: str, found: Found, draft: Draft) -> None:
    """Writes the excerpts of one part of an answer, the part's name before the first."""
    for excerpt in found.extraction.excerpts:
        source = found.sources[excerpt.passage]
        if excerpt is found.extraction.excerpts[0]:
            draft.paragraph(f"{opening} ({place_of(source, with_course=True)}): ")
        else:
            draft.paragraph(f"{place_of(source, with_course=True)}: ")
        quote(excerpt, source, draft)


def _answer_by_course(
    inquiry: Inquiry, task: Task, measures: Measures, draft: Draft
) -> None:
    """Writes one excerpt for each course that speaks of the topic, the most to the point first.

    Those that the question names are the ones it leaves out: "Which course besides X …".
    """
    topic = inquiry.focus
    by_course: dict[str, list[Source]] = {}
    for source in task.passages:
        if source.course not in inquiry.courses:
            by_course.setdefault(source.course, []).append(source)
    answers: list[Found] = []
    for passages in by_course.values():
        found = look(passages, topic, measures, limit=1)
        if found.answers and found.extraction.excerpts:
            answers.append(found)
    # Sorting is stable: of two that are equally likely the course that was found first comes first.
    answers.sort(key=lambda found: -probability(found.extraction.fit))
    for found in answers:
        excerpt = found.extraction.excerpts[0]
        source = found.sources[excerpt.passage]
        draft.paragraph(f"In {place_of(source, with_course=True)}: ")
        quote(excerpt, source, draft)
    levels = [_sure_of_course(found, topic) for found in answers]
    draft.doubt(max(levels, key=LEVELS.index, default="none"))


def _sure_of_course(found: Found, topic: str) -> Certainty:
    """Returns how sure it is that a course speaks of a topic: a lesson that is called after it is about it."""
    named = frozenset(terms(" ".join(telling_words(topic))))
    source = found.sources[found.extraction.excerpts[0].passage]
    if found.certainty == "low" and named and named <= frozenset(terms(source.title)):
        return "medium"
    return found.certainty


def _answer_elsewhere(
    inquiry: Inquiry, task: Task, measures: Measures, draft: Draft
) -> None:
    """States a lesson's topic, and quotes other courses on it."""
    if not task.outlines:
        _answer_in_place(inquiry, task, measures, draft)
        return
    lesson = task.lesson_line(inquiry.lesson)
    if lesson is None:
        draft.say(f"The outline names no lesson {inquiry.lesson}.")
        return
    course = lesson.outline.course
    cite_lesson(lesson, draft)
    places = elsewhere(lesson.title, course, inquiry.lesson, task, measures.weigh)
    for place in places[:MOST_ELSEWHERE]:
        found = look([place.passage], place.topic, measures, limit=1)
        excerpt = Excerpt(0, 0, min(2, len(place.passage.blocks)), 0, 1.0)
        if found.extraction.excerpts:
            excerpt = found.extraction.excerpts[0]
        draft.paragraph(f"In {place_of(place.passage, with_course=True)}: ")
        quote(excerpt, place.passage, draft)
    if places:
        draft.doubt(places[0].certainty)
    else:
        draft.say(f" {nothing_elsewhere(course, task)}")
        draft.doubt("medium")


def _sum_lesson_up(sources: Sequence[Source], measures: Measures, draft: Draft) -> None:
    """Quotes what tells most of what a lesson is about, in the order of the lesson, where nothing closer is asked."""
    if not sources:
        return
    # What a lesson is about is what its title names, so that opening pleasantries are passed over.
    found = look(sources, f"What is {sources[0].title}?", measures)
    in_order = sorted(found.extraction.excerpts)
    if not in_order:
        in_order = [Excerpt(0, 0, min(2, len(sources[0].blocks)), 0, 1.0)]
    for excerpt in in_order:
        source = sources[excerpt.passage]
        draft.paragraph(f"{place_of(source, with_course=False)}: ")
        quote(excerpt, source, draft)
    draft.doubt("medium")


_OF_KIND = {
    "find": _answer_of_found,
    "look_up": _answer_elsewhere,
    "compare": _answer_sides,
    "across": _answer_by_course,
    "not_held": _answer_not_held,
}
