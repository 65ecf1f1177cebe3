"""Scenarios: queries before a plan breaks them; together they traverse all points.

The matrix finds out by itself which scenarios traverse a point in a part of the query, and uses the first of them. It
reports a point that none reaches as a failure of the harness.
"""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.faults.plan import Fault, Kind
from antiphon.vocabulary.values import QuerySettings, Value


class Scenario(Value, frozen=True, kw_only=True):
    """One possible course of a query.

    Attributes:
        what: A description for people.
        faults: The faults that belong to the scenario.
        settings: The caller's settings.
        greedy: The model calls tools even if the request forbids it.
        dear: The model reports the maximum length for each reply.
        leaves: The caller leaves in the first round.
        goes_on: It continues a conversation.
        provider_open: The provider's circuit is open when it begins.
        resumed_after: The kind of event after which its process died and it was resumed; empty: it did not die.
    """

    what: str
    faults: tuple[Fault, ...] = ()
    settings: QuerySettings = QuerySettings()
    greedy: bool = False
    dear: bool = False
    leaves: bool = False
    provider_open: bool = False
    goes_on: bool = False
    resumed_after: str = ""


def _always(point: str, kind: Kind) -> Fault:
    # `times=0` means all traversals of the point.
    return Fault(point=point, kind=kind, times=0)


# A briefing so small leaves out enough to make a summary worth its call.
_SUMS_UP = QuerySettings(
    compression="model", briefing_tokens=600, max_total_tokens=20_000, max_cost_usd=0.1
)

# The order matters: a point is tried in the first scenario that traverses it.
SCENARIOS: dict[str, Scenario] = {
    "plain": Scenario(
        what="two rounds of tools, then the answer, within a budget that pays for more",
        settings=QuerySettings(max_total_tokens=20_000, max_cost_usd=0.1),
    ),
    "waits": Scenario(
        what="tools start when the reply is complete",
        settings=QuerySettings(early_dispatch=False),
    ),
    "tight": Scenario(
        what="not everything fits into a briefing",
        settings=QuerySettings(briefing_tokens=220),
    ),
    "index_away": Scenario(
        what="the vector index fails", faults=(_always("library.search", "raise"),)
    ),
    "library_away": Scenario(
        what="no tool works", faults=(_always("library.*", "raise"),)
    ),
    "tool_hangs": Scenario(
        what="a tool takes for ever",
        faults=(Fault(point="tool.search_course_content", kind="hang"),),
    ),
    "tool_is_stubborn": Scenario(
        what="a tool will not be stopped in time, and comes back when the next round has begun",
        # The second fault keeps the next round open until the tool returns.
        faults=(
            Fault(point="tool.search_course_content", kind="late"),
            Fault(point="model.request", kind="hang", when="round_2", for_s=5.0),
        ),
    ),
    "model_once_away": Scenario(
        what="the model is overloaded once",
        faults=(Fault(point="model.request", kind="overload"),),
    ),
    "other_model": Scenario(
        what="the model fails, and another one is configured",
        faults=(Fault(point="model.request", kind="malformed"),),
        settings=QuerySettings(other_model="another"),
    ),
    "model_away": Scenario(
        what="the model cannot be reached", faults=(_always("model.request", "drop"),)
    ),
    "no_model": Scenario(
        what="no model answers",
        faults=(_always("model.request", "drop"), _always("fallback.request", "drop")),
    ),
    "nothing_works": Scenario(
        what="no model and no tool answers",
        faults=(
            _always("model.request", "drop"),
            _always("fallback.request", "drop"),
            _always("library.*", "raise"),
        ),
    ),
    "model_silent": Scenario(
        what="the model takes for ever", faults=(_always("model.request", "hang"),)
    ),
    "model_silent_last": Scenario(
        what="the model takes for ever with its answer",
        faults=(Fault(point="model.request", kind="hang", when="final", times=0),),
    ),
    "all_silent": Scenario(
        what="both reasoners take for ever",
        faults=(
            _always("model.request", "hang"),
            _always("fallback.request", "hang"),
        ),
    ),
    "silent_without_rounds": Scenario(
        what="the model takes for ever, and may call no tool",
        faults=(_always("model.request", "hang"),),
        settings=QuerySettings(max_rounds=0),
    ),
    "silent_and_hurried": Scenario(
        what="the model takes for ever, and the caller waits ten seconds",
        faults=(_always("model.request", "hang"),),
        settings=QuerySettings(deadline_s=10.0),
    ),
    "away_without_rounds": Scenario(
        what="the provider failed before, and no tool may be called",
        settings=QuerySettings(max_rounds=0),
        provider_open=True,
    ),
    "greedy": Scenario(
        what="the model asks for more rounds than it may have", greedy=True
    ),
    "tokens_run_out": Scenario(
        what="the budget of tokens pays for one round and the final call",
        settings=QuerySettings(max_total_tokens=14_000, briefing_tokens=600),
        dear=True,
    ),
    "money_runs_out": Scenario(
        what="the budget in dollars pays for the final call only",
        settings=QuerySettings(max_cost_usd=0.07),
        dear=True,
    ),
    "nothing_to_spend": Scenario(
        what="no call is paid for", settings=QuerySettings(max_total_tokens=1_000)
    ),
    "too_long": Scenario(
        what="a request is refused as too long",
        faults=(Fault(point="model.request", kind="oversized", when="round_2"),),
    ),
    "round_two_fails": Scenario(
        what="no model answers in the second round",
        faults=(
            Fault(point="model.request", kind="drop", when="round_2", times=0),
            Fault(point="fallback.request", kind="drop", when="round_2", times=0),
        ),
    ),
    "stops": Scenario(
        what="the query ends at the first failed tool",
        faults=(_always("library.*", "raise"),),
        settings=QuerySettings(on_tool_failure="stop"),
    ),
    "part_fails": Scenario(
        what="a component has a bug",
        faults=(
            Fault(point="deliver.tool_succeeded.ContextSynthesizer", kind="raise"),
        ),
    ),
    "stalls": Scenario(
        what="an event is lost",
        faults=(Fault(point="publish.context_synthesized", kind="drop"),),
    ),
    "store_refuses": Scenario(
        what="the trace cannot be written for a while",
        faults=(Fault(point="store.append", kind="locked"),),
    ),
    "breaks_off": Scenario(
        what="each reply breaks off before its end",
        faults=(_always("model.stream.before_end", "truncate"),),
    ),
    "goes_on": Scenario(what="the question goes on with a conversation", goes_on=True),
    "caller_leaves": Scenario(what="the caller goes away", leaves=True),
    "circuit_open": Scenario(what="the provider failed before", provider_open=True),
    "resumed": Scenario(
        what="the process died in the first round", resumed_after="tool_requested"
    ),
    "sums_up": Scenario(
        what="a model sums up what the final briefing leaves out", settings=_SUMS_UP
    ),
    "sums_up_early": Scenario(
        what="a model sums up before the last round of tools",
        settings=replace(_SUMS_UP, max_rounds=3),
        greedy=True,
    ),
    "sums_up_never": Scenario(
        what="there is no time for a model to sum up",
        settings=replace(_SUMS_UP, deadline_s=3.0),
    ),
    "sums_up_too_dearly": Scenario(
        what="the budget pays for one summary of two",
        settings=replace(_SUMS_UP, max_rounds=3, max_total_tokens=15_000),
        greedy=True,
    ),
    "cannot_sum_up": Scenario(
        what="the model that is to sum up cannot be reached",
        settings=_SUMS_UP,
        faults=(_always("summary.request", "drop"),),
    ),
}
