"""What a server can do, found out by one tiny call of each kind: what `antiphon doctor --model` prints."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from antiphon.engine.citation_style import ask, source_request
from antiphon.engine.fold import Reply
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Model
from antiphon.vocabulary.values import Message, Request, StoredText

CALL_S = 30.0
_SYSTEM = StoredText('[{"type":"text","text":"Answer in as few words as you can."}]')
_CACHED_SYSTEM = StoredText(
    '[{"type":"text","text":"Answer in as few words as you can.","cache_control":{"type":"ephemeral"}}]'
)
_TOOL = StoredText(
    '[{"name":"look_up","description":"Looks a word up.","input_schema":{"type":"object",'
    '"properties":{"word":{"type":"string"}},"required":["word"]}}]'
)


class Finding(NamedTuple):
    """One thing that was tried: whether the server can do it, what came, and the setting to make where it cannot."""

    name: str
    well: bool
    found: str
    setting: str = ""


Judge = Callable[[Reply], str]
"""Says what is wrong with a reply; nothing where it is as it should be."""


async def find_capabilities(model: Model, name: str) -> list[Finding]:
    """Tries everything that the engine may use, one call after another; stops where nothing answers at all."""
    first = await _tried("Text", model, _text(name, "Say yes."), lambda reply: "" if reply.text.text else "no text")
    if not first.well:
        return [first]
    kinds: tuple[Callable[[Model, str], Awaitable[Finding]], ...] = (
        _tool_use, _tool_choice_none, _search_results, _caching, _thinking, _effort,
    )  # fmt: skip
    return [first, *[await kind(model, name) for kind in kinds]]


async def _tool_use(model: Model, name: str) -> Finding:
    request = replace(_text(name, "Look up the word heliotrope with the tool."), tools=_TOOL)
    return await _tried("Tool use", model, request, lambda r: "" if r.tool_calls else "it called no tool")


async def _tool_choice_none(model: Model, name: str) -> Finding:
    question = _message("user", {"type": "text", "text": "Look up heliotrope."})
    call = _message("assistant", {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {"word": "x"}})
    answer = _message("user", {"type": "tool_result", "tool_use_id": "toolu_1", "content": "A purple flower."})
    request = replace(_text(name, ""), messages=(question, call, answer), tools=_TOOL, tool_choice='{"type":"none"}')

    def judge(reply: Reply) -> str:
        return "it called a tool all the same" if reply.tool_calls else "" if reply.text.text else "an empty reply"

    found = await _tried("tool_choice: none", model, request, judge)
    return found if found.well else found._replace(setting="ANTIPHON_SERVER_LACKS=tool_choice_none")


async def _search_results(model: Model, name: str) -> Finding:
    def judge(reply: Reply) -> str:
        return "" if reply.citations else f"it cited nothing, and said {reply.text.text[:80]!r}"

    found = await _tried("search_result blocks", model, source_request(name), judge)
    return found if found.well else found._replace(setting="ANTIPHON_CITATIONS=inline")


async def _caching(model: Model, name: str) -> Finding:
    request = replace(_text(name, "Say yes."), system=_CACHED_SYSTEM)
    found = await _tried("cache_control", model, request, lambda _: "")
    return found if found.well else found._replace(setting="ANTIPHON_SERVER_LACKS=caching")


async def _thinking(model: Model, name: str) -> Finding:
    for thinking, setting in (('{"type":"adaptive"}', "adaptive"), ('{"type":"enabled","budget_tokens":1024}', "1024")):
        request = replace(_text(name, "Say yes."), max_tokens=2048, extra=f'{{"thinking":{thinking}}}')
        found = await _tried(f"thinking ({setting})", model, request, lambda _: "")
        if found.well:
            return found
    return found._replace(setting="ANTIPHON_SERVER_LACKS=thinking")


async def _effort(model: Model, name: str) -> Finding:
    request = replace(_text(name, "Say yes."), extra='{"output_config":{"effort":"low"}}')
    return await _tried("effort", model, request, lambda _: "")


async def _tried(name: str, model: Model, request: Request, judge: Judge) -> Finding:
    try:
        reply = await ask(model, request, CALL_S)
    except ModelError as error:
        return Finding(name, False, f"{error.kind}: {error}")
    wrong = judge(reply)
    usage = reply.usage
    return Finding(name, not wrong, wrong or f"{usage.all_input_tokens} tokens in, {usage.output_tokens} out")


def _text(name: str, words: str) -> Request:
    message = _message("user", {"type": "text", "text": words})
    return Request(model=name, max_tokens=200, system=_SYSTEM, messages=(message,))


def _message(role: str, block: dict[str, object]) -> Message:
    kept = StoredText(msgspec.json.encode(block).decode())
    return Message(role="user" if role == "user" else "assistant", content=(kept,))
