"""The rules of budgets: what a call may take, what a round must leave for the final call, and what follows a refusal.

Pure. A decision uses what is recorded and nothing else: settings and rates of the first event, the usage of replies and
failures, and the size of briefings. So a replay comes to the same end when prices change.
"""

from __future__ import annotations

import math
from typing import TypeVar

from msgspec.structs import replace

from antiphon.coordinator.breaker import SPENT, kept_back, model_of, refuse_spending
from antiphon.coordinator.purse import Spend, measured, paid
from antiphon.coordinator.state import QueryState
from antiphon.coordinator.steps import SEARCH, Decision, answer_from_facts, open_round, own_search, then
from antiphon.vocabulary.events import (
    BreakerTripped,
    Event,
    QueryReceived,
    ReasoningCompleted,
    ReasoningFailed,
    Recorded,
)

E = TypeVar("E", bound=Event)


def first_round(state: QueryState, said: Recorded[QueryReceived]) -> Decision:
    """The first round, where it and a final call are paid for.

    Where they are not, a search of its own takes its place, and after it comes the final call, where that is paid for.
    """
    tripped = refuse_spending(state, final=state.settings.max_rounds == 0)
    if tripped is None:
        return open_round(state)
    follows = state.settings.max_rounds > 0 and refuse_spending(state, final=True) is None
    if follows and SEARCH not in state.tools:
        return then((state, (tripped,)), open_round(state, final=True))
    state = replace(state, round=1, final_follows=follows)
    return then((state, (tripped,)), own_search(state, SPENT, at=said.at))


def final_round(state: QueryState, said: Recorded[E]) -> Decision:
    """The final call; where it is not paid for, the answer from the facts."""
    tripped = refuse_spending(state, final=True)
    if tripped is None:
        return open_round(state, final=True)
    return then((state, (tripped,)), answer_from_facts(state, SPENT, seq=said.seq, at=said.at))


def too_dear(state: QueryState, said: Recorded[E], tripped: BreakerTripped) -> Decision:
    """What follows where a call that was prepared is not paid for: a smaller one, or the answer from the facts."""
    shorter = state.settings.context == "transcript" and state.briefing_tokens is None
    if not state.final or shorter:
        if state.final:
            state = replace(state, briefing_tokens=state.settings.briefing_tokens)
        return then((state, (tripped,)), final_round(state, said))
    return then((state, (tripped,)), answer_from_facts(state, SPENT, seq=said.seq, at=said.at))


def spare(state: QueryState, shown: int) -> tuple[int | None, float | None]:
    """The tokens and dollars that attempts at a call may waste before there must be no other."""
    settings, purse = state.settings, state.purse
    if not purse.is_limited:
        return None, None
    kept = Spend() if state.final else kept_back(state)
    needed = purse.call(model_of(state, final=state.final), 0, shown=shown) + kept
    tokens = None if settings.max_total_tokens is None else max(0, math.floor(purse.left.tokens - needed.tokens))
    return tokens, None if settings.max_cost_usd is None else max(0.0, purse.left.usd - needed.usd)


def pay_reply(state: QueryState, reply: ReasoningCompleted) -> QueryState:
    """The state after a reply; one that tells no usage counts as what was set aside for it."""
    model = model_of(state, final=state.final)
    purse = paid(state.purse, reply.wasted, model)
    if not (reply.usage.all_input_tokens or reply.usage.output_tokens):
        set_aside = purse.call(model, 0, shown=state.shown_tokens)
        usd = set_aside.usd if math.isfinite(set_aside.usd) else 0.0
        return replace(state, purse=replace(purse, spent=purse.spent + replace(set_aside, usd=usd)))
    return replace(state, purse=measured(paid(purse, reply.usage, model), reply.usage, state.shown_tokens))


def pay_failure(state: QueryState, failed: ReasoningFailed) -> QueryState:
    """The state after a call that failed, which may have used tokens all the same."""
    return replace(state, purse=paid(state.purse, failed.usage, model_of(state, final=state.final)))
