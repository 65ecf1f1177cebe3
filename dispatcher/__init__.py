"""The tool dispatcher: tools, calls that run side by side, and substitutes for those that fail."""

from antiphon.dispatcher.attempts import (
    ToolCircuits,
    another_tool_circuits,
    run_tool,
)
from antiphon.dispatcher.course_tools import CourseLibrary, course_tools
from antiphon.dispatcher.definition import load_tools, tool_from_function
from antiphon.dispatcher.dispatcher import ToolDispatcher
from antiphon.dispatcher.mcp_file import McpServerState, ToolServers, read_mcp_file
from antiphon.dispatcher.output import NOTHING, quotable
from antiphon.dispatcher.parameters import ANY_ARGUMENTS
from antiphon.dispatcher.performer import ToolPerformer, has_outcome
from antiphon.dispatcher.places import CourseCatalogue, Place, find_place
from antiphon.dispatcher.threads import run_in_threads
from antiphon.dispatcher.tool import Adapt, Registry, Tool
from antiphon.dispatcher.tool_times import ToolTimes

__all__ = [
    "ANY_ARGUMENTS",
    "NOTHING",
    "Adapt",
    "CourseCatalogue",
    "CourseLibrary",
    "McpServerState",
    "Place",
    "Registry",
    "Tool",
    "ToolCircuits",
    "ToolDispatcher",
    "ToolPerformer",
    "ToolServers",
    "ToolTimes",
    "another_tool_circuits",
    "course_tools",
    "find_place",
    "has_outcome",
    "load_tools",
    "quotable",
    "read_mcp_file",
    "run_in_threads",
    "run_tool",
    "tool_from_function",
]
