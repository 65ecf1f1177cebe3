"""Chooses among the user's own tools for a question, by their words alone, and makes the arguments; pure.

A rule has no judgement: it calls a tool only if the tool shares words with the question and the question supplies each
required argument, and never if a call changes something.
"""

from __future__ import annotations

from typing import NamedTuple

from antiphon.engine.offline.asked import Inquiry
from antiphon.engine.offline.task import OfferedTool, Planned, Task
from antiphon.language.words import terms, words
from antiphon.vocabulary.tool_calls import EFFECTS_NOTE

MOST_OWN_CALLS = 2
_OF_ANY_QUESTION = frozenset(
    terms(
        "course courses lesson lessons teach teaches taught question questions answer answers find finds get gets "
        "look search searches list lists say says tell tells show shows use topic word words"
    )
)
"""Terms of questions about courses and of tool descriptions in general, which fit anything."""
# Names of parameters as plain words, because stems leave out "course", which means nothing to a search.
_OF_COURSES = frozenset(("course", "title"))
_OF_TOPICS = frozenset(("query", "question", "topic", "subject", "text", "keywords"))


class _Asked(NamedTuple):
    """The parts of a question that choose tools: its topic, and the course that it names."""

    topic: str
    course: str | None

    @property
    def terms(self) -> frozenset[str]:
        """The terms of the topic, without the course's name."""
        return _telling(self.topic) - frozenset(terms(self.course or ""))


def calls_of_own_tools(
    inquiry: Inquiry, tools: tuple[OfferedTool, ...]
) -> list[Planned]:
    """Returns calls of the tools that fit the question, in the order of the tools."""
    course = inquiry.course
    asked = _Asked(inquiry.question, None if course is None else course.title)
    calls: list[Planned] = []
    for tool in tools:
        if EFFECTS_NOTE in tool.description or not _fits(asked, tool):
            continue
        arguments = _arguments(asked, tool)
        if arguments is not None:
            calls.append(Planned(tool.name, arguments))
    return calls[:MOST_OWN_CALLS]


def only_tool_that_fits(task: Task) -> list[Planned]:
    """Calls the offered tool whose description shares most words with the question; none if none shares any."""
    asked = frozenset(terms(task.question))
    best: OfferedTool | None = None
    most_shared = 0
    for tool in task.tools:
        if not tool.needs_one_text or EFFECTS_NOTE in tool.description:
            continue
        described = frozenset(
            terms(f"{tool.name.replace('_', ' ')} {tool.description}")
        )
        shared = len(asked & described)
        if shared > most_shared:
            best = tool
            most_shared = shared
    if best is None:
        return []
    arguments: dict[str, object] = {best.required[0]: task.question}
    if "why" in best.parameters:
        arguments["why"] = "Its description fits the question"
    return [Planned(best.name, arguments)]


def _fits(asked: _Asked, tool: OfferedTool) -> bool:
    """Returns True if the question contains a word of the tool's name, or the description half of its terms."""
    wanted = asked.terms
    if wanted & _telling(_spaced(tool.name)):
        return True
    shared = wanted & _telling(tool.description)
    return bool(shared) and 2 * len(shared) >= len(wanted)


def _telling(text: str) -> frozenset[str]:
    return frozenset(terms(text)) - _OF_ANY_QUESTION


def _arguments(asked: _Asked, tool: OfferedTool) -> dict[str, object] | None:
    """Returns the tool's required arguments; None if one of them would be a guess."""
    arguments: dict[str, object] = {}
    for name in tool.required:
        value = _argument(asked, name, tool.parameters.get(name, {}))
        if not value:
            return None
        arguments[name] = value
    if "why" in tool.parameters:
        arguments["why"] = "Its description fits the question"
    return arguments


def _argument(asked: _Asked, name: str, schema: dict[str, object]) -> str | None:
    if schema.get("type") != "string" or "enum" in schema:
        return None
    named = frozenset(words(_spaced(name)))
    if named & _OF_COURSES:
        return asked.course
    if named & _OF_TOPICS:
        return asked.topic
    return None


def _spaced(name: str) -> str:
    return name.replace("_", " ")
