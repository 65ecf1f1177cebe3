"""From what is asked to the request that is sent: tools, marks of the cache, room for thinking."""

from __future__ import annotations

import json
from typing import Any

from antiphon.engine.models import traits_of
from antiphon.engine.preparing import (
    CacheMarks,
    PreparedRequest,
    prepare,
)
from antiphon.engine.request import request_json
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Profile, StoredText
from tests.fakes_messages_api import asked

STRICT_TOOLS = StoredText(
    json.dumps(
        [
            {
                "name": "search",
                "description": "Searches the courses. " * 60,
                "input_schema": {"type": "object", "properties": {}},
                "strict": True,
                "input_examples": [{}],
            }
        ]
    )
)


def profile(model: str = "claude-sonnet-5-5", **switches: Any) -> Profile:
    return Profile(model=traits_of(model), **switches)


def prepared(
    model: str = "claude-sonnet-5-5",
    before: CacheMarks = CacheMarks(),  # noqa: B008 - a value that never changes
    switches: Json | None = None,
    **changes: Any,
) -> PreparedRequest:
    return prepare(
        asked(model=model, **changes),
        STRICT_TOOLS,
        profile(model, **(switches or {})),
        "native",
        before,
    )


def body(**changes: Any) -> Json:
    return request_json(prepared(**changes).request)


def test_tools_are_strict_for_models_and_servers_that_know_it() -> None:
    [tool] = body()["tools"]
    [plain] = body(switches={"strict": False})["tools"]
    [unknown] = body(model="somebodys-own")["tools"]

    assert tool["strict"]
    assert tool["input_examples"] == [{}]
    assert plain == unknown
    assert set(plain) == {"name", "description", "input_schema"}
