"""Limits the changes of a fork that is requested over the network.

Anybody who can reach the service may ask it questions, within the limits that its owner has set. A fork must not be a
way round them: it may only lower settings from the service's own, it may change what a call sees only if the owner
allows that, and this file lists everything else that it may change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from antiphon.composition import Settings
from antiphon.composition.question import caps_of
from antiphon.history import Change, change_event
from antiphon.vocabulary.errors import BadInputError, ForbiddenError
from antiphon.vocabulary.events import Event, QueryReceived, Recorded
from antiphon.vocabulary.settings import DECLARED, QuerySettings

MOST_CHANGES = 20
MOST_VALUE_CHARS = 200_000

DOWNWARDS = (
    "max_rounds",
    "deadline_s",
    "max_total_tokens",
    "max_cost_usd",
    "max_tokens",
    "max_tool_calls",
    "briefing_tokens",
)
"""Settings that a fork may lower: the service's own value is the maximum."""
FREE = ("early_dispatch", "on_tool_failure", "context", "compression")
"""Settings that may take any value: none of them makes a query cost more than the limits allow."""
MODELS = ("model", "final_model", "other_model")
"""Settings that may name any model that the service is configured to use."""
FIELDS = {"query_received": ("query",), "tool_requested": ("call.arguments",)}
"""Fields that a fork may set, by kind of event, and `messages` if the owner allows it."""

IMPORTED = (
    "This trace was imported: the messages of its calls are not this service's. "
    "It runs again over the network only if ANTIPHON_FORK_MESSAGES is on."
)


def limited_changes(
    events: Sequence[Recorded[Event]],
    at: int | None,
    changes: Sequence[Change],
    settings: Settings,
) -> list[Change]:
    """Returns the allowed form of the changes, with one more for each setting of the trace that exceeds the service's.

    Args:
        at: The event that `set` and `reply` change; None if the caller names none.

    Raises:
        BadInputError: They are too many or too large, or raise a setting above the service's own.
        ForbiddenError: One of them is not allowed over the network.
    """
    if len(changes) > MOST_CHANGES:
        raise BadInputError(
            f"There are {len(changes)} changes, the most is {MOST_CHANGES}."
        )
    own = settings.query_settings()
    for change in changes:
        if len(change.value) > MOST_VALUE_CHARS:
            raise BadInputError(
                f"`{change.kind} {change.name[:80]}` has {len(change.value):,} characters, "
                f"the most is {MOST_VALUE_CHARS:,}."
            )
        if change.kind == "setting":
            _check_setting(change.name)
        elif change.kind == "set":
            _check_field(events, at, change, settings)
    first = events[0].event
    # The fork itself refuses a first event that is no question, in its own words; an imported query can only be played.
    if not isinstance(first, QueryReceived) or first.imported is not None:
        return list(changes)
    return [*changes, *_caps(_checked(first, changes, own), own, caps_of(settings))]


def _check_setting(name: str) -> None:
    if name in DOWNWARDS or name in FREE or name in MODELS:
        return
    if name.partition(".")[0] not in DECLARED:
        raise BadInputError(f"There is no setting {name[:80]!r}.")
    allowed = ", ".join((*DOWNWARDS, *FREE, *MODELS))
    raise ForbiddenError(
        f"The setting {name[:80]!r} cannot be changed over the network, only {allowed}: use `antiphon traces fork`."
    )


def _check_field(
    events: Sequence[Recorded[Event]],
    at: int | None,
    change: Change,
    settings: Settings,
) -> None:
    # If the event's number is missing or not in the trace, the fork itself refuses it.
    if at is None or not 1 <= at <= len(events):
        return
    kind = events[at - 1].event.kind_name()
    field = change.name.partition(".")[0]
    if field == "messages":
        if not settings.fork_messages:
            raise ForbiddenError(
                "The messages of a call (`messages`) cannot be changed over the network: "
                "the owner of the service allows it with ANTIPHON_FORK_MESSAGES."
            )
        return
    if change.name not in FIELDS.get(kind, ()):
        allowed = [
            f"`{name}` of {of}" for of, names in FIELDS.items() for name in names
        ]
        raise ForbiddenError(
            f"{change.name[:80]!r} of {kind} cannot be set over the network, only {' and '.join(allowed)}: "
            "use `antiphon traces fork`."
        )
    if field == "query" and len(change.value) > settings.query_chars:
        raise BadInputError(
            f"The question has {len(change.value):,} characters, the most is {settings.query_chars:,}."
        )


def _checked(
    first: QueryReceived, changes: Sequence[Change], own: QuerySettings
) -> QuerySettings:
    """Applies the changes to the settings, and refuses one that raises a setting above the service's own.

    Raises:
        BadInputError: A change does so.
    """
    for change in changes:
        if change.kind != "setting":
            continue
        changed = change_event(first, change)
        assert isinstance(changed, QueryReceived)
        first = changed
        above = _above(change.name, first.settings, own)
        if above is not None:
            raise BadInputError(above)
    return first.settings


def _above(name: str, settings: QuerySettings, own: QuerySettings) -> str | None:
    """Returns one sentence if a setting is above the service's own; None if it is not."""
    value = getattr(settings, name)
    if name in MODELS:
        known = models_of(own)
        if value is None or value in known:
            return None
        return f"`{name}` is {value[:80]!r}, and this service asks only {', '.join(sorted(known))}."
    if name not in DOWNWARDS or not _is_above(value, getattr(own, name)):
        return None
    return (
        f"`{name}` is {_shown(value)}, and the service's own {_shown(getattr(own, name))} is the most: "
        "settings of a fork over the network go only downwards."
    )


def _caps(
    settings: QuerySettings, own: QuerySettings, caps: Mapping[str, float]
) -> Iterator[Change]:
    """Yields a change for each limit that the trace lacks, or has with a larger value than the service's today."""
    for name in DOWNWARDS:
        declared = DECLARED[name]
        # Callers may choose any value of these with a new question, so a trace with such a choice keeps it.
        is_free = declared.wish is not None and not declared.wish.lower_only
        most = caps[name] if is_free else getattr(own, name)
        if _is_above(getattr(settings, name), most):
            yield Change(kind="setting", name=name, value=f"{getattr(own, name)}")


def _is_above(value: float | None, most: float | None) -> bool:
    if most is None:
        return False
    return value is None or value > most


def models_of(own: QuerySettings) -> frozenset[str]:
    """Returns the models that the service is configured to use."""
    named = (own.model, own.final_model, own.other_model)
    return frozenset(name for name in named if name)


def _shown(value: object) -> str:
    if value is None:
        return "no limit"
    return str(value)[:20]
