"""The vocabulary holds together: every event is in the catalog, frozen, has a kind of its own and knows its facts."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from antiphon.vocabulary import events
from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.events import Event, QueryClosed
from tests.strategies import EVENT_KINDS


def test_every_event_of_the_vocabulary_is_in_the_catalog() -> None:
    defined = {
        kind
        for _, kind in inspect.getmembers(events, inspect.isclass)
        if issubclass(kind, Event) and kind is not Event
    }

    assert defined == set(EVENT_KINDS)


def test_every_event_has_a_kind_of_its_own() -> None:
    kinds = [kind.kind_name() for kind in EVENT_KINDS]

    assert len(set(kinds)) == len(kinds)


@pytest.mark.parametrize("kind", EVENT_KINDS)
def test_an_event_is_frozen_and_refuses_unknown_fields(kind: Any) -> None:
    assert kind.__struct_config__.frozen
    assert kind.__struct_config__.forbid_unknown_fields


def test_a_kind_is_the_name_of_its_class() -> None:
    for kind in EVENT_KINDS:
        assert kind.kind_name().replace("_", "") == kind.__name__.lower()


def test_an_event_cannot_be_changed() -> None:
    closed = QueryClosed(status="answered")

    with pytest.raises(AttributeError):
        closed.status = "failed"  # type: ignore[misc]  # that it is refused is what is tested


@pytest.mark.parametrize("kind", EVENT_KINDS)
def test_an_event_declares_who_emits_it_and_a_field_that_says_what_it_is_about(
    kind: type[Event],
) -> None:
    first = kind.about.field.partition(".")[0]

    assert kind.emitted_by
    assert not first or first in kind.__struct_fields__


@pytest.mark.parametrize("kind", [kind for kind in EVENT_KINDS if kind.settles])
def test_an_event_settles_a_request_about_the_same_kind_of_thing(
    kind: type[Event],
) -> None:
    for settled in kind.settles:
        about = settled.by or kind.about

        assert about.kind == settled.request.about.kind
        assert kind in BUILT_IN.outcomes[settled.request]


def test_two_events_of_one_tag_make_no_catalog() -> None:
    class Twin(Event, frozen=True, kw_only=True, tag="query_closed"):
        """Takes the tag of another event."""

        emitted_by = ("twin",)

    with pytest.raises(
        ConfigurationError,
        match="Two events are tagged 'query_closed', QueryClosed and Twin",
    ):
        BUILT_IN.extended([Twin])


def test_an_event_that_nobody_emits_makes_no_catalog() -> None:
    class Orphan(Event, frozen=True, kw_only=True, tag="orphan"):
        """Says nothing of who emits it."""

    with pytest.raises(ConfigurationError, match="Orphan declares nobody who emits it"):
        BUILT_IN.extended([Orphan])
