"""The readiness of a service to answer questions."""

from __future__ import annotations

from antiphon.composition import ServiceResources
from antiphon.service.searching import NOT_INDEXED
from antiphon.vocabulary.values import Value


class Readiness(Value, frozen=True, kw_only=True):
    """The readiness to answer questions, and who answers; `problems` says in sentences what is missing."""

    ready: bool
    reasoner: str
    embedder: str | None
    generation: int
    courses: int
    chunks: int
    problems: tuple[str, ...] = ()


def readiness_of(resources: ServiceResources, *, closing: bool) -> Readiness:
    """Reports the readiness to answer questions now, and what is missing where there is none."""
    state = resources.library.describe()
    problems: tuple[str, ...] = ()
    if not state.chunks:
        problems = (NOT_INDEXED,)
    return Readiness(
        ready=not problems and not closing,
        reasoner=resources.reasoner,
        embedder=state.embedder,
        generation=state.generation,
        courses=state.documents,
        chunks=state.chunks,
        problems=problems,
    )
