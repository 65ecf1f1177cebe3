"""Says before a fork begins what of it will be live, and what that may cost."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.composition import Resources
from antiphon.history.forking import Mode
from antiphon.vocabulary.events import (
    Event,
    QueryReceived,
    ReasoningCompleted,
    ReasoningFailed,
    Recorded,
    SummaryCompleted,
)
from antiphon.vocabulary.values import QuerySettings, Usage, Value

Trace = Sequence[Recorded[Event]]


class ForkPlan(Value, frozen=True, kw_only=True):
    """What a fork would do.

    Attributes:
        shared: Its last event that is its parent's too.
        models: Who is asked; empty if no model is.
        calls: Calls to them at most, each of which may be retried.
        tools: The tools that may be run; empty if none is.
        effects: Those of them that change something outside.
        recorded_usage: What the same part of the query used when it was recorded: the best guess there is.
        may_cost: It calls a model that is not known to be free.
        sentence: All of it in words.
    """

    parent: str
    shared: int
    mode: Mode
    models: tuple[str, ...]
    calls: int
    tools: tuple[str, ...]
    effects: tuple[str, ...]
    recorded_usage: Usage
    may_cost: bool
    sentence: str


def plan_of(
    resources: Resources,
    events: Trace,
    settings: QuerySettings,
    shared: int,
    mode: Mode,
) -> ForkPlan:
    """Returns the plan of a fork.

    Args:
        events: The trace that it is a fork of.
        settings: Those of the fork.
    """
    models: tuple[str, ...] = ()
    calls = 0
    tools: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    if mode != "recorded":
        models = _models(resources, settings)
        calls = max(0, settings.max_rounds + 1 - _calls_of(events[:shared]))
        tools = resources.tools.names
    if mode == "live":
        effects = tuple([t.name for t in resources.tools.tools if t.has_effects])
    usage = _usage(events[shared:])
    return ForkPlan(
        parent=events[0].query_id,
        shared=shared,
        mode=mode,
        models=models,
        calls=calls,
        tools=tools,
        effects=effects,
        recorded_usage=usage,
        may_cost=bool(models) and not _is_free(resources, models),
        sentence=_sentence(mode, models, calls, effects, usage),
    )


def settings_in(events: Trace) -> QuerySettings:
    """Returns the settings of a query."""
    first = events[0].event
    if isinstance(first, QueryReceived):
        return first.settings
    return QuerySettings()


def _sentence(
    mode: Mode,
    models: Sequence[str],
    calls: int,
    effects: Sequence[str],
    usage: Usage,
) -> str:
    if mode == "recorded":
        return (
            "Nothing is live: every call is answered as it was recorded, and costs nothing; "
            "if nothing was recorded the fork stops and says so."
        )
    spent = usage.cost_usd
    cost = "at a cost that is not known" if spent is None else f"for ${spent:.4f}"
    many = f"{calls} calls and their retries"
    attempts = "1 call and its retries" if calls == 1 else many
    words = (
        f"Live: {', '.join(models)}, at most {attempts} (when it was recorded this part took "
        f"{usage.all_input_tokens:,} tokens in and {usage.output_tokens:,} out, {cost})."
    )
    if mode == "remodel":
        return (
            f"{words} Tools are answered as recorded; a call that was not recorded is run, "
            "but of no tool that changes something."
        )
    words += " Tools are run."
    if effects:
        words += f" These change something outside: {', '.join(effects)}."
    return words


def _models(resources: Resources, settings: QuerySettings) -> tuple[str, ...]:
    primary = resources.models["primary"].name
    if primary is not None:
        return (primary,)
    wanted = (settings.model, settings.final_model, settings.other_model)
    return tuple(dict.fromkeys([name for name in wanted if name]))


def _is_free(resources: Resources, models: Sequence[str]) -> bool:
    """Returns True if each of the models is known to cost nothing."""
    for model in models:
        rate = resources.model_table.rate(model)
        if rate is None or rate.input or rate.output:
            return False
    return True


def _calls_of(events: Trace) -> int:
    """Counts the reasoning calls that are over."""
    calls = 0
    for recorded in events:
        if isinstance(recorded.event, ReasoningCompleted | ReasoningFailed):
            calls += 1
    return calls


def _usage(events: Trace) -> Usage:
    usage = Usage(cost_usd=0.0)
    for recorded in events:
        if isinstance(recorded.event, ReasoningCompleted | SummaryCompleted):
            usage += recorded.event.usage
    return usage
