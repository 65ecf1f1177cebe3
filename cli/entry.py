"""The command's entrance: which commands there are, and how an error leaves the program."""

from __future__ import annotations

import importlib
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, NamedTuple

import typer

from antiphon.cli.terminal import clean
from antiphon.vocabulary.errors import ServiceError


class Command(NamedTuple):
    """A command, the module whose `add_to` brings it, and its line in the list of commands."""

    name: str
    module: str
    summary: str


COMMANDS = (
    Command("ask", "antiphon.cli.ask", "Ask a question and watch it being worked out."),
    Command("serve", "antiphon.cli.serve", "Serve the REST API."),
    Command("index", "antiphon.cli.index", "Read course documents into the index."),
    Command("courses", "antiphon.cli.courses", "List the courses that can be asked about."),
    Command("traces", "antiphon.cli.traces", "List what was asked, and show how it was worked out."),
    Command("doctor", "antiphon.cli.doctor", "Check what is configured, reachable and indexed."),
    Command("faults", "antiphon.cli.faults", "Break the service on purpose and check its promises."),
    Command("double", "antiphon.cli.double", "Serve a Messages API that answers by a script, for tests."),
    Command("eval", "antiphon.cli.evaluate", "Ask the questions of a file and grade the answers."),
    Command("compare", "antiphon.cli.compare", "Ask the questions of a file in several modes, side by side."),
)


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line; one of our errors is one sentence on standard error, and exit code 1.

    Args:
        arguments: What follows the program's name; None takes the process's own.
    """
    given = sys.argv[1:] if arguments is None else arguments
    # The user's own tools are found in the folder where the command runs ("" is that folder), which an installed
    # command, other than `python -m`, does not search. Last, so that nothing in it replaces an installed package.
    if "" not in sys.path:
        sys.path.append("")
    try:
        command_line(given)(given, prog_name="antiphon")
    except ServiceError as error:
        sys.stderr.write(f"antiphon: {clean(str(error))}\n")
        sys.exit(1)


def command_line(arguments: list[str]) -> typer.Typer:
    """The commands, of which only the one that is called is imported: `--help` must not load a vector index."""
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(root)
    called = next((argument for argument in arguments if not argument.startswith("-")), None)
    for command in COMMANDS:
        if command.name == called:
            importlib.import_module(command.module).add_to(app)
        else:
            app.command(command.name, help=command.summary)(_not_called)
    return app


def _not_called() -> None:
    """Stands for a command that is listed only."""


def _show_version(wanted: bool) -> None:
    if not wanted:
        return
    try:
        typer.echo(f"antiphon {version('antiphon')}")
    except PackageNotFoundError:
        typer.echo("antiphon 0+source")
    raise typer.Exit


def root(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Answers questions over course documents in at most two rounds of tool calls; every step is an event.

    Settings come from the environment (ANTIPHON_*, see .env.example) and from .env; options win over both.
    """
