"""The named rules that every request keeps."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from antiphon.engine.legality import RULES, make_legal
from antiphon.engine.request import build_request
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Message, Request, StoredText
from tests.fakes_messages_api import TOOLS, asked

TEXT: Json = {"type": "text", "text": "q"}


def message(role: Any, *blocks: Json) -> Message:
    return Message(
        role=role, content=tuple(StoredText(json.dumps(block)) for block in blocks)
    )


def use(call: str) -> Json:
    return {"type": "tool_use", "id": call, "name": "search", "input": {}}


def result(call: str, **more: object) -> Json:
    return {"type": "tool_result", "tool_use_id": call, "content": "r", **more}


def source(*, cites: bool = True, **more: object) -> Json:
    content = [{"type": "text", "text": "Logs grow."}]
    return {
        "type": "search_result", "source": "s", "title": "t", "content": content,
        "citations": {"enabled": cites}, **more,
    }  # fmt: skip


MARKED = StoredText(
    '[{"type":"text","text":"Answer.","cache_control":{"type":"ephemeral"}}]'
)


def request(*messages: Message, **changes: Any) -> Request:
    return replace(
        build_request(asked(messages=messages or (message("user", TEXT),)), TOOLS),
        **({"system": MARKED} | changes),
    )


def blocks(request: Request) -> list[list[Json]]:
    return [
        [json.loads(block.text) for block in message.content]
        for message in request.messages
    ]


def test_a_legal_request_is_left_as_it_is() -> None:
    whole = request(
        message("user", TEXT),
        message("assistant", use("a")),
        message("user", result("a"), TEXT),
    )

    legal = make_legal(whole)

    assert legal.request is whole
    assert legal.repairs == ()


def test_blank_text_is_left_out_and_so_is_a_message_that_holds_nothing_else() -> None:
    blank = {"type": "text", "text": " \n"}
    legal = make_legal(
        request(
            message("user", TEXT, blank),
            message("assistant", blank),
            message("user", TEXT),
        )
    )

    assert legal.repairs == ("no_blank_text",)
    assert blocks(legal.request) == [[TEXT], [TEXT]]


def test_every_call_is_answered_first_and_once() -> None:
    legal = make_legal(
        request(
            message("user", TEXT),
            message("assistant", use("a"), use("b")),
            message("user", TEXT, result("gone"), result("b")),
            message("assistant", use("c")),
        )
    )

    assert legal.repairs == ("tool_calls_answered_first",)
    answers = [
        [(block.get("tool_use_id"), block.get("is_error")) for block in row]
        for row in blocks(legal.request)
    ]
    assert answers[2] == [("a", True), ("b", None), (None, None)]
    assert answers[4] == [("c", True)]


def test_citations_are_switched_on_everywhere_where_they_are_on_somewhere() -> None:
    inner = result("a") | {"content": [source(cites=False)]}
    legal = make_legal(
        request(
            message("user", source()),
            message("assistant", use("a")),
            message("user", inner, source(cites=False)),
        )
    )

    assert legal.repairs == ("citations_alike",)
    (first,), _, (second, third) = blocks(legal.request)
    assert (
        first["citations"]
        == third["citations"]
        == second["content"][0]["citations"]
        == {"enabled": True}
    )


def test_at_most_four_breakpoints_are_sent_and_the_last_ones_stay() -> None:
    marked = [
        source(cache_control={"type": "ephemeral"}, title=str(n)) for n in range(5)
    ]
    legal = make_legal(request(message("user", *marked)))

    assert legal.repairs == ("four_breakpoints",)
    assert ["cache_control" in block for block in blocks(legal.request)[0]] == [
        False,
        False,
        True,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("changes", "repair", "field", "value"),
    [
        ({"tool_choice": '{"type":"any"}', "extra": '{"thinking":{"type":"adaptive"}}'},
         "tool_choice_fits", "tool_choice", '{"type":"auto"}'),
        ({"tool_choice": '{"type":"none"}', "tools": None}, "tool_choice_fits", "tool_choice", None),
        ({"extra": '{"thinking":{"type":"enabled","budget_tokens":2000}}'},
         "thinking_budget_fits", "max_tokens", 2500),
        ({"extra": '{"thinking":{"type":"enabled","budget_tokens":10}}', "max_tokens": 3000},
         "thinking_budget_fits", "extra", '{"thinking":{"type":"enabled","budget_tokens":1024}}'),
    ],
)  # fmt: skip
def test_fields_that_do_not_fit_one_another_are_mended(
    changes: dict[str, Any], repair: str, field: str, value: object
) -> None:
    legal = make_legal(request(**changes))

    assert legal.repairs == (repair,)
    assert getattr(legal.request, field) == value


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        (replace(request(), messages=()), "user_begins"),
        (request(message("assistant", TEXT)), "user_begins"),
        (
            request(message("user", TEXT), message("assistant", use("a"), use("a"))),
            "tool_ids_differ",
        ),
        (request(max_tokens=0), "bounds"),
        (request(message("user", TEXT | {"text": "x" * (33 * 2**20)})), "size"),
    ],
)
def test_what_cannot_be_mended_is_an_illegal_request_that_names_its_rule(
    broken: Request, rule: str
) -> None:
    with pytest.raises(ModelError, match=rule) as failure:
        make_legal(broken)

    assert failure.value.kind == "illegal_request"
    assert rule in RULES


def test_calls_are_answered_also_where_the_assistant_goes_on_in_a_message_of_its_own() -> (
    None
):
    legal = make_legal(
        request(
            message("user", TEXT),
            message("assistant", use("a")),
            message("assistant", use("b")),
            message("user", result("b")),
        )
    )

    ids = [
        [block.get("tool_use_id", block.get("id")) for block in row]
        for row in blocks(legal.request)
    ]
    assert ids == [[None], ["a"], ["a"], ["b"], ["b"]]
