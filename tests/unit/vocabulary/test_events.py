"""The vocabulary holds together: every event is in the union, frozen, under a kind of its own."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from antiphon.vocabulary import events
from antiphon.vocabulary.events import Event, QueryClosed
from tests.strategies import EVENT_KINDS


def test_every_event_of_the_vocabulary_is_in_the_union() -> None:
    defined = {
        kind for _, kind in inspect.getmembers(events, inspect.isclass) if issubclass(kind, Event) and kind is not Event
    }

    assert defined == set(EVENT_KINDS)


def test_every_event_has_a_kind_of_its_own() -> None:
    kinds = [kind.__struct_config__.tag for kind in EVENT_KINDS]

    assert len(set(kinds)) == len(kinds)


@pytest.mark.parametrize("kind", EVENT_KINDS)
def test_an_event_is_frozen_and_refuses_unknown_fields(kind: Any) -> None:
    assert kind.__struct_config__.frozen
    assert kind.__struct_config__.forbid_unknown_fields


def test_a_kind_is_the_name_of_its_class() -> None:
    for kind in EVENT_KINDS:
        assert kind.__struct_config__.tag.replace("_", "") == kind.__name__.lower()


def test_an_event_cannot_be_changed() -> None:
    closed = QueryClosed(status="answered")

    with pytest.raises(AttributeError):
        closed.status = "failed"  # type: ignore[misc]  # that it is refused is what is tested
