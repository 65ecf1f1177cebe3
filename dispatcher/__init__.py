"""Tools: what may be called, how calls are run at once, and what stands in for one that fails."""

from antiphon.dispatcher.circuits import ToolCircuits
from antiphon.dispatcher.course_tools import CourseLibrary, course_tools
from antiphon.dispatcher.definition import tool_from_function
from antiphon.dispatcher.dispatcher import ToolDispatcher
from antiphon.dispatcher.loading import load_tools
from antiphon.dispatcher.output import quotable
from antiphon.dispatcher.registry import Registry
from antiphon.dispatcher.tool import Adapt, Tool

__all__ = [
    "Adapt",
    "CourseLibrary",
    "Registry",
    "Tool",
    "ToolCircuits",
    "ToolDispatcher",
    "course_tools",
    "load_tools",
    "quotable",
    "tool_from_function",
]
