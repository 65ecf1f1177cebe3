"""The fold of stream events into a reply."""

from __future__ import annotations

import msgspec
import pytest

from antiphon.engine.fold import ReplyFold
from antiphon.engine.reply import Reply, events_of
from antiphon.engine.sse import SseDecoder
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import ReplyCitation, ToolCall, Usage
from tests.fakes_messages_api import (
    block_started,
    block_stopped,
    delta,
    ended,
    sse,
    started,
    text_reply,
    tool_reply,
)


def fold(*events: Json) -> tuple[list[str | ToolCall], Reply]:
    folding = ReplyFold()
    told = [piece for event in events if (piece := folding.add(event)) is not None]
    return told, folding.reply()


def contents(reply: Reply) -> list[Json]:
    return [msgspec.json.decode(block.text) for block in reply.content]


def test_text_pieces_are_told_and_joined() -> None:
    told, reply = fold(*text_reply("One", " two"))

    assert told == ["One", " two"]
    assert reply.text.text == "One two"
    assert contents(reply) == [{"type": "text", "text": "One two"}]


def test_a_tool_call_is_told_when_its_block_stops() -> None:
    told, reply = fold(*tool_reply())

    assert told == [
        "Let me look.",
        ToolCall(id="toolu_1", name="search", arguments='{"query": "hybrid"}'),
    ]
    assert contents(reply)[1]["input"] == {"query": "hybrid"}
    assert reply.stop_reason == "tool_use"


@pytest.mark.parametrize(
    ("start", "arguments"),
    [
        ({"input": {"a": 1}}, '{"a":1}'),
        ({"input": {}}, "{}"),
        ({}, "{}"),
        ({"input": None}, "{}"),
    ],
)
def test_the_input_of_a_tool_call_may_stand_in_its_start_or_nowhere(
    start: Json, arguments: str
) -> None:
    told, _ = fold(
        started(),
        block_started(0, type="tool_use", id="t", name="n", **start),
        block_stopped(0),
        *ended("tool_use"),
    )

    assert told == [ToolCall(id="t", name="n", arguments=arguments)]


def test_stops_that_all_come_at_the_end_bring_each_its_own_call() -> None:
    starts = [
        block_started(n, type="tool_use", id=f"t{n}", name="n", input={})
        for n in range(2)
    ]
    deltas = [delta(n, "input_json_delta", partial_json=f'{{"n":{n}}}') for n in (1, 0)]

    told, reply = fold(
        started(),
        *starts,
        *deltas,
        block_stopped(0),
        block_stopped(1),
        block_stopped(1),
        *ended(),
    )

    assert told == list(reply.tool_calls)
    assert [call.arguments for call in reply.tool_calls] == ['{"n":0}', '{"n":1}']


def test_arguments_that_were_cut_off_are_kept_as_they_are() -> None:
    cut = delta(0, "input_json_delta", partial_json='{"query": "hy')

    told, reply = fold(
        started(),
        block_started(0, type="tool_use", id="t", name="n"),
        cut,
        block_stopped(0),
        *ended("max_tokens"),
    )

    assert told == []  # it may not run
    assert reply.tool_calls == (ToolCall(id="t", name="n", arguments='{"query": "hy'),)
    assert contents(reply)[0]["input"] == {}


def test_citations_span_the_cited_block_in_the_joined_text() -> None:
    citation = {
        "type": "search_result_location", "search_result_index": 2, "start_block_index": 0, "end_block_index": 1,
        "cited_text": "Cited.", "source": "s", "title": "t",
    }  # fmt: skip

    _, reply = fold(
        started(),
        block_started(0, type="text", text="So: "),
        block_stopped(0),
        block_started(1, type="text", text="", citations=[]),
        delta(1, "citations_delta", citation=citation),
        delta(1, "citations_delta", citation={"type": "char_location"}),
        delta(1, "text_delta", text="it is."),
        block_stopped(1),
        *ended(),
    )

    expected = ReplyCitation(
        start=4, end=10, source=2, first_block=0, end_block=1, cited_text="Cited."
    )
    assert reply.citations == (expected,)
    assert reply.text.text[4:10] == "it is."
    assert contents(reply)[1]["citations"] == [citation, {"type": "char_location"}]


