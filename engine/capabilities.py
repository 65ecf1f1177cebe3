"""Finds out the abilities of a server by one tiny call of each kind, for `antiphon doctor --model`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from antiphon.engine.models import traits_of
from antiphon.engine.reply import Reply
from antiphon.engine.server_profile import (
    PROBE_TOKENS,
    REFUSALS,
    ask,
    source_request,
)
from antiphon.engine.thinking import thinking_of
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Json, Model
from antiphon.vocabulary.values import Message, Request, StoredText

CALL_S = 30.0
ATTEMPTS = 3
_SYSTEM = StoredText('[{"type":"text","text":"Answer in as few words as you can."}]')
_CACHED_SYSTEM = StoredText(
    '[{"type":"text","text":"Answer in as few words as you can.","cache_control":{"type":"ephemeral"}}]'
)
_TOOL = StoredText(
    '[{"name":"look_up","description":"Looks a word up.","input_schema":{"type":"object",'
    '"properties":{"word":{"type":"string"}},"required":["word"]}}]'
)
_STRICT_TOOL = StoredText(
    _TOOL.text.replace(
        '"required":["word"]', '"required":["word"],"additionalProperties":false'
    ).removesuffix("}]")
    + ',"strict":true,"input_examples":[{"word":"aster"}]}]'
)


class Finding(NamedTuple):
    """The result of trying one ability.

    Attributes:
        well: The server can do it.
        found: The server's answer, in words.
        setting: The setting to change if the server lacks the ability.
        may_pass: Another attempt may have another result.
    """

    name: str
    well: bool
    found: str
    setting: str = ""
    may_pass: bool = False


class _Probe(NamedTuple):
    """One call, and the judge of its reply.

    Attributes:
        judge: Names the fault of a reply; empty if the reply is right.
        setting: The setting to change if the server lacks the ability.
    """

    name: str
    request: Request
    judge: Callable[[Reply], str]
    setting: str = ""


async def find_capabilities(
    model: Model, name: str, wait_s: float = CALL_S
) -> list[Finding]:
    """Tries all abilities that the engine may use, one call after another; stops if the server does not answer at all.

    Args:
        wait_s: Seconds for each reply.
    """
    # Plain text comes first: if even that fails, all other probes would only fail the same way.
    text = await _find(
        _Probe("Text", _request(name, "Say yes."), _text_is_missing), model, wait_s
    )
    findings = [text]
    if not text.well:
        return findings
    for ways in _probes(name):
        # The first way that works is enough; if all fail, the last failure is the finding.
        for probe in ways:
            finding = await _find(probe, model, wait_s)
            if finding.well:
                break
        findings.append(finding)
    return findings


def _probes(name: str) -> list[list[_Probe]]:
    """Lists, for each ability, the ways to ask for it; most have one."""
    simple = _request(name, "Say yes.")
    look_up = replace(
        _request(name, "Look up the word heliotrope with the tool."), tools=_TOOL
    )
    question = _message("user", {"type": "text", "text": "Look up heliotrope."})
    call = _message(
        "assistant",
        {
            "type": "tool_use",
            "id": "toolu_1",
            "name": "look_up",
            "input": {"word": "x"},
        },
    )
    result = _message(
        "user",
        {
            "type": "tool_result",
            "tool_use_id": "toolu_1",
            "content": "A purple flower.",
        },
    )
    no_more_calls = replace(
        simple,
        messages=(question, call, result),
        tools=_TOOL,
        tool_choice='{"type":"none"}',
    )
    cached = replace(simple, system=_CACHED_SYSTEM)
    # Older models want a budget for thinking, newer ones choose their own; each refuses the other's way.
    adaptive = replace(simple, extra='{"thinking":{"type":"adaptive"}}')
    budgeted = replace(
        simple, extra='{"thinking":{"type":"enabled","budget_tokens":1024}}'
    )
    between_tools = replace(simple, extra='{"thinking":{"type":"between_tools"}}')
    disabled = replace(simple, extra='{"thinking":{"type":"disabled"}}')
    effort = replace(simple, extra='{"output_config":{"effort":"low"}}')
    strict = replace(look_up, tools=_STRICT_TOOL)
    lacks = "ANTIPHON_SERVER_LACKS"
    return [
        [_Probe("Tool use", look_up, _tool_call_is_missing)],
        [
            _Probe(
                "tool_choice: none",
                no_more_calls,
                _no_tool_was_to_be_called,
                f"{lacks}=tool_choice_none",
            )
        ],
        [
            _Probe(
                "search_result blocks",
                source_request(name),
                _citation_is_missing,
                "ANTIPHON_CITATIONS=inline",
            )
        ],
        [_Probe("cache_control", cached, _anything_will_do, f"{lacks}=caching")],
        [
            _Probe("thinking (adaptive)", adaptive, _anything_will_do),
            _Probe("thinking (1024)", budgeted, _anything_will_do, f"{lacks}=thinking"),
        ],
        [
            _Probe("little thinking (between_tools)", between_tools, _anything_will_do),
            _Probe("no thinking (disabled)", disabled, _anything_will_do),
        ],
        [_Probe("effort", effort, _anything_will_do)],
        [_Probe("strict tools", strict, _tool_call_is_missing, f"{lacks}=strict")],
    ]


def _anything_will_do(_: Reply) -> str:
    return ""


def _text_is_missing(reply: Reply) -> str:
    return "" if reply.text.text else "no text"


def _tool_call_is_missing(reply: Reply) -> str:
    return "" if reply.tool_calls else "it called no tool"


def _citation_is_missing(reply: Reply) -> str:
    if not reply.citations:
        return f"it cited nothing, and said {reply.text.text[:80]!r}"
    return ""


def _no_tool_was_to_be_called(reply: Reply) -> str:
    if reply.tool_calls:
        return "it called a tool all the same"
    return "" if reply.text.text else "an empty reply"


async def _find(probe: _Probe, model: Model, wait_s: float) -> Finding:
    """Tries again if the same request may pass: a broken connection does not mean that the server lacks an ability."""
    finding = await _try(probe, model, wait_s)
    for _ in range(ATTEMPTS - 1):
        if finding.well or not finding.may_pass:
            break
        finding = await _try(probe, model, wait_s)
    return finding


async def _try(probe: _Probe, model: Model, wait_s: float) -> Finding:
    try:
        # A command runs outside of any session, so there is no session's clock.
        async with asyncio.timeout(wait_s):
            reply = await ask(model, probe.request, wait_s)
    except TimeoutError:
        # No second try: it would only take as long again.
        return Finding(
            probe.name, False, f"timeout: no complete reply within {wait_s:g} s"
        )
    except ModelError as error:
        return _failed(probe, error)
    fault = probe.judge(reply)
    if fault:
        return Finding(probe.name, False, fault, probe.setting)
    return Finding(
        probe.name,
        True,
        f"{reply.usage.all_input_tokens} tokens in, {reply.usage.output_tokens} out",
    )


def _failed(probe: _Probe, error: ModelError) -> Finding:
    found = f"{error.kind}: {error}"
    if error.kind in REFUSALS:
        return Finding(
            probe.name, False, found, probe.setting, may_pass=error.retryable
        )
    # A broken connection says nothing about the server's abilities, so it suggests no setting.
    return Finding(
        probe.name, False, f"not found out: {found}", may_pass=error.retryable
    )


def _request(name: str, words: str) -> Request:
    message = _message("user", {"type": "text", "text": words})
    return Request(
        model=name,
        max_tokens=PROBE_TOKENS,
        system=_SYSTEM,
        messages=(message,),
        extra=thinking_of(traits_of(name), final=False).json(),
    )


def _message(role: Literal["user", "assistant"], block: Json) -> Message:
    return Message(
        role=role, content=(StoredText(msgspec.json.encode(block).decode()),)
    )
