"""Answers with windows of the best passages, each cited below its source, and with facts of the catalogue."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.engine.offline.asked import Inquiry, Talk
from antiphon.engine.offline.catalogue_answers import (
    answer_from_catalogue,
    cite_lesson,
    name_titled,
    state,
)
from antiphon.engine.offline.languages import languages_unlike
from antiphon.engine.offline.layout import (
    gap,
    has_bare_rows,
    header_in,
    in_code,
    is_laid_out,
    is_row_of_table,
    laid_out,
    marked,
    shown,
    without_bars,
)
from antiphon.engine.offline.likelihood import (
    FOUND,
    REFUSED,
    Fit,
    fit_of,
)
from antiphon.engine.offline.outline import Outline
from antiphon.engine.offline.planning import first_found, lesson_beside, titled
from antiphon.engine.offline.spelling import corrected
from antiphon.engine.offline.task import COURSE_TOOLS, Source, Task
from antiphon.engine.offline.windows import NEAR, Window, look
from antiphon.engine.offline.wire import Certainty, Draft
from antiphon.language.evidence import WORDS_ALONE, Measures
from antiphon.language.markup import Material
from antiphon.language.sentences import sentences
from antiphon.vocabulary.events import NOT_SEARCHED, NOTHING_FOUND
from antiphon.vocabulary.ports import Json

NO_MATCH = (
    "The answer is not in these courses: nothing was found in them for this question."
)
CLOSEST = "The answer is most likely not in these courses."
SHOWN_ANYWAY = "The closest that was found:"
ALL_FAILED = "Nothing could be looked up in the courses for this question, because every tool call failed."
NO_CALL = "Nothing was searched for this question, and without course material there is no answer to give."
NOTHING_TO_NOTE = "Nothing to note."
MOST_MATERIAL = 100
MOST_NOTED = 3
MOST_OF_PLACE = 2
"""Most passages from the place that a question names that come before the best of all courses."""
_REPLIES: dict[Talk, str] = {
    "hello": "Hello. Ask me about the courses: what they teach, in which lesson, or how a course is built.",
    "thanks": "You are welcome. Ask on, if there is more.",
    "bye": "Goodbye.",
}


def answer(inquiry: Inquiry, task: Task, measures: Measures = WORDS_ALONE) -> Draft:
    """Writes the answer, or a statement that there is none."""
    draft = Draft()
    if inquiry.kind == "greeting":
        draft.say(_REPLIES[inquiry.talk])
    elif inquiry.kind == "conversation":
        draft.say(_conversation(task))
    elif not task.sources:
        _decline(inquiry, task, draft)
    elif task.has_catalogue and (inquiry.kind == "catalogue" or not task.passages):
        answer_from_catalogue(inquiry, task, draft)
    else:
        _answer_from_texts(inquiry, task, measures, draft)
    if not draft.blocks:
        draft.decline(_not_found(NO_MATCH, inquiry, task), NOTHING_FOUND)
    return draft


def _conversation(task: Task) -> str:
    """Returns the conversation so far; of a long one the request shows only the later exchanges."""
    if not task.conversation:
        return "Nothing was asked in this conversation before."
    lines = [f"- {line}" for line in task.conversation.splitlines() if line.strip()]
    said = "\n".join(lines)
    return f"This was asked before, the oldest first, as far as this conversation is shown to me:\n\n{said}"


def summary(
    question: str, material: Sequence[Material], measures: Measures = WORDS_ALONE
) -> list[Json]:
    """Sums material up by the parts most like the question, each with its source, in one block."""
    sources: list[Source] = []
    for each in material[:MOST_MATERIAL]:
        said = tuple(sentences(each.said))
        if said:
            sources.append(Source(None, each.source, "", said))
    looked = look(question, sources, measures, most=MOST_MATERIAL, near=0.0)
    best = sorted(looked.windows, key=lambda window: -window.worth)
    noted = [
        f"{window.source.source}: {window.text.strip()}"
        for window in best[:MOST_NOTED]
        if window.worth > 0
    ]
    return [{"type": "text", "text": " ".join(noted) or NOTHING_TO_NOTE}]


def _not_found(sentence: str, inquiry: Inquiry, task: Task) -> str:
    """Adds the courses' language, if that may be why nothing was found."""
    courses = [inquiry.course] if inquiry.course else task.catalogue.courses
    return f"{sentence} {languages_unlike(inquiry.question, courses)}".rstrip()


