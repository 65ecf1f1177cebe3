"""What becomes of tool calls that were started early: which of them a complete reply asked for; pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from antiphon.coordinator.breaker import call_key
from antiphon.coordinator.state import QueryState
from antiphon.coordinator.steps import Decision
from antiphon.vocabulary.events import CallsAbandoned
from antiphon.vocabulary.values import ToolCall

_NOT_ASKED_AGAIN = "the attempt that asked for it failed, and the reply that followed did not ask for it"


def matched(started: Sequence[ToolCall], wanted: Sequence[ToolCall]) -> dict[str, str]:
    """For each wanted call that is under way, the id that it was started by.

    A call may have been started by an attempt that failed. Its ids then differ, its name and arguments do not.
    """
    ids = {call.id for call in started}
    found = {call.id: call.id for call in wanted if call.id in ids}
    left = [call for call in started if call.id not in found]
    for call in wanted:
        if call.id in found:
            continue
        same = next((each for each in left if call_key(each) == call_key(call)), None)
        if same is not None:
            left.remove(same)
            found[call.id] = same.id
    return found


def abandon_others(state: QueryState, wanted: frozenset[str]) -> Decision:
    """Gives up the started calls that are not wanted; they may be asked for again."""
    others = [call for call in state.round_calls if call.id not in wanted]
    if not others:
        return state, ()
    kept = tuple(call for call in state.round_calls if call.id in wanted)
    asked = state.asked - {call_key(call) for call in others}
    given_up = CallsAbandoned(call_ids=tuple(call.id for call in others), why=_NOT_ASKED_AGAIN)
    return replace(state, round_calls=kept, asked=asked), (given_up,)
