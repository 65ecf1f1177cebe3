"""What the small Messages API makes of a request's messages."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.engine.offline.app import reply_to
from antiphon.engine.offline.reading import read_task
from antiphon.engine.offline.shapes import RefusedError, parse
from antiphon.language.evidence import WORDS_ALONE
from antiphon.vocabulary.ports import Json
from tests.unit.engine.briefings import TOOLS, attempt, briefing, source

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=12,
)
FIELDS = st.sampled_from(
    [
        "type",
        "text",
        "role",
        "content",
        "source",
        "title",
        "tool_use_id",
        "input",
        "name",
        "id",
        "is_error",
    ]
)
KINDS = st.sampled_from(["text", "search_result", "tool_result", "tool_use", "image"])
BLOCKS = st.dictionaries(FIELDS, JSON, max_size=5).flatmap(
    lambda b: KINDS.map(lambda kind: b | {"type": kind})
)


def whole(*messages: Json, **more: object) -> Json:
    return {"model": "m", "max_tokens": 9, "messages": list(messages), **more}


def test_a_briefing_is_read_in_all_its_parts() -> None:
    done = attempt(query="x", facts=(1,))

    task = read_task(
        briefing(
            "Why <b>?",
            source("C - Lesson 3", "One. "),
            attempts=(done,),
            earlier="What?",
        )
    )

    assert (task.question, task.earlier, task.attempts) == (
        "Why <b>?",
        ("What?",),
        (done,),
    )
    assert (task.sources[0].course, task.sources[0].lesson, task.sources[0].number) == (
        "C",
        3,
        0,
    )
    assert [tool.name for tool in task.tools] == [
        "get_course_outline",
        "search_course_content",
    ]


TRANSCRIPT: list[Json] = [
    {"role": "user", "content": "What is a queue?"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "search_course_content",
                                       "input": {"query": "queue"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1",
                                  "content": [source("C - Lesson 1", "A queue holds messages.")]}]},
]  # fmt: skip


def test_a_plain_transcript_is_read_as_well() -> None:
    task = read_task(whole(*TRANSCRIPT, tools=list(TOOLS)))

    assert task.question == "What is a queue?"
    assert [(a.round, a.tool, a.outcome) for a in task.attempts] == [
        (1, "search_course_content", "found")
    ]
    assert task.sources[0].blocks == ("A queue holds messages.",)
    assert reply_to(task, WORDS_ALONE).blocks[-1]["text"] == "A queue holds messages."


def test_a_transcripts_plain_words_are_evidence_that_cannot_be_cited() -> None:
    results = [
        {
            "type": "tool_result",
            "tool_use_id": "t1",
            "content": "[C - Lesson 1]\nA queue holds messages.",
        }
    ]

    blocks = reply_to(
        read_task(whole(*TRANSCRIPT[:2], {"role": "user", "content": results})),
        WORDS_ALONE,
    ).blocks

    assert blocks == [{"type": "text", "text": "C, Lesson 1: A queue holds messages."}]


def test_a_forbidden_choice_of_tools_is_obeyed() -> None:
    assert (
        read_task(
            whole(*TRANSCRIPT, tools=list(TOOLS), tool_choice={"type": "none"})
        ).tools
        == ()
    )


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"{", b"\xff", b"[" * 9000, b'{"model":"m"}', b'{"model":7,"max_tokens":1}',
        b'{"model":"m","max_tokens":0}', b'{"model":"m","max_tokens":true}', b'{"model":"m","max_tokens":1,"stream":1}',
    ],
)  # fmt: skip
def test_a_body_of_a_wrong_shape_is_refused_with_a_sentence(body: bytes) -> None:
    with pytest.raises(RefusedError, match=r"\.$"):
        parse(body)


@pytest.mark.parametrize(
    "request_",
    [
        whole(), {"messages": {}}, whole({"role": "system", "content": "x"}),
        whole({"role": "assistant", "content": "x"}),
        whole({"role": "user"}), whole({"role": "user", "content": [7]}), whole({"role": "user", "content": [{}]}),
        whole({"role": "user", "content": [{"type": "text"}]}),
        whole({"role": "user", "content": [{"type": "search_result"}]}),
        whole({"role": "user", "content": [{"type": "search_result", "source": "s", "title": "t", "content": 7}]}),
        whole({"role": "user", "content": "x"}, tools=[{}]), whole({"role": "user", "content": "x"}, tools={"a": 1}),
        whole({"role": "user", "content": "x"}, tools=[{"name": "n"}]),
        whole({"role": "user", "content": "x"}, tool_choice="none"),
    ],
)  # fmt: skip
def test_messages_of_a_wrong_shape_are_refused_with_a_sentence(request_: Json) -> None:
    with pytest.raises(RefusedError, match=r"\.$"):
        read_task(request_)


@given(
    messages=st.lists(st.lists(BLOCKS, max_size=4), min_size=1, max_size=4), tools=JSON
)
def test_whatever_the_messages_hold_they_are_answered_or_refused(
    messages: list[list[Json]], tools: object
) -> None:
    rows = [
        {"role": ("user", "assistant")[n % 2], "content": blocks}
        for n, blocks in enumerate(messages)
    ]
    request = parse(msgspec.json.encode(whole(*rows, tools=tools)))

    try:
        content = reply_to(read_task(request), WORDS_ALONE).blocks
    except RefusedError:
        return

    assert all(block["type"] in ("text", "tool_use") for block in content)
