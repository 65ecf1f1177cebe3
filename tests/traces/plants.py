"""Changes of the program that tests plant one at a time, to check that a replay of older traces finds each.

Those of deciding components change the events that rules emit; those of acting components change what they make of
recorded events.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from antiphon.assembler import assembler as assembling
from antiphon.composition import Outcome
from antiphon.coordinator import deadline
from antiphon.dispatcher import dispatcher as dispatching
from antiphon.engine import inline, preparing, request
from antiphon.engine.legality import RULES
from antiphon.engine.thinking import Thinking
from antiphon.history import verifying
from antiphon.synthesizer import synthesizer as synthesizing
from antiphon.vocabulary.events import ToolsSettled
from antiphon.vocabulary.values import Message, Request, StoredText

Patch = pytest.MonkeyPatch
Plant = Callable[[Patch], None]


def wrap(patch: Patch, owner: Any, name: str, change: Callable[[Any], Any]) -> None:
    """Patches a function to change its result."""
    original = getattr(owner, name)
    patch.setattr(
        owner, name, lambda *given, **named: change(original(*given, **named))
    )


# --- what the rules decide


def the_answer_is_in_capitals(patch: Patch) -> None:
    wrap(
        patch,
        assembling,
        "_draft",
        lambda draft: replace(draft, text=draft.text.upper()),
    )


def an_answer_has_no_doubts(patch: Patch) -> None:
    wrap(patch, assembling, "doubts_of", lambda _: ())


def a_call_has_half_its_time(patch: Patch) -> None:
    wrap(patch, deadline, "call_timeout_s", lambda seconds: seconds / 2)


def a_briefing_loses_its_first_block(patch: Patch) -> None:
    def shorter(briefing: Any) -> Any:
        if not hasattr(briefing, "messages"):
            return briefing
        first = briefing.messages[0]
        first = replace(first, content=first.content[1:])
        return replace(briefing, messages=(first, *briefing.messages[1:]))

    wrap(patch, synthesizing, "brief", shorter)


# --- what the engine makes of a request


def _with_request(patch: Patch, change: Callable[[Request], Request]) -> None:
    wrap(patch, preparing, "build_request", change)


def a_request_lacks_the_question(patch: Patch) -> None:
    def without(request: Request) -> Request:
        messages = []
        for message in request.messages:
            left = [
                block for block in message.content if "<question>" not in block.text
            ]
            messages.append(replace(message, content=tuple(left)))
        return replace(request, messages=tuple(messages))

    _with_request(patch, without)


def a_request_lacks_the_tools(patch: Patch) -> None:
    _with_request(patch, lambda request: replace(request, tools=None))


def a_tool_parameter_is_renamed_in_requests(patch: Patch) -> None:
    def renamed(request: Request) -> Request:
        if request.tools is None:
            return request
        tools = request.tools.text.replace('"text":', '"words":')
        return replace(request, tools=StoredText(tools))

    _with_request(patch, renamed)


def the_final_call_offers_tools(patch: Patch) -> None:
    build = request.build_request

    def offering(asked: Any, tools: StoredText, *rest: Any, **named: Any) -> Request:
        built: Request = build(asked, tools, *rest, **named)
        return replace(built, tools=tools)

    patch.setattr(preparing, "build_request", offering)


def a_request_may_bring_one_token_more(patch: Patch) -> None:
    _with_request(
        patch, lambda request: replace(request, max_tokens=request.max_tokens + 1)
    )


def thinking_is_forgotten(patch: Patch) -> None:
    patch.setattr(request, "thinking_of", lambda *_, **__: Thinking())


def tools_may_be_chosen_in_the_final_call(patch: Patch) -> None:
    patch.setattr(request, "_NO_TOOLS", '{"type":"auto"}')


def sources_are_numbered_from_nought(patch: Patch) -> None:
    number = inline.numbered

    def from_nought(messages: tuple[Message, ...]) -> Any:
        numbered, sources = number(messages)
        changed = []
        for message in numbered:
            content = [
                StoredText(block.text.replace("[1", "[0")) for block in message.content
            ]
            changed.append(replace(message, content=tuple(content)))
        return tuple(changed), sources

    patch.setattr(preparing, "numbered", from_nought)


def thinking_budgets_are_not_fitted(patch: Patch) -> None:
    patch.delitem(RULES, "thinking_budget_fits")


def a_token_is_four_characters_to_the_cache(patch: Patch) -> None:
    patch.setattr(preparing, "CHARS_PER_TOKEN", 4)


def a_summary_is_asked_for_without_its_material(patch: Patch) -> None:
    prepare = preparing.prepare_summary

    def without(asked: Any) -> Any:
        return prepare(replace(asked, messages=asked.messages[:0]))

    patch.setattr("antiphon.history.requests.prepare_summary", without)


# --- what the dispatcher makes of outcomes


def failed_calls_count_as_successes(patch: Patch) -> None:
    def all_succeeded(settled: ToolsSettled) -> ToolsSettled:
        return replace(settled, succeeded=settled.succeeded + settled.failed, failed=())

    wrap(patch, dispatching, "_settled", all_succeeded)


def a_round_is_never_settled(patch: Patch) -> None:
    patch.setattr(dispatching, "_settle", lambda state: (state, ()))


# --- what the timer and the caller make of the query


def alarms_come_at_half_time(patch: Patch) -> None:
    def halved(alarms: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(replace(alarm, after_s=alarm.after_s / 2) for alarm in alarms)

    wrap(patch, verifying, "alarms", halved)


def alarms_say_that_more_is_left(patch: Patch) -> None:
    def more(alarms: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(replace(alarm, left_s=99.0) for alarm in alarms)

    wrap(patch, verifying, "alarms", more)


def the_caller_gets_no_answer(patch: Patch) -> None:
    def empty(outcome: Outcome) -> Outcome:
        return replace(outcome, response=replace(outcome.response, answer=""))

    wrap(patch, verifying, "outcome_of", empty)


def the_caller_is_told_that_it_failed(patch: Patch) -> None:
    def failed(outcome: Outcome) -> Outcome:
        return replace(outcome, status="failed")

    wrap(patch, verifying, "outcome_of", failed)


DECIDING: tuple[Plant, ...] = (
    the_answer_is_in_capitals,
    an_answer_has_no_doubts,
    a_call_has_half_its_time,
    a_briefing_loses_its_first_block,
)
ACTING: tuple[Plant, ...] = (
    a_request_lacks_the_question,
    a_request_lacks_the_tools,
    a_tool_parameter_is_renamed_in_requests,
    the_final_call_offers_tools,
    a_request_may_bring_one_token_more,
    thinking_is_forgotten,
    tools_may_be_chosen_in_the_final_call,
    sources_are_numbered_from_nought,
    thinking_budgets_are_not_fitted,
    a_token_is_four_characters_to_the_cache,
    a_summary_is_asked_for_without_its_material,
    failed_calls_count_as_successes,
    a_round_is_never_settled,
    alarms_come_at_half_time,
    alarms_say_that_more_is_left,
    the_caller_gets_no_answer,
    the_caller_is_told_that_it_failed,
)
