"""Answers by extraction: the sentences of the sources that answer best, each with its citation; pure."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.engine.offline.draft import Draft
from antiphon.engine.offline.intents import Intent, understand
from antiphon.engine.offline.outlines import answer_outlines
from antiphon.engine.offline.task import Source, Task
from antiphon.engine.offline.weighing import WEAK, fitting, focus, for_side
from antiphon.language.evidence import Weigh, telling_words
from antiphon.language.extract import Extraction, Pick, extract
from antiphon.vocabulary.ports import Json

NOT_HERE = "The answer is not in these courses: what was found in them does not speak to this question."
NOTHING_FOUND = "The answer is not in these courses: nothing was found in them for this question."
ALL_FAILED = "Nothing could be looked up in the courses for this question, because every tool call failed."
LEAST_ELSEWHERE = 0.1
"""A search for a lesson's title in another course found these passages by meaning: few shared words are enough."""
SUMMARY_SENTENCES = 5
NOT_SEARCHED = "Nothing was searched for this question, and without course material there is no answer to give."
GREETING = "Hello. Ask me about the courses: what they teach, in which lesson, or how a course is built."


def answer(task: Task, weigh: Weigh | None = None) -> list[Json]:
    """The answer's text blocks; never empty."""
    intent = understand(task.question, task.earlier)
    draft = Draft()
    if intent.kind == "greeting":
        draft.say(GREETING)
    elif not task.sources:
        draft.say(_why_nothing(task))
    else:
        _from_sources(intent, task, weigh, draft)
    return draft.blocks or [{"type": "text", "text": NOT_HERE}]


def _why_nothing(task: Task) -> str:
    if not task.attempts:
        return NOT_SEARCHED
    if task.unknown_course:
        return task.unknown_course
    return ALL_FAILED if all(attempt.outcome == "failed" for attempt in task.attempts) else NOTHING_FOUND


def _from_sources(intent: Intent, task: Task, weigh: Weigh | None, draft: Draft) -> None:
    if task.outlines and (intent.kind == "outline" or not task.passages):
        answer_outlines(intent.question, task.outlines, draft)
    elif intent.kind == "look_up" and task.outlines:
        _elsewhere(intent, task, weigh, draft)
    elif intent.kind == "compare":
        _sides(intent, task, weigh, draft)
    elif intent.kind == "across":
        _by_course(focus(intent), task.passages, weigh, draft)
    elif not telling_words(intent.topic) and intent.lesson is not None:
        _summary(fitting(intent, task), weigh, draft)
    else:
        _best(focus(intent), fitting(intent, task), weigh, draft, limit=4)


def _best(question: str, sources: Sequence[Source], weigh: Weigh | None, draft: Draft, limit: int) -> bool:
    """Writes the best sentences; says nothing where the evidence is weak."""
    found = _extract(question, sources, weigh, limit)
    if found.evidence < WEAK:
        return False
    _write(found.picks, sources, draft)
    return True


def _extract(question: str, sources: Sequence[Source], weigh: Weigh | None, limit: int) -> Extraction:
    passages, labels = [source.blocks for source in sources], [source.label for source in sources]
    return extract(question, passages, weigh, limit=limit, titles=labels)


def _write(picks: Sequence[Pick], sources: Sequence[Source], draft: Draft) -> None:
    for number, pick in enumerate(picks):
        if number:
            draft.say(" " if picks[number - 1].passage == pick.passage else "\n\n")
        draft.cite(sources[pick.passage], pick.first, pick.end)


def _sides(intent: Intent, task: Task, weigh: Weigh | None, draft: Draft) -> None:
    """Each side in turn; a side that nothing was found for is named as such."""
    founds = [_extract(side.topic, for_side(side, task), weigh, 3) for side in intent.sides]
    if all(found.evidence < WEAK for found in founds):
        return
    for side, found in zip(intent.sides, founds, strict=True):
        draft.paragraph(f"On {side.topic}: ")
        if found.evidence < WEAK:
            draft.say("nothing that answers this was found in these courses.")
        else:
            _write(found.picks, for_side(side, task), draft)


def _by_course(topic: str, sources: Sequence[Source], weigh: Weigh | None, draft: Draft, least: float = WEAK) -> bool:
    """One paragraph for each course that speaks of the topic, the most to the point first."""
    courses = [[s for s in sources if s.course == course] for course in dict.fromkeys(s.course for s in sources)]
    founds = [(_extract(topic, own, weigh, 2), own) for own in courses]
    spoken = sorted((pair for pair in founds if pair[0].evidence >= least), key=lambda pair: -pair[0].evidence)
    for found, own in spoken:
        draft.paragraph(f"In {own[0].course}: ")
        _write(found.picks, own, draft)
    return bool(spoken)


def _elsewhere(intent: Intent, task: Task, weigh: Weigh | None, draft: Draft) -> None:
    """What a lesson is about, and what other courses say of that."""
    found = next(
        ((outline, line) for outline in task.outlines if (line := outline.lesson_line(intent.lesson or 0))), None
    )
    if found is None:
        draft.say(f"The outline names no lesson {intent.lesson}.")
        return
    outline, (at, title) = found
    draft.cite(outline, at, at + 1, f"Lesson {intent.lesson} of {outline.course} is \u201c{title}\u201d.")
    others = [source for source in task.passages if source.course != outline.course]
    if not _by_course(title, others, weigh, draft, least=LEAST_ELSEWHERE):
        draft.say(" Nothing on that topic was found in another course.")


def _summary(sources: Sequence[Source], weigh: Weigh | None, draft: Draft) -> None:
    """What a lesson is about, where nothing closer is asked: how the passage begins that speaks most of its title.

    One run of sentences reads better than the beginnings of several passages.
    """
    if not sources:
        return
    best = max(sources, key=lambda one: (_extract(one.title, [one], weigh, 1).evidence, len(one.blocks)))
    _write([Pick(0, 0, min(SUMMARY_SENTENCES, len(best.blocks)), 1.0)], [best], draft)