def test_thinking_is_kept_with_its_signature_and_is_no_text() -> None:
    told, reply = fold(
        started(),
        block_started(0, type="thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="Hm."),
        delta(0, "signature_delta", signature="sig"),
        block_stopped(0),
        *ended(),
    )

    assert told == []
    assert reply.text.text == ""
    assert contents(reply) == [
        {"type": "thinking", "thinking": "Hm.", "signature": "sig"}
    ]


def test_unknown_blocks_deltas_and_events_do_no_harm() -> None:
    told, reply = fold(
        started(),
        {"type": "ping"},
        {"type": "something_new", "x": 1},
        block_started(0, type="hologram", colour="blue"),
        delta(0, "hologram_delta", colour="red"),
        block_stopped(0),
        *ended("a_new_reason"),
    )

    assert told == []
    assert contents(reply) == [{"type": "hologram", "colour": "blue"}]
    assert reply.stop_reason == "a_new_reason"


def test_usage_takes_the_last_word_and_tolerates_what_is_missing() -> None:
    usage = {
        "input_tokens": 5,
        "cache_read_input_tokens": 4,
        "cache_creation_input_tokens": None,
        "output_tokens": 1,
    }

    _, reply = fold(started(usage=usage), *ended(output_tokens=9, input_tokens=None))

    assert reply.usage == Usage(input_tokens=5, output_tokens=9, cache_read_tokens=4)


def test_a_stream_without_its_end_is_truncated() -> None:
    with pytest.raises(ModelError) as failure:
        fold(*text_reply("x")[:-1])

    assert (failure.value.kind, failure.value.retryable) == ("truncated_stream", True)


@pytest.mark.parametrize(
    "event",
    [
        {"type": "message_start", "message": None},
        {"type": "message_delta", "delta": "x"},
        {"type": "content_block_start", "index": "0", "content_block": {}},
        {"type": "content_block_start", "index": 1, "content_block": []},
        {
            "type": "content_block_delta",
            "index": 7,
            "delta": {"type": "text_delta", "text": "x"},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": 5},
        },
        {"type": "content_block_delta", "index": 0},
        {"type": "content_block_stop"},
        block_started(0, type="text", text=""),
    ],
)
def test_events_of_a_wrong_shape_are_refused_as_malformed(event: Json) -> None:
    folding = ReplyFold()
    folding.add(started())
    folding.add(block_started(0, type="text", text=""))

    with pytest.raises(ModelError) as failure:
        folding.add(event)

    assert failure.value.kind == "malformed"


@pytest.mark.parametrize(
    "block",
    [{"id": "t"}, {"id": "t" * 201, "name": "n"}],
)
def test_a_tool_call_without_a_name_or_with_an_endless_id_is_malformed(
    block: Json,
) -> None:
    with pytest.raises(ModelError, match="usable id"):
        fold(
            started(),
            block_started(0, type="tool_use", **block),
            block_stopped(0),
            *ended(),
        )


def test_calls_that_repeat_an_id_get_ids_of_their_own() -> None:
    starts = [
        block_started(n, type="tool_use", id="call_0", name="n", input={"n": n})
        for n in range(2)
    ]
    events = [
        started(),
        *starts,
        block_stopped(0),
        block_stopped(1),
        *ended("tool_use"),
    ]
    ids: set[str] = set()

    replies = []
    for _ in range(2):
        folding = ReplyFold(ids)
        for event in events:
            folding.add(event)
        replies.append(folding.reply())

    assert [call.id for reply in replies for call in reply.tool_calls] == [
        "call_0",
        "call_0-2",
        "call_0-3",
        "call_0-4",
    ]
    assert [block["id"] for block in contents(replies[1])] == ["call_0-3", "call_0-4"]


def test_half_characters_are_joined_over_deltas_and_replaced_where_they_stay_alone() -> (
    None
):
    decoder = SseDecoder()
    halves = [b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%s"}}' % part
              for part in (b"So \\ud83d", b"\\ude00!", b" \\udc00 \\ud83d")]  # fmt: skip
    wire = sse(started(), block_started(0, type="text", text="")) + b"".join(
        b"data: %s\n\n" % h for h in halves
    )
    wire += sse(
        block_stopped(0),
        block_started(1, type="tool_use", id="t", name="n"),
        delta(1, "input_json_delta", partial_json='{"query": "a \\ud83d b"}'),
        block_stopped(1),
        *ended(),
    )

    told, reply = fold(*decoder.feed(wire), *decoder.end())

    assert reply.text.text == "So \N{GRINNING FACE}! \ufffd \ufffd"
    assert told[:2] == ["So ", "\N{GRINNING FACE}!"]
    assert msgspec.json.decode(reply.tool_calls[0].arguments) == {"query": "a \ufffd b"}
    assert all(kept.text.encode() for kept in reply.content)


def test_a_whole_message_folds_like_its_stream() -> None:
    _, streamed = fold(*tool_reply())
    message = started()["message"] | {
        "content": contents(streamed),
        "stop_reason": "tool_use",
    }

    _, whole = fold(*events_of(message))

    assert whole.content == streamed.content
    assert whole.text == streamed.text
    assert [call.id for call in whole.tool_calls] == ["toolu_1"]


def test_blocks_that_a_message_begins_with_are_part_of_it() -> None:
    block = {"type": "tool_use", "id": "t", "name": "n", "input": {"a": 1}}

    _, reply = fold(started(content=[block]), {"type": "message_stop"})

    assert reply.tool_calls == (ToolCall(id="t", name="n", arguments='{"a":1}'),)
    assert reply.stop_reason == "tool_use"


def test_nothing_counts_that_comes_after_the_end() -> None:
    told, reply = fold(*text_reply("x"), *text_reply("y"))

    assert told == ["x"]
    assert reply.text.text == "x"


def test_an_index_that_is_used_again_after_its_stop_is_another_block() -> None:
    one = [block_started(0, type="text", text="One."), block_stopped(0)]

    _, reply = fold(started(), *one, *one, *ended())

    assert reply.text.text == "One.One."
