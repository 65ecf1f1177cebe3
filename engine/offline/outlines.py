"""Answers out of a course's outline: who teaches it, how many lessons there are, and the list of them."""

from __future__ import annotations

import re

from antiphon.engine.offline.draft import Draft
from antiphon.engine.offline.task import Source

_TEACHER_ONLY = re.compile(r"(?i)\bwho\b")
_ITEM = re.compile(r"Lesson (\d+): ")


def answer_outlines(question: str, outlines: tuple[Source, ...], draft: Draft) -> None:
    """Writes what the question asks of each outline."""
    for outline in outlines[:3]:
        draft.paragraph()
        _answer(question, outline, draft)


def _answer(question: str, outline: Source, draft: Draft) -> None:
    items = [at for at, block in enumerate(outline.blocks) if _ITEM.match(block)]
    instructor = next((at for at, block in enumerate(outline.blocks) if block.startswith("Instructor: ")), None)
    if instructor is not None:
        name = outline.blocks[instructor].removeprefix("Instructor: ").strip()
        draft.cite(outline, 0, instructor + 1, f"{outline.course} is taught by {name}.")
        if _TEACHER_ONLY.search(question):
            return
    if not items:
        draft.say(f"{' ' if draft.blocks else ''}The outline of {outline.course} names no lessons.")
        return
    counted = f"It has {len(items)} lessons" if len(items) != 1 else "It has one lesson"
    draft.say(f"{' ' if instructor is not None else f'{outline.course}: '}{counted}:\n\n")
    lines = [f"- {outline.blocks[at].strip()}" for at in items]
    draft.cite(outline, items[0], items[-1] + 1, "\n".join(lines))
    others = [at for at, block in enumerate(outline.blocks) if at not in (0, instructor, *items) and block.strip()]
    for at in others:
        draft.paragraph()
        draft.cite(outline, at, at + 1)
