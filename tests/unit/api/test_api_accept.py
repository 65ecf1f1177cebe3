"""Which form a caller gets."""

from __future__ import annotations

import pytest

from antiphon.api.responses import EVENT_STREAM, JSON, preferred


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        (None, JSON),
        ("", JSON),
        ("*/*", JSON),
        ("text/html,*/*;q=0.8", JSON),
        (EVENT_STREAM, EVENT_STREAM),
        ("Text/Event-Stream; charset=utf-8", EVENT_STREAM),
        ("text/*", EVENT_STREAM),
        ("application/json, text/event-stream", JSON),
        ("application/json;q=0.5, text/event-stream", EVENT_STREAM),
        ("text/event-stream;q=0, */*", JSON),
        ("text/event-stream;q=lots", JSON),
        ("image/png", JSON),
        (";;;,,,", JSON),
    ],
)
def test_the_form_that_weighs_most_is_chosen_and_json_in_doubt(
    accept: str | None, form: str
) -> None:
    assert preferred(accept, (JSON, EVENT_STREAM)) == form
