"""The readiness of a service to answer questions."""

from __future__ import annotations

from typing import Literal

from antiphon.composition import Elsewhere, ServiceResources
from antiphon.dispatcher import ToolServers
from antiphon.service.probing import Probe
from antiphon.service.searching import NOT_INDEXED
from antiphon.service.upkeep import Loading
from antiphon.vocabulary.values import Value

ModelKeyState = Literal["none", "unknown", "accepted", "refused"]


_LOADING = "The search is still being loaded: ask again in a few seconds; questions wait for it."


class Readiness(Value, frozen=True, kw_only=True):
    """The readiness to answer questions, and the reasoner.

    Attributes:
        embedder_loaded: False while it loads in the background: questions wait for it.
        model_key: Whether the model's server accepts the key; `none`: there is no server, and the built-in reasoner
            answers.
        model_key_at: When that was checked, in seconds since the epoch; None: not yet.
        problems: Obstacles to answering, searching or storing, a sentence each; some of them pass by themselves.
        refusing: Those because of which the service refuses questions. With the others it answers as well as it can.
        warnings: Reasons why answers are worse than the settings promise, a sentence each; the service still answers.
    """

    ready: bool
    reasoner: str
    embedder: str | None
    generation: int
    courses: int
    chunks: int
    embedder_loaded: bool = True
    model_key: ModelKeyState = "none"
    model_key_at: float | None = None
    problems: tuple[str, ...] = ()
    refusing: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def readiness_of(
    resources: ServiceResources,
    loading: Loading,
    probe: Probe,
    elsewhere: Elsewhere | None,
    *,
    closing: bool,
    in_full: bool,
) -> Readiness:
    """Reports whether the service can answer questions now, and the obstacles if it cannot.

    Args:
        in_full: Whether to quote the model's server if it refuses the key, and to name files of this machine.
    """
    state = resources.library.describe()
    refusing: list[str] = []
    if not state.chunks:
        refusing.append(NOT_INDEXED)
    if loading.problem is not None:
        refusing.append(loading.problem)
    passing: list[str] = list(probe.problems(in_full=in_full))
    if elsewhere is None and not loading.over:
        passing.append(_LOADING)
    if elsewhere is not None and elsewhere.trouble is not None:
        passing.append(elsewhere.trouble)
        # Starting a query then refuses it with an error that asks the caller to come back soon.
        passing, refusing = [*refusing, *passing], []
    model_key: ModelKeyState = "none"
    model_key_at: float | None = None
    warnings: list[str] = []
    if resources.model_key is not None:
        model_key = resources.model_key.finding.state
        model_key_at = resources.model_key.finding.at
        warnings += resources.model_key.warnings(in_full=in_full)
    warnings += probe.losses()
    warnings += _of_tool_servers(resources.tool_servers, in_full=in_full)
    problems = (*refusing, *passing)
    return Readiness(
        ready=not problems and not closing,
        reasoner=resources.reasoner,
        embedder=state.embedder,
        embedder_loaded=loading.done,
        generation=state.generation,
        courses=state.documents,
        chunks=state.chunks,
        model_key=model_key,
        model_key_at=model_key_at,
        problems=problems,
        refusing=tuple(refusing),
        warnings=tuple(warnings),
    )


def _of_tool_servers(servers: ToolServers | None, *, in_full: bool) -> list[str]:
    """Names the MCP servers that are away and the tools that cannot be used, a sentence each."""
    said: list[str] = []
    for server in servers.states() if servers is not None else ():
        if server.problem:
            why = f" ({server.problem})" if in_full else ""
            said.append(
                f"The MCP server {server.name} is away{why}: questions are answered without its tools; "
                "it is tried again at least every minute."
            )
        if server.left_out:
            names = "; ".join(server.left_out) if in_full else len(server.left_out)
            said.append(f"Tools of the MCP server {server.name} left out: {names}.")
    return said
