"""Whatever traces can be found by, they can be found by over REST and by the command."""

from __future__ import annotations

import inspect

import pytest

from antiphon.api.routes.listing import TraceQuery
from antiphon.cli.traces import listed
from antiphon.vocabulary.ports import TraceFilter

IN_HOURS = {"since": "since_h", "until": "until_h"}


@pytest.mark.parametrize("name", TraceFilter.__struct_fields__)
def test_every_filter_can_be_asked_for(name: str) -> None:
    assert name in TraceQuery.model_fields
    assert IN_HOURS.get(name, name) in inspect.signature(listed).parameters


def test_what_is_asked_for_over_rest_is_what_is_looked_for() -> None:
    asked = {"since": 1.0, "until": 2.0} | {
        name: name for name in TraceFilter.__struct_fields__ if name not in IN_HOURS
    }

    assert TraceQuery.model_validate(asked).filter() == TraceFilter(**asked)  # type: ignore[arg-type]  # by name
