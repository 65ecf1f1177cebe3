"""Which kinds of faults each sort of door knows, and why the others make no sense there."""

from __future__ import annotations

from typing import NamedTuple

from antiphon.faults.kinds import Kind


class Seam(NamedTuple):
    """A sort of door: the kinds that it knows, and why it knows no others."""

    prefix: str
    kinds: tuple[Kind, ...]
    why_not: str


SEAMS: tuple[Seam, ...] = (
    Seam(
        "intake",
        (
            "empty",
            "oversized",
            "malformed",
        ),
        "a question is a text that is checked before anything runs",
    ),
    Seam(
        "publish.",
        (
            "raise",
            "drop",
            "duplicate",
            "reorder",
            "late",
        ),
        "an event is a value in this process: it has no bytes, no server and no time limit",
    ),
    Seam(
        "deliver.",
        (
            "raise",
            "drop",
            "duplicate",
            "reorder",
            "late",
        ),
        "a handler returns at once and is handed a value: nothing in it can be cut, cancelled or waited for",
    ),
    Seam(
        "spawn.",
        (
            "raise",
            "cancel",
            "drop",
            "late",
        ),
        "spawned work brings nothing by itself: what it publishes and calls are doors of their own",
    ),
    Seam(
        "model.request",
        (
            "raise",
            "hang",
            "slow",
            "cancel",
            "drop",
            "empty",
            "malformed",
            "oversized",
            "rate_limit",
            "overload",
        ),
        "what a reply holds is broken at model.stream and model.content",
    ),
    Seam(
        "model.stream.",
        (
            "raise",
            "hang",
            "slow",
            "cancel",
            "drop",
            "duplicate",
            "reorder",
            "truncate",
            "malformed",
        ),
        "a stream has begun: it is accepted, and what it says as a whole is broken at model.content",
    ),
    Seam(
        "model.content",
        (
            "duplicate",
            "truncate",
            "malformed",
            "wrong_id",
            "unknown_tool",
            "empty",
            "oversized",
            "refusal",
            "max_tokens",
        ),
        "how a reply travels is broken at model.request and model.stream",
    ),
    Seam(
        "tool.",
        (
            "raise",
            "hang",
            "slow",
            "cancel",
            "late",
            "empty",
            "oversized",
            "malformed",
        ),
        "a tool is called once and returns once: it has no stream, no ids and no server of ours",
    ),
    Seam(
        "library.",
        (
            "raise",
            "hang",
            "slow",
            "empty",
            "locked",
            "disk_full",
        ),
        "the library is read through typed methods in a thread: nothing is streamed, ordered or cancelled",
    ),
    Seam(
        "embedder.",
        (
            "raise",
            "hang",
            "slow",
            "empty",
            "malformed",
        ),
        "an embedder is a function from texts to vectors in a thread",
    ),
    Seam(
        "clock.sleep",
        (
            "raise",
            "cancel",
            "late",
        ),
        "a sleep brings nothing but its end",
    ),
    Seam(
        "clock.now",
        (
            "raise",
            "late",
        ),
        "a clock brings nothing but a number, at once, and never runs backwards",
    ),
    Seam(
        "store.append",
        (
            "raise",
            "hang",
            "slow",
            "cancel",
            "wrong_id",
            "locked",
            "disk_full",
        ),
        "an append brings nothing but its success, and its events are typed",
    ),
    Seam(
        "store.",
        (
            "raise",
            "hang",
            "slow",
            "locked",
            "disk_full",
        ),
        "it is a read or a write of one row",
    ),
    Seam(
        "provider_circuit.",
        ("raise",),
        "it only counts, in this process",
    ),
    Seam(
        "tool_circuits.",
        ("raise",),
        "it only counts, in this process",
    ),
    Seam(
        "follower",
        (
            "hang",
            "slow",
            "cancel",
        ),
        "a follower only reads",
    ),
    Seam(
        "client",
        ("cancel",),
        "a caller can only stay or go",
    ),
    Seam(
        "process",
        ("kill",),
        "a process can only live or die",
    ),
    Seam(
        "",
        (
            "raise",
            "hang",
            "slow",
        ),
        "nothing more is known of this port than its methods",
    ),
)
"""The first whose prefix fits a point is its seam; the last is for ports that nobody has described here."""


def seam_of(point: str) -> Seam:
    """The sort of door that `point` is; the fallback model's doors and those of summaries are like the model's."""
    door, _, rest = point.partition(".")
    name = f"model.{rest}" if door in ("fallback", "summary") else point
    return next(seam for seam in SEAMS if name.startswith(seam.prefix))
