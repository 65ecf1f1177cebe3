"""Events whose subscriber is gone keep their fields."""

from __future__ import annotations

from antiphon.vocabulary.unknown import unknown_event


def test_an_event_that_nobody_defines_has_its_fields_under_their_recorded_names() -> (
    None
):
    form = {"kind": "translated", "text": "Hallo", "emitted_by": 3, "no name": [1]}

    event = unknown_event(form)

    assert event.kind_name() == "translated"
    assert event.fields() == {"text": "Hallo", "emitted_by": 3, "no name": [1]}
