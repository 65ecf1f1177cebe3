"""The readiness of a service to answer questions."""

from __future__ import annotations

from antiphon.composition import ServiceResources
from antiphon.service.searching import NOT_INDEXED
from antiphon.service.upkeep import Loading
from antiphon.vocabulary.values import Value

_UNREACHED = "The NATS servers that hold traces and questions cannot be reached, or most of them are away."


class Readiness(Value, frozen=True, kw_only=True):
    """The readiness to answer questions, and who answers; `problems` says in sentences what is missing.

    Attributes:
        embedder_loaded: False while it is loaded behind the service: questions wait for it.
    """

    ready: bool
    reasoner: str
    embedder: str | None
    generation: int
    courses: int
    chunks: int
    embedder_loaded: bool = True
    problems: tuple[str, ...] = ()

    @property
    def reachable(self) -> bool:
        """False where nothing can be recorded now, which may be otherwise in a moment."""
        return _UNREACHED not in self.problems


def has_documents(resources: ServiceResources) -> bool:
    """Returns True if there is something to search, for everybody or for a tenant."""
    if resources.tenants is not None and resources.tenants.are_there:
        return True
    return resources.library.describe().chunks > 0


def readiness_of(
    resources: ServiceResources, loading: Loading, *, closing: bool
) -> Readiness:
    """Reports the readiness to answer questions now, and what is missing where there is none."""
    state = resources.library.describe()
    problems: list[str] = []
    if not state.chunks:
        problems.append(NOT_INDEXED)
    if loading.problem is not None:
        problems.append(loading.problem)
    if resources.sharing is not None and not resources.sharing.queue.reachable:
        problems.append(_UNREACHED)
    return Readiness(
        ready=not problems and not closing,
        reasoner=resources.reasoner,
        embedder=state.embedder,
        embedder_loaded=loading.done,
        generation=state.generation,
        courses=state.documents,
        chunks=state.chunks,
        problems=tuple(problems),
    )
