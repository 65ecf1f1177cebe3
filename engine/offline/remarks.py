"""Writes what is said beside the courses: replies to small talk, headings, and remarks above an answer."""

from __future__ import annotations

from antiphon.engine.offline.intents import Inquiry
from antiphon.engine.offline.task import Task
from antiphon.engine.offline.wire import Draft
from antiphon.language.small_talk import SmallTalk
from antiphon.language.words import terms

SHOWN_NAMES = 4
CLOSEST = "The courses may not answer this. The closest that was found:"

_REPLIES: dict[SmallTalk, str] = {
    "hello": "Hello. Ask me about the courses: what they teach, in which lesson, or how a course is built.",
    "thanks": "You are welcome. Ask on, if there is more.",
    "bye": "Goodbye.",
    "well": "All is well here, thank you. What would you like to know about the courses?",
    "who": "I am Antiphon. I answer questions about the courses from their own text, by rule, without a language "
    "model.",
    "abilities": "I find what the courses say about something, and quote it with its source; I compare two things, sum "
    "a lesson up, list courses and lessons, and name their teachers and links.",
}


def talk_back(inquiry: Inquiry, task: Task) -> str:
    """Returns what is said to a greeting and the like."""
    said = _REPLIES[inquiry.talk or "hello"]
    courses = task.catalogue.courses
    if inquiry.talk not in ("who", "abilities") or not courses:
        return said
    names = [f"\u201c{course.title}\u201d" for course in courses[:SHOWN_NAMES]]
    if len(courses) > SHOWN_NAMES:
        names.append(f"{len(courses) - SHOWN_NAMES} more")
    return f"{said} The courses are: {', '.join(names)}."


def heading_of(part: Inquiry) -> str:
    """Returns one of several questions as the heading of its answer."""
    asked = part.question.rstrip(" ?.!")
    return f"{asked[:1].upper()}{asked[1:]}?\n"


def with_remarks(inquiry: Inquiry, task: Task, draft: Draft) -> Draft:
    """Returns the answer below what is to be said first: that there is no such course, or the courses' language."""
    if inquiry.kind in ("greeting", "outline") or not draft.cites:
        return draft
    whole = Draft()
    whole.stop_reason = draft.stop_reason
    tongue = inquiry.tongue
    note = tongue.note
    # What is not sure to answer has its own words in front of it.
    if note and draft.certainty != "low":
        note += f" {tongue.fitting}"
    for remark in (no_such_course(inquiry, task), note):
        if remark:
            whole.paragraph(remark)
    whole.paragraph()
    whole.add(draft)
    return whole


def owning_up(inquiry: Inquiry, draft: Draft) -> Draft:
    """Returns an answer that is in doubt below the words that say so, where it does not begin with them."""
    said = inquiry.tongue.closest or CLOSEST
    if draft.certainty != "low" or not draft.cites:
        return draft
    if draft.blocks[0]["text"].startswith(said):
        return draft
    whole = Draft()
    whole.paragraph(said)
    whole.paragraph()
    whole.add(draft)
    whole.doubt("low", part_missing=draft.part_missing)
    return whole


def no_such_course(inquiry: Inquiry, task: Task) -> str:
    """Returns that there is no course of the name in the question; empty where there is, or the texts speak of it."""
    if inquiry.unknown is None or not task.catalogue:
        return ""
    named = frozenset(terms(inquiry.unknown))
    for source in task.passages:
        if named <= frozenset(terms("".join(source.blocks))):
            return ""
    return f"There is no course named \u201c{inquiry.unknown}\u201d here."