def _decline(inquiry: Inquiry, task: Task, draft: Draft) -> None:
    """Declines, and says why there is nothing to answer from."""
    outcomes = {attempt.outcome for attempt in task.attempts}
    if not outcomes:
        draft.decline(NO_CALL, NOT_SEARCHED)
    elif task.unknown_course:
        draft.decline(task.unknown_course, NOTHING_FOUND)
    elif outcomes == {"failed"}:
        draft.decline(ALL_FAILED, NOT_SEARCHED)
    else:
        draft.decline(_not_found(NO_MATCH, inquiry, task), NOTHING_FOUND)


def _answer_from_texts(
    inquiry: Inquiry, task: Task, measures: Measures, draft: Draft
) -> None:
    sources = _in_order(inquiry, task)
    question = corrected(inquiry.sought, sources, measures.weigh)
    # If the answer covers a whole lesson or several courses, a likelier passage must not crowd out another.
    near = NEAR if inquiry.kind == "text" and not inquiry.is_elsewhere else 0.0
    looked = look(question, sources, measures, near=near)
    if not looked.windows:
        return
    fit = fit_of(question, looked, measures)
    lacks = inquiry.kind == "text" and fit.lacks
    by_title = inquiry.asks_place and titled(inquiry, task)
    sure = "high" if by_title else _sure(inquiry, fit, lacks=lacks)
    _open(inquiry, task, sure, looked.windows[0].source, draft)
    for window in looked.windows:
        _quote(window, draft, with_course=len(task.catalogue.courses) != 1)
    draft.doubt(sure, part_missing=lacks)


def _sure(inquiry: Inquiry, fit: Fit, *, lacks: bool) -> Certainty:
    """Returns how certain it is that the windows answer the question."""
    # Texts seldom answer a question to the catalogue, and several lessons may speak of the same thing.
    is_of_catalogue = inquiry.kind == "text" and inquiry.asks_catalogue
    is_of_catalogue = is_of_catalogue or inquiry.asks_place
    if fit.right >= FOUND and not lacks and not is_of_catalogue:
        return "high"
    # A question for a place uses words that the place's texts hardly contain, so a low fit proves nothing.
    is_judged = inquiry.kind == "text" or inquiry.asks_place
    if fit.answerable >= REFUSED or not is_judged or inquiry.is_elsewhere:
        return "medium"
    return "low"


def _open(
    inquiry: Inquiry, task: Task, sure: Certainty, best: Source, draft: Draft
) -> None:
    """Writes the opening: facts of the catalogue, or a warning that the windows may not be an answer."""
    if inquiry.kind == "lesson":
        _name_lesson(inquiry, task, draft)
    elif inquiry.kind == "find" and sure != "low":
        _state_found(inquiry, task, best, draft)
    elif sure == "low":
        draft.paragraph(f"{_not_found(CLOSEST, inquiry, task)} {SHOWN_ANYWAY}")


