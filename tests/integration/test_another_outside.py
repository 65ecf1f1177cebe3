"""Everything outside a query is one function: to replace it takes neither models nor tools."""

from __future__ import annotations

from antiphon.composition import Resources
from antiphon.vocabulary import events as e
from antiphon.vocabulary.performing import Command
from antiphon.vocabulary.ports import Ports, Publish
from antiphon.vocabulary.values import QuerySettings, StoredText, ToolCall, Usage
from tests.whole_query import House, ScriptedModel

CALL = ToolCall(id="t1", name="search_course_content", arguments='{"query": "bm25"}')


class ByHeart:
    """An outside that knows every reply and every result by heart."""

    def __init__(self, publish: Publish) -> None:
        self._publish = publish

    def perform(self, command: Command, /) -> None:
        match command.request.event:
            case e.ReasoningRequested(call_id=call_id, round=number, final=final):
                self._publish(_reply(call_id, number, final=final))
            case e.ToolRequested(call=call):
                self._publish(
                    e.ToolSucceeded(
                        tool_call_id=call.id,
                        name=call.name,
                        output=StoredText("BM25 ranks."),
                        passages=(),
                        duration_ms=1.0,
                    )
                )


def _reply(call_id: str, number: int, *, final: bool) -> e.ReasoningCompleted:
    text = "It ranks documents." if final else "I look."
    return e.ReasoningCompleted(
        call_id=call_id,
        round=number,
        content=(),
        text=StoredText(text),
        tool_calls=() if final else (CALL,),
        citations=(),
        stop_reason="end_turn" if final else "tool_use",
        usage=Usage(),
        model="by heart",
        message_id="",
    )


def by_heart(_: Resources, ports: Ports, /) -> ByHeart:
    return ByHeart(ports.publish)


async def test_a_query_is_answered_by_another_outside_alone() -> None:
    model = ScriptedModel([])
    house = House(model, outside=by_heart)

    outcome = await house.ask("What is bm25?", QuerySettings(max_rounds=1))

    assert outcome.response.answer == "It ranks documents."
    assert model.requests == []
    kinds = [type(each.event) for each in await house.store.read("q")]
    assert kinds.count(e.ToolsSettled) == 1
    assert e.ReasoningStarted not in kinds
