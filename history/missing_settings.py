"""Finds out if a replay differs only because its trace lacks a setting that there is now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from antiphon.vocabulary.events import Event, QueryReceived, Recorded
from antiphon.vocabulary.settings import DECLARED, Declared

MOST_NUMBERS = 16
"""Whole numbers between two bounds are all tried up to this many; of longer ranges the bounds alone."""

Trace = Sequence[Recorded[Event]]


def setting_that_explains(
    events: Trace,
    settings: Mapping[str, object],
    replays: Callable[[Trace], bool],
) -> tuple[str, object] | None:
    """Returns a setting that the trace lacks, and a value of it with which the whole trace replays; None for none.

    A program that did not know the setting behaved as if it had one of its values. If no value leads to what was
    decided then, the difference has another cause.

    Args:
        settings: The settings in the form in which the trace holds them.
        replays: Replays a trace, and returns True if nothing differs.
    """
    first = events[0]
    if not isinstance(first.event, QueryReceived):
        return None
    for name, declared in DECLARED.items():
        if name in settings:
            continue
        for value in other_values(declared):
            changed = replace(first.event.settings, **{name: value})
            event = replace(first.event, settings=changed)
            if replays([replace(first, event=event), *events[1:]]):
                return name, value
    return None


def other_values(declared: Declared) -> Iterator[object]:
    """Yields the values that a setting may have beside its default, as far as they can be counted up."""
    for value in _values(declared):
        if value != declared.default:
            yield value


def _values(declared: Declared) -> Sequence[object]:
    if declared.type is bool:
        return (False, True)
    if declared.choices:
        return declared.choices
    # Of any other text nothing is known, of a number the ends of its range.
    least, most = declared.setting.least, declared.setting.most
    ends = [end for end in (least, most) if end is not None]
    if declared.type is int and len(ends) == 2 and ends[1] - ends[0] <= MOST_NUMBERS:
        return range(int(ends[0]), int(ends[1]) + 1)
    return ends
