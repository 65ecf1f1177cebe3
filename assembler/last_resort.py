"""An answer for when even the assembler failed: it needs nothing, so nothing can keep it from being given."""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.assembler.draft import NOBODY
from antiphon.assembler.uncertainty import confidence, indicator
from antiphon.assembler.wording import one_line
from antiphon.vocabulary.events import ResponseAssembled
from antiphon.vocabulary.values import Usage


def said_incomplete(response: ResponseAssembled, event_seq: int) -> ResponseAssembled:
    """The answer, saying that its record is incomplete where it does not say so yet."""
    if any(doubt.kind == "trace_incomplete" for doubt in response.indicators):
        return response
    return replace(response, indicators=(*response.indicators, indicator("trace_incomplete", event_seq)))


def last_resort(
    why: str,
    event_seq: int,
    *,
    failed: bool = True,
    rounds: int = 0,
    calls: int = 0,
    usage: Usage = Usage(),  # noqa: B008 - a frozen value
) -> ResponseAssembled:
    """A plain statement that no answer could be built.

    Args:
        why: The reason, in words for users.
        event_seq: The event that tells of the failure; the trace leads on from there.
        failed: A part of the service failed; not so where the caller went away.
    """
    doubts = tuple(indicator(kind, event_seq) for kind in ("component_failed", "no_evidence")[not failed :])
    return ResponseAssembled(
        answer=f"This question could not be answered: {one_line(why) or 'the answer could not be put together'}.",
        sources=(),
        source_links=(),
        citations=(),
        confidence=confidence(doubts),
        indicators=doubts,
        rounds=rounds,
        reasoner=NOBODY,
        calls=calls,
        usage=usage,
    )
