"""The command's entry point: the table of commands, and the handling of errors."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from antiphon.cli.terminal import complain, out
from antiphon.vocabulary.errors import ServiceError
from antiphon.vocabulary.program import program_version


class Command(NamedTuple):
    """A command or a group of commands.

    Attributes:
        summary: Its line in the list of commands.
        target: Its function, as `module:function` within this package; for a group the function to call if the user
            names no command of the group, or empty.
        commands: A group's commands, each with its target.
    """

    name: str
    summary: str
    target: str = ""
    commands: Mapping[str, str] = {}


COMMANDS = (
    Command("ask", "Ask a question and watch its progress.", "ask:ask"),
    Command("chat", "Ask several questions in one conversation.", "chat:chat"),
    Command(
        "search", "Search the courses without asking a question.", "searching:search"
    ),
    Command("serve", "Serve the REST API.", "serve:serve"),
    Command("mcp", "Speak the Model Context Protocol on standard input.", "serve:mcp"),
    Command(
        "worker",
        "Answer questions from the queue of other processes.",
        "worker:worker",
    ),
    Command("queue", "Show which questions wait for a worker.", "queue:queue"),
    Command("act", "Run tools or model calls for other processes.", "act:act"),
    Command("index", "Read course documents into the index.", "index:index"),
    Command(
        "courses",
        "List, show, remove or lay out the indexed courses.",
        "index:courses",
        commands={
            "show": "index:show",
            "remove": "index:remove",
            "layout": "index_preview:layout",
        },
    ),
    Command(
        "traces",
        "List, inspect, replay, fork and manage traces.",
        commands={
            "list": "traces:listed",
            "show": "traces:show",
            "why": "trace_why:why",
            "memory": "trace_views:memory",
            "briefing": "trace_views:briefing",
            "replay": "trace_runs:replay",
            "resume": "trace_runs:resume",
            "fork": "trace_forks:fork",
            "whatif": "trace_forks:whatif",
            "fault": "trace_forks:fault",
            "diff": "trace_views:differences",
            "lineage": "trace_lineage:show_lineage",
            "prompt": "trace_prompts:show_prompt",
            "export": "trace_files:export",
            "import": "trace_files:import_",
            "test": "trace_files:as_test",
            "questions": "trace_questions:questions",
            "delete": "trace_deleting:delete",
            "prune": "trace_deleting:prune",
            "encrypt": "keeping:encrypt",
        },
    ),
    Command("backup", "Write all data into one file.", "keeping:backup"),
    Command("restore", "Create a data folder from a backup.", "keeping:restore"),
    Command(
        "keys",
        "Create, list, rotate, revoke, limit and reset API keys.",
        commands={
            "add": "keys:add",
            "list": "keys:listed",
            "rotate": "keys:rotate",
            "revoke": "keys:revoke",
            "limit": "keys:limit",
            "usage": "keys:usage",
            "reset": "keys:reset",
        },
    ),
    Command(
        "doctor", "Check what is configured, reachable and indexed.", "doctor:doctor"
    ),
    Command(
        "faults",
        "Inject faults and check that the promises hold.",
        commands={
            "run": "faults:run",
            "list": "faults:list_points",
            "random": "faults_random:run_random",
            "serve": "faults_serving:serve",
        },
    ),
    Command(
        "double",
        "Serve a scripted Messages API, for tests.",
        "serve:double",
    ),
    Command(
        "compare",
        "Ask the questions of a file in several modes, side by side.",
        "compare:compare",
    ),
)


def run(arguments: list[str]) -> None:
    """Runs the named command; prints one of our errors as one sentence on standard error, and exits with code 1."""
    # Python finds the user's own tools in the current folder ("" on the path), which an installed command, unlike
    # `python -m`, does not search. Last on the path, so that nothing in that folder replaces an installed package.
    if "" not in sys.path:
        sys.path.append("")
    try:
        command_line(arguments)(arguments, prog_name="antiphon")
    except ServiceError as error:
        complain(str(error))
        sys.exit(1)


def _without_types(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if isinstance(parameter, TyperOption) and parameter.is_flag:
            parameter.metavar = ""
    return parameters


class _Command(TyperCommand):
    """A command whose help shows flags as flags: typer prints `--json <bool>`, as if they took a value."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))


class _Group(TyperGroup):
    """A group of such commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))


def command_line(arguments: list[str]) -> typer.Typer:
    """Builds the commands, and imports only the one that is called: `--help` must not load a vector index."""
    app = typer.Typer(
        cls=_Group,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(root)
    # The command is the first word that is not an option; the options before it take no value.
    words = [argument for argument in arguments if not argument.startswith("-")]
    for command in COMMANDS:
        # A slice, because there may be no word at all.
        if words[:1] != [command.name]:
            app.command(command.name, cls=_Command, help=command.summary)(_not_called)
        elif command.commands:
            app.add_typer(_group(command, words[1:2]), name=command.name)
        else:
            app.command(command.name, cls=_Command)(_imported(command.target))
    return app


def _group(command: Command, called: list[str]) -> typer.Typer:
    """Builds a group with only the command that is called; if none is, with all, so that the help lists them."""
    group = typer.Typer(
        cls=_Group, no_args_is_help=not command.target, help=command.summary
    )
    if command.target:
        group.callback(invoke_without_command=True)(_imported(command.target))
    wanted = [name for name in called if name in command.commands]
    for name in wanted or command.commands:
        group.command(name, cls=_Command)(_imported(command.commands[name]))
    return group


def _imported(target: str) -> Callable[..., Any]:
    module, _, function = target.partition(":")
    found: Callable[..., Any] = getattr(
        importlib.import_module(f"antiphon.cli.{module}"), function
    )
    return found


def _not_called() -> None:
    """A placeholder for a command that appears only in the list."""


def _show_version(wanted: bool) -> None:
    if not wanted:
        return
    out.print_line(f"antiphon {program_version()}")
    raise typer.Exit


def root(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    """Answers questions over course documents in at most two rounds of tool calls; every step is an event.

    Settings come from the environment (ANTIPHON_*, see .env.example) and from .env; options override both.
    """