def _in_order(inquiry: Inquiry, task: Task) -> list[Source]:
    """Returns the passages, best first: in each search's order, but with a few from the named place in front."""
    of_own_tools: list[Source] = []
    of_place: list[Source] = []
    ranked: list[Source] = []
    for attempt in task.attempts:
        found = task.numbered(attempt.facts)
        ranked += found
        if attempt.tool not in COURSE_TOOLS:
            of_own_tools += found
        elif attempt.arguments.keys() & {"course_name", "lesson_number"}:
            of_place += found
    if inquiry.is_elsewhere:
        of_place = _one_of_each_course(of_place, inquiry)
    # A dictionary, which keeps each passage once and in this order.
    before = [*of_own_tools, *of_place[:MOST_OF_PLACE]]
    ordered = dict.fromkeys([*before, *ranked, *task.passages])
    found = [source for source in ordered if source.blocks]
    beside = lesson_beside(inquiry, task)
    if beside is not None:
        found.sort(key=lambda source: source.lesson != beside)
    return found


def _one_of_each_course(sources: Sequence[Source], inquiry: Inquiry) -> list[Source]:
    """Returns the best passage of each course except the one that the question names."""
    best: dict[str, Source] = {}
    for source in sources:
        if inquiry.course is None or source.course != inquiry.course.title:
            best.setdefault(source.course, source)
    return list(best.values())


def _name_lesson(inquiry: Inquiry, task: Task, draft: Draft) -> None:
    for outline in task.outlines:
        line = outline.lesson_line(inquiry.lesson)
        if line is not None:
            cite_lesson(line, draft)
            return


def _state_found(inquiry: Inquiry, task: Task, best: Source, draft: Draft) -> None:
    """States the catalogue's facts about the lessons titled as the topic, or else about the lesson that was found."""
    if name_titled(inquiry, task, draft):
        return
    found = first_found(task)
    if found is None or (inquiry.asks_place and best.lesson is None):
        # The best passage is outside lessons: naming another passage's lesson would be a guess.
        return
    for source in task.outlines:
        if source.course != found.course:
            continue
        asks = inquiry.asks - {"courses", "contents"}
        if "lessons" in asks or asks == {"teacher"}:
            state(asks, Outline(source), draft)
        else:
            step = inquiry.place.step
            state(asks | {"title"}, Outline(source), draft, found.lesson, step)


def _quote(window: Window, draft: Draft, *, with_course: bool) -> None:
    """Cites a window in a paragraph below its source: a table row below its header, or sentences.

    A citation names the place of its first sentence.
    """
    source, key = window.source, window.key
    heading = _heading(source, with_course=with_course)
    if window.end - window.first == 1 and is_row_of_table(source.blocks[key]):
        row = source.blocks[key].strip()
        header = header_in(source.title, row)
        draft.paragraph(f"{heading}:\n\n{header}")
        draft.cite(source, key, window.end, row if header else without_bars(row))
    else:
        _quote_sentences(window, heading, draft)


def _quote_sentences(window: Window, heading: str, draft: Draft) -> None:
    """Cites sentences, keeping line breaks that mean something, with the most likely answer marked."""
    source, key = window.source, window.key
    whole = laid_out(source.blocks, window.first, window.end)
    lines, is_bare = is_laid_out(whole), has_bare_rows(whole)
    draft.paragraph(f"{heading}:\n\n" if lines else f"{heading}: ")
    parts = [(window.first, key), (key, key + 1), (key + 1, window.end)]
    # Code and tables cannot be split around the marked sentence.
    if lines and in_code(source.blocks, key):
        parts = [(window.first, window.end)]
    for first, end in parts:
        text = shown(source.blocks, first, end, lines=lines, is_bare=is_bare)
        if not text:
            continue
        if (first, end) == (key, key + 1) and window.end - window.first > 1:
            text = marked(text)
        if first > window.first:
            draft.say(gap(source.blocks, first) if lines else " ")
        draft.cite(source, first, end, text)


def _heading(source: Source, *, with_course: bool) -> str:
    """Returns the place of a source in words: "Lesson 5, Prompt caching"."""
    if source.lesson is None:
        return source.course
    named = [source.course] if with_course else []
    named.append(f"Lesson {source.lesson}")
    if source.title not in ("", source.source):
        named.append(source.title)
    return ", ".join(named)
