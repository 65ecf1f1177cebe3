"""Replays a sealed trace, for the tests that `antiphon traces test` writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from antiphon.composition import catalog_of, deciders_of
from antiphon.history.divergence import Divergence
from antiphon.history.folding import Fold, failures_by_event
from antiphon.history.replaying import replay_lines
from antiphon.traces import read_trace_file, trace_lines
from antiphon.vocabulary.errors import DecodeError, TraceError
from antiphon.vocabulary.events import Event, Recorded, ResponseAssembled
from antiphon.vocabulary.subscribers import Subscriber
from antiphon.vocabulary.values import Value


class SealedReplay(Value, frozen=True, kw_only=True):
    """The outcome of replaying a sealed trace.

    Attributes:
        divergence: The first difference, or None if there is none.
        answer: The answer that the rules decide now, as opposed to the file's; None if there is none.
    """

    divergence: Divergence | None
    answer: ResponseAssembled | None

    @property
    def holds(self) -> bool:
        """True if all decisions are the same as recorded, regardless of other settings or versions."""
        return self.divergence is None or self.divergence.difference == "settings"


def replay_sealed(
    path: Path, sha256: str, subscribers: Sequence[Subscriber] = ()
) -> SealedReplay:
    """Replays the trace of a sealed file, without comparing fields newer than the file.

    Args:
        subscribers: The components from outside that took part when the query was recorded.

    Raises:
        DecodeError: The file is not a trace.
        TraceError: It is not the sealed one.
    """
    data = _sealed(path, sha256)
    divergence = replay_lines(trace_lines(data)[1], subscribers).divergence
    try:
        events = read_trace_file(data, catalog_of(subscribers))
    except DecodeError:
        # The divergence names the event that can no longer be read.
        return SealedReplay(divergence=divergence, answer=None)
    return SealedReplay(divergence=divergence, answer=answer_now(events, subscribers))


def sealed_trace(
    path: Path, sha256: str, subscribers: Sequence[Subscriber] = ()
) -> list[Recorded[Event]]:
    """Reads the events of a sealed file.

    Args:
        subscribers: The components from outside that took part when the query was recorded.

    Raises:
        DecodeError: The file cannot be used.
        TraceError: It is not the sealed one.
    """
    return read_trace_file(_sealed(path, sha256), catalog_of(subscribers))


def answer_now(
    events: Sequence[Recorded[Event]], subscribers: Sequence[Subscriber] = ()
) -> ResponseAssembled | None:
    """Returns the answer that the rules make from a trace today; None if they make none."""
    fold = Fold(deciders_of(subscribers))
    # Skips rules that failed then, as a replay does, because the reason may be gone by now.
    failed = failures_by_event(events)
    for recorded in events:
        fold.hear(recorded, failed.get(recorded.seq, frozenset()))
    answer: ResponseAssembled | None = None
    for emission in fold.emitted:
        if isinstance(emission.event, ResponseAssembled):
            answer = emission.event
    return answer


def _sealed(path: Path, sha256: str) -> bytes:
    data = path.read_bytes()
    found = trace_lines(data)[0].sha256
    if found != sha256:
        raise TraceError(
            f"{path.name} is not the trace that was sealed: its hash is {found}, not {sha256}"
        )
    return data
