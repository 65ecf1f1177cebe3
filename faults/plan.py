"""Fault plans as data: kinds of faults, types of injection points, and the queries to break."""

from __future__ import annotations

from itertools import chain
from typing import Annotated, Literal, NamedTuple, get_args

from msgspec import Meta

from antiphon.vocabulary.events import RoundOpened
from antiphon.vocabulary.values import Value

Kind = Literal[
    "raise", "hang", "slow", "cancel", "drop", "duplicate", "reorder", "late", "truncate", "malformed", "wrong_id",
    "unknown_tool", "empty", "oversized", "rate_limit", "overload", "refusal", "max_tokens", "disk_full", "locked",
    "exit", "block", "stuck",
    "kill",
]  # fmt: skip

KINDS: tuple[Kind, ...] = get_args(Kind)

MEANING: dict[Kind, str] = {
    "raise": "it raises an error",
    "hang": "it never comes back",
    "slow": "it comes back after its time limit",
    "cancel": "it is cancelled from outside",
    "drop": "it is lost on the way",
    "duplicate": "it comes twice",
    "reorder": "it comes after what should follow it",
    "late": "it comes later than it should",
    "truncate": "it breaks off",
    "malformed": "it comes in a form that cannot be read",
    "wrong_id": "it carries an id that belongs to something else",
    "unknown_tool": "it names a tool that is not there",
    "empty": "it brings nothing",
    "oversized": "it brings far too much",
    "rate_limit": "it is refused: too many requests",
    "overload": "it is refused: overloaded",
    "refusal": "the model declines",
    "max_tokens": "the reply reaches its greatest length",
    "disk_full": "the disk is full from here on",
    "locked": "another process holds the lock for a while",
    "exit": "it tries to end the process, as `sys.exit()` does",
    "block": "it blocks the event loop, as `time.sleep()` does",
    "stuck": "its thread never comes back",
    "kill": "the process is killed (SIGKILL)",
}

When = Literal["any", "start", "round_1", "round_2", "final"]
WHENS: tuple[When, ...] = ("start", "round_1", "round_2", "final")
LONGEST_S = 86_400.0
"""A day; the longest allowed deadline of a query is ten minutes."""


class Fault(Value, frozen=True, kw_only=True):
    """One fault.

    Attributes:
        point: The injection point, as `antiphon faults list` names it; `*` at its end matches any ending.
        when: The part of the query in which it may fire; `start` is before the first round.
        nth: The traversal of the point (within `when`) at which it first fires, from 1.
        times: The number of traversals from there on that it breaks; 0: all of them.
        for_s: Seconds for which it hangs, is slow or late; 0: the usual time of its kind.
    """

    point: str
    kind: Kind
    when: When = "any"
    nth: Annotated[int, Meta(ge=1)] = 1
    times: Annotated[int, Meta(ge=0)] = 1
    for_s: Annotated[float, Meta(ge=0, le=LONGEST_S)] = 0.0

    def is_at(self, point: str) -> bool:
        """Returns True if the fault may fire at `point`."""
        return matches(point, self.point)

    def seconds(self, fitting_s: float) -> float:
        """Returns the seconds for which it hangs, is slow or late; `fitting_s` if the fault does not say."""
        return self.for_s or fitting_s


class Plan(Value, frozen=True, kw_only=True):
    """The faults of one query, and the choice of the query.

    Attributes:
        scenario: The name of the query's scenario before anything is broken (faults/scenarios.py).
        seed: Chooses the question and the order in which queries begin.
    """

    faults: tuple[Fault, ...] = ()
    scenario: str = "plain"
    seed: int = 0


class Step(Value, frozen=True, kw_only=True):
    """Queries that begin at the same time.

    Attributes:
        at_once: A plan for each query; one without faults leaves its query unbroken.
        after_s: Seconds to wait before it, in which circuits rest and locks are released.
    """

    at_once: tuple[Plan, ...]
    after_s: Annotated[float, Meta(ge=0, le=LONGEST_S)] = 0.0


