"""Tools: what may be called, how calls are run at once, and what stands in for one that fails."""

from dispatcher.circuits import ToolCircuits
from dispatcher.course_tools import CourseLibrary, course_tools
from dispatcher.definition import tool_from_function
from dispatcher.dispatcher import ToolDispatcher
from dispatcher.loading import load_tools
from dispatcher.output import quotable
from dispatcher.registry import Registry
from dispatcher.tool import Adapt, Tool

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
