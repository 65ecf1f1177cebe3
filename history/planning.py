"""Plans a fork before it begins: its live parts and their possible cost."""

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
    """The plan of a fork.

    Attributes:
        shared: The last event that it shares with its parent.
        models: The models that it calls; empty if it calls none.
        calls: Most calls to them, each of which may be retried.
        tools: The tools that it may run; empty if it runs none.
        effects: The tools among them that change something outside.
        recorded_usage: The usage of the same part of the query when it was recorded, the best available estimate.
        may_cost: True if it calls a model that is not known to be free.
        sentence: The whole plan in words.
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
        events: The parent's trace.
        settings: The fork's settings.
    """
    models: tuple[str, ...] = ()
    calls = 0
    tools: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    if mode != "recorded":
        models = _models(resources, settings)
        # One call per round of tools and the final one, less those in the shared part.
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
    """Returns True if all of the models are known to be free."""
    for model in models:
        rate = resources.model_table.rate(model)
        if rate is None or rate.input or rate.output:
            return False
    return True


def _calls_of(events: Trace) -> int:
    """Counts the reasoning calls that have ended."""
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