class Experiment(Value, frozen=True, kw_only=True):
    """The steps of one service, whose circuits, tools and store persist through all of them."""

    steps: tuple[Step, ...]

    @classmethod
    def of(cls, plan: Plan) -> Experiment:
        """Makes the experiment of a single query."""
        return cls(steps=(Step(at_once=(plan,)),))

    @property
    def plans(self) -> list[Plan]:
        """The plans of all steps, in order."""
        return list(chain.from_iterable(step.at_once for step in self.steps))

    @property
    def single_plan(self) -> Plan | None:
        """The plan, if the experiment is a single query without a wait."""
        if len(self.steps) != 1:
            return None
        (step,) = self.steps
        if len(step.at_once) != 1 or step.after_s > 0:
            return None
        return step.at_once[0]


def part_of(event: RoundOpened) -> When:
    """Returns the part of a query that begins with an opened round."""
    if event.final:
        return "final"
    if event.round == 1:
        return "round_1"
    return "round_2"


def matches(point: str, pattern: str) -> bool:
    """Returns True if `pattern` names the point; a `*` at its end matches any ending."""
    if pattern.endswith("*"):
        return point.startswith(pattern[:-1])
    return point == pattern


class PointType(NamedTuple):
    """The type of the points whose names begin with `prefix`."""

    prefix: str
    kinds: tuple[Kind, ...]
    why_not: str


# The first type with a matching prefix wins, so longer prefixes come before shorter ones.
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
        ("raise", "drop", "duplicate", "reorder", "late", "exit", "block"),
        "a handler returns at once and is handed a value: nothing in it can be cut, cancelled or waited for",
    ),
    PointType(
        "spawn.",
        ("raise", "cancel", "drop", "late", "exit"),
        "spawned work brings nothing by itself: what it publishes and calls are points of their own",
    ),
    PointType(
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
            "block",
        ),
        "what a reply holds is broken at model.stream and model.content",
    ),
    PointType(
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
        (
            "raise",
            "hang",
            "slow",
            "cancel",
            "late",
            "empty",
            "oversized",
            "malformed",
            "exit",
            "block",
            "stuck",
        ),
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
    PointType(
        "clock.sleep", ("raise", "cancel", "late"), "a sleep brings nothing but its end"
    ),
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
    PointType(
        "store.",
        ("raise", "hang", "slow", "locked", "disk_full"),
        "it is a read or a write of one row",
    ),
    PointType("provider_circuit.", ("raise",), "it only counts, in this process"),
    PointType("tool_circuits.", ("raise",), "it only counts, in this process"),
    PointType("model_speeds.", ("raise",), "it only counts, in this process"),
    PointType("tool_times.", ("raise",), "it only counts, in this process"),
    PointType("follower", ("hang", "slow", "cancel"), "a follower only reads"),
    PointType("client", ("cancel",), "a caller can only stay or go"),
    PointType("process", ("kill",), "a process can only live or die"),
    # For ports that are not described here: any object with methods can be broken.
    PointType(
        "",
        ("raise", "hang", "slow"),
        "nothing more is known of this port than its methods",
    ),
)

STREAM_PLACES = ("before_first_token", "in_text", "in_tool_json", "before_end")
"""The places of a model's stream, each a point of its own."""
SUMMARY = "summary"
"""The prefix of the points of all summarising calls, of any model."""


def point_type(point: str) -> PointType:
    """Finds the type of a point; other models and summaries have the same types as the first model."""
    port, _, rest = point.partition(".")
    # The table describes the points of models only once, under the first model's name.
    if port in ("fallback", SUMMARY):
        point = f"model.{rest}"
    for known in POINT_TYPES:
        if point.startswith(known.prefix):
            return known
    return POINT_TYPES[-1]


def model_points(prefix: str) -> list[str]:
    """Lists the points of one model."""
    # In the order in which a call passes them.
    points = [f"{prefix}.request"]
    for place in STREAM_PLACES:
        points.append(f"{prefix}.stream.{place}")
    points.append(f"{prefix}.content")
    return points
