"""How a tool that is not of the courses is used: by what it says of itself, and only where a question fits in."""

from __future__ import annotations

from antiphon.engine.offline.task import OfferedTool, Task
from antiphon.language.words import terms


def call_of_other_tool(task: Task) -> tuple[str, dict[str, object]] | None:
    """The offered tool whose description shares most with the question; None where none shares anything.

    Only a tool that needs a single text can be called: what else to give it would be a guess.
    """
    asked = frozenset(terms(task.question))
    usable = [(len(asked & _told(tool)), tool) for tool in task.tools if _needs_one_text(tool)]
    shared, tool = max(usable, key=lambda pair: pair[0], default=(0, None))
    if tool is None or not shared:
        return None
    why = {"why": "Its description fits the question"} if "why" in tool.parameters else {}
    return tool.name, {tool.required[0]: task.question, **why}


def _told(tool: OfferedTool) -> frozenset[str]:
    return frozenset(terms(f"{tool.name.replace('_', ' ')} {tool.description}"))


def _needs_one_text(tool: OfferedTool) -> bool:
    return len(tool.required) == 1 and tool.parameters.get(tool.required[0], {}).get("type") == "string"
