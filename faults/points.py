"""Types of injection points: which kinds of faults each knows, and why the others make no sense there."""

from __future__ import annotations

from typing import NamedTuple

from antiphon.faults.plan import Kind


class PointType(NamedTuple):
    """The points whose names begin with `prefix`."""

    prefix: str
    kinds: tuple[Kind, ...]
    why_not: str


# The first whose prefix fits a point is its type, so the longer prefix stands before the shorter one.
POINT_TYPES: tuple[PointType, ...] = (
    PointType(
        "intake",
        ("empty", "oversized", "malformed"),
        "a question is a text that is checked before anything runs",
    ),
    PointType(
        "publish.",
        ("raise", "drop", "duplicate", "reorder", "late"),
        "an event is a value in this process: it has no bytes, no server and no time limit",
    ),
    PointType(
        "deliver.",
        ("raise", "drop", "duplicate", "reorder", "late"),
        "a handler returns at once and is handed a value: nothing in it can be cut, cancelled or waited for",
    ),
    PointType(
        "spawn.",
        ("raise", "cancel", "drop", "late"),
        "spawned work brings nothing by itself: what it publishes and calls are points of their own",
    ),
    PointType(
        "model.request",
        ("raise", "hang", "slow", "cancel", "drop", "empty", "malformed", "oversized", "rate_limit", "overload"),
        "what a reply holds is broken at model.stream and model.content",
    ),
    PointType(
        "model.stream.",
        ("raise", "hang", "slow", "cancel", "drop", "duplicate", "reorder", "truncate", "malformed"),
        "a stream has begun: it is accepted, and what it says as a whole is broken at model.content",
    ),
    PointType(
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
    PointType(
        "tool.",
        ("raise", "hang", "slow", "cancel", "late", "empty", "oversized", "malformed"),
        "a tool is called once and returns once: it has no stream, no ids and no server of ours",
    ),
    PointType(
        "library.",
        ("raise", "hang", "slow", "empty", "locked", "disk_full"),
        "the library is read through typed methods in a thread: nothing is streamed, ordered or cancelled",
    ),
    PointType(
        "embedder.",
        ("raise", "hang", "slow", "empty", "malformed"),
        "an embedder is a function from texts to vectors in a thread",
    ),
    PointType("clock.sleep", ("raise", "cancel", "late"), "a sleep brings nothing but its end"),
    PointType(
        "clock.now",
        ("raise", "late"),
        "a clock brings nothing but a number, at once, and never runs backwards",
    ),
    PointType(
        "store.append",
        ("raise", "hang", "slow", "cancel", "wrong_id", "locked", "disk_full"),
        "an append brings nothing but its success, and its events are typed",
    ),
    PointType("store.", ("raise", "hang", "slow", "locked", "disk_full"), "it is a read or a write of one row"),
    PointType("provider_circuit.", ("raise",), "it only counts, in this process"),
    PointType("tool_circuits.", ("raise",), "it only counts, in this process"),
    PointType("follower", ("hang", "slow", "cancel"), "a follower only reads"),
    PointType("client", ("cancel",), "a caller can only stay or go"),
    PointType("process", ("kill",), "a process can only live or die"),
    # For ports that are not described here: whatever has methods can be broken.
    PointType("", ("raise", "hang", "slow"), "nothing more is known of this port than its methods"),
)

STREAM_PLACES = ("before_first_token", "in_text", "in_tool_json", "before_end")
"""The places of a model's stream, each a point of its own."""
SUMMARY = "summary"
"""The prefix of the points of summarising calls, whichever model makes them."""


def point_type(point: str) -> PointType:
    """Finds the type of a point; those of other models and of summaries are like the first model's."""
    port, _, rest = point.partition(".")
    if port in ("fallback", SUMMARY):
        point = f"model.{rest}"
    for known in POINT_TYPES:
        if point.startswith(known.prefix):
            return known
    return POINT_TYPES[-1]


def model_points(prefix: str) -> list[str]:
    """Lists the points of one model."""
    points = [f"{prefix}.request"]
    for place in STREAM_PLACES:
        points.append(f"{prefix}.stream.{place}")
    return [*points, f"{prefix}.content"]
