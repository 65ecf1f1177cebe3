"""Finds out whether a replay differs only because its trace lacks a setting that exists now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from antiphon.vocabulary.events import Event, QueryReceived, Recorded
from antiphon.vocabulary.settings import DECLARED, Declared

MOST_NUMBERS = 16
"""Ranges of up to this many whole numbers are tried completely; of longer ones only the bounds are."""

Trace = Sequence[Recorded[Event]]


def setting_that_explains(
    events: Trace,
    settings: Mapping[str, object],
    replays: Callable[[Trace], bool],
) -> tuple[str, object] | None:
    """Returns a setting that the trace lacks, and a value with which the whole trace replays; None if there is none.

    A program without the setting behaved as if it had one of its values. If no value leads to the recorded decisions,
    the difference has another cause.

    Args:
        settings: The settings in the trace's form.
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
    """Yields the possible values of a setting other than its default, as far as they can be enumerated."""
    for value in _values(declared):
        if value != declared.default:
            yield value


def _values(declared: Declared) -> Sequence[object]:
    if declared.type is bool:
        return (False, True)
    if declared.choices:
        return declared.choices
    # The values of a free text are unknown; a number has at least the ends of its range.
    least, most = declared.setting.least, declared.setting.most
    ends = [end for end in (least, most) if end is not None]
    if declared.type is int and len(ends) == 2 and ends[1] - ends[0] <= MOST_NUMBERS:
        return range(int(ends[0]), int(ends[1]) + 1)
    return ends
