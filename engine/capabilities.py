"""Finds out what a server can do by one tiny call of each kind: what `antiphon doctor --model` prints."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from antiphon.engine.reply import Reply
from antiphon.engine.server_profile import ask, source_request
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Json, Model
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
"""Names the fault of a reply; empty where it is as it should be."""


async def find_capabilities(model: Model, name: str) -> list[Finding]:
    """Tries everything that the engine may use, one call after another; stops where nothing answers at all."""
    text = await _try("Text", model, _request(name, "Say yes."), _text_is_missing)
    findings = [text]
    if not text.well:
        return findings
    for probe in _PROBES:
        findings.append(await probe(model, name))
    return findings


async def _probe_tool_use(model: Model, name: str) -> Finding:
    request = replace(_request(name, "Look up the word heliotrope with the tool."), tools=_TOOL)
    return await _try("Tool use", model, request, lambda reply: "" if reply.tool_calls else "it called no tool")


async def _probe_tool_choice_none(model: Model, name: str) -> Finding:
    question = _message("user", {"type": "text", "text": "Look up heliotrope."})
    call = _message("assistant", {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {"word": "x"}})
    answer = _message("user", {"type": "tool_result", "tool_use_id": "toolu_1", "content": "A purple flower."})
    request = replace(_request(name, ""), messages=(question, call, answer), tools=_TOOL, tool_choice='{"type":"none"}')
    setting = "ANTIPHON_SERVER_LACKS=tool_choice_none"
    return await _try("tool_choice: none", model, request, _no_tool_was_to_be_called, setting)


async def _probe_search_results(model: Model, name: str) -> Finding:
    def judge(reply: Reply) -> str:
        return "" if reply.citations else f"it cited nothing, and said {reply.text.text[:80]!r}"

    return await _try("search_result blocks", model, source_request(name), judge, "ANTIPHON_CITATIONS=inline")


async def _probe_caching(model: Model, name: str) -> Finding:
    request = replace(_request(name, "Say yes."), system=_CACHED_SYSTEM)
    return await _try("cache_control", model, request, setting="ANTIPHON_SERVER_LACKS=caching")


async def _probe_thinking(model: Model, name: str) -> Finding:
    # Older models want a budget, newer ones choose it themselves; each refuses the other's way.
    request = replace(_request(name, "Say yes."), max_tokens=2048)
    adaptive = replace(request, extra='{"thinking":{"type":"adaptive"}}')
    found = await _try("thinking (adaptive)", model, adaptive)
    if found.well:
        return found
    budgeted = replace(request, extra='{"thinking":{"type":"enabled","budget_tokens":1024}}')
    return await _try("thinking (1024)", model, budgeted, setting="ANTIPHON_SERVER_LACKS=thinking")


async def _probe_effort(model: Model, name: str) -> Finding:
    request = replace(_request(name, "Say yes."), extra='{"output_config":{"effort":"low"}}')
    return await _try("effort", model, request)


_PROBES: tuple[Callable[[Model, str], Awaitable[Finding]], ...] = (
    _probe_tool_use,
    _probe_tool_choice_none,
    _probe_search_results,
    _probe_caching,
    _probe_thinking,
    _probe_effort,
)


def _anything_will_do(_: Reply) -> str:
    return ""


def _text_is_missing(reply: Reply) -> str:
    return "" if reply.text.text else "no text"


def _no_tool_was_to_be_called(reply: Reply) -> str:
    if reply.tool_calls:
        return "it called a tool all the same"
    return "" if reply.text.text else "an empty reply"


async def _try(
    name: str, model: Model, request: Request, judge: Judge = _anything_will_do, setting: str = ""
) -> Finding:
    """Makes one call and judges its reply; `setting` is what to set where the server cannot do it."""
    try:
        # A command of its own, outside of any session: there is no session's clock to go by.
        async with asyncio.timeout(CALL_S):
            reply = await ask(model, request, CALL_S)
    except TimeoutError:
        return Finding(name, False, f"timeout: no complete reply within {CALL_S:g} s", setting)
    except ModelError as error:
        return Finding(name, False, f"{error.kind}: {error}", setting)
    wrong = judge(reply)
    if wrong:
        return Finding(name, False, wrong, setting)
    return Finding(name, True, f"{reply.usage.all_input_tokens} tokens in, {reply.usage.output_tokens} out")


def _request(name: str, words: str) -> Request:
    message = _message("user", {"type": "text", "text": words})
    return Request(model=name, max_tokens=200, system=_SYSTEM, messages=(message,))


def _message(role: Literal["user", "assistant"], block: Json) -> Message:
    return Message(role=role, content=(StoredText(msgspec.json.encode(block).decode()),))
