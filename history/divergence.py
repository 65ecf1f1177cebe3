"""Describes the first difference between a trace and its replay: its event, its field, its kind and its cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Literal

from antiphon.history.differing_fields import excerpts, json_of
from antiphon.traces import plain
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.values import Value

DivergenceKind = Literal["code", "order", "schema", "settings", "time", "fault"]
"""`code`: the rules now decide something else; `order`: the same events in another order; `schema`: the trace has a
form that this program does not write; `settings`: the difference follows from settings or versions that this program
does not have; `time`: an alarm of the deadline came too late; `fault`: the query was broken on purpose, so that events
may be lost or repeated."""

SHOWN_CHARS = 120
"""Characters of a field's value in a sentence, to fit a terminal's line."""


class Divergence(Value, frozen=True, kw_only=True):
    """The first difference between a trace and its replay.

    Attributes:
        seq: The recorded event; for one that was not recorded, the number at which it is missing.
        kind: Its kind.
        field: The first field that differs, such as `facts[2].id`; empty if a whole event is missing.
        recorded: The recorded event as JSON; empty if there is none.
        now: The event that is emitted now, as JSON; empty if there is none.
        chain: The events that led to it, nearest first, each as `seq kind`.
        detail: The difference in a sentence.
    """

    seq: int
    kind: str
    difference: DivergenceKind
    field: str
    recorded: str
    now: str
    chain: tuple[str, ...]
    detail: str

    def excerpts(self, most: int) -> tuple[str, str]:
        """Returns the recorded event and the one emitted now, each from shortly before their difference."""
        return excerpts(self.recorded, self.now, most)


class FieldDifference(Value, frozen=True, kw_only=True):
    """The first field in which two plain values differ: its path, and the value of each."""

    path: str
    recorded: object
    now: object


def chain_of(events: Sequence[Recorded[Event]], seq: int) -> tuple[str, ...]:
    """Returns the events that led to `seq`, itself first, each as `seq kind`."""
    chain: list[str] = []
    while 0 < seq <= len(events):
        recorded = events[seq - 1]
        chain.append(f"{seq} {recorded.event.kind_name()}")
        if recorded.cause >= seq:
            break  # a trace from a file may claim any cause, even one that makes this loop endless
        seq = recorded.cause
    return tuple(chain)


def first_difference(recorded: object, now: object, path: str = "") -> FieldDifference:
    """Finds the first field in which two plain values differ; the values themselves if they have no fields."""
    if isinstance(recorded, dict) and isinstance(now, dict):
        # In the order of the fields, those of `recorded` first, so that the first difference is always the same one.
        for name in recorded | now:
            was, new = recorded.get(name), now.get(name)
            if was != new:
                return first_difference(was, new, f"{path}.{name}".removeprefix("."))
    if isinstance(recorded, list | tuple) and isinstance(now, list | tuple):
        return _first_different_item(recorded, now, path)
    return FieldDifference(path=path, recorded=recorded, now=now)


def _first_different_item(
    recorded: Sequence[object], now: Sequence[object], path: str
) -> FieldDifference:
    for place, (was, new) in enumerate(zip_longest(recorded, now)):
        # None, which equals no item, pads the shorter list, so its end counts as a difference.
        if was != new:
            return first_difference(was, new, f"{path}[{place}]")
    return FieldDifference(path=path, recorded=recorded, now=now)


def same(recorded: Event, now: Event, form: Mapping[str, object] | None = None) -> bool:
    """Returns True if an event is emitted now as it was recorded.

    Args:
        form: The event in the trace's form; fields that it lacks did not exist yet and are not compared.
    """
    if recorded == now:
        return True  # nearly always true, and cheap compared with the rest
    if form is None or type(recorded) is not type(now):
        return False
    return _same_as_known(form, plain(recorded), plain(now))


def _same_as_known(form: object, was: object, now: object) -> bool:
    """Returns True if two plain values are the same in all fields that `form` also has."""
    if was == now:
        return True  # true of most fields even in an event that differs somewhere
    match form, was, now:
        # A store's form has {"kept": hash} for a text, which has no fields to compare.
        case {"kept": _}, _, _:
            return False
        case dict(), dict(), dict():
            shared = form.keys() & was.keys()
            return shared == form.keys() & now.keys() and all(
                _same_as_known(form[name], was[name], now[name]) for name in shared
            )
        # If the lengths differ, the forms cannot be matched to the items, so the lists as a whole differ.
        case [*forms], [*before], [*after]:
            return len(forms) == len(before) == len(after) and all(
                map(_same_as_known, forms, before, after)
            )
    return False


def shown(event: Event | None) -> str:
    """Returns an event as JSON; empty for none."""
    if event is None:
        return ""
    return json_of(plain(event))


def in_words(
    recorded: Event | None, now: Event | None, difference: FieldDifference
) -> str:
    """Describes in a sentence how a recorded event differs from the one emitted now."""
    if recorded is None:
        name = "nothing" if now is None else now.kind_name()
        return f"{name} is emitted now, and was not when the query was recorded"
    if now is None:
        return f"{recorded.kind_name()} was recorded, and nothing is emitted now"
    if type(recorded) is not type(now):
        return f"{recorded.kind_name()} was recorded, {now.kind_name()} is emitted now"
    was, new = excerpts(
        json_of(difference.recorded), json_of(difference.now), SHOWN_CHARS
    )
    return f"{recorded.kind_name()}: {difference.path} was {was} and is {new} now"
