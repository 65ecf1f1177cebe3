"""Describes the service to programs: its events with the handlers that hear them, and the settings of a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from antiphon.composition import Settings, catalog_of, who_hears
from antiphon.engine import ModelTable, Price, read_prices
from antiphon.service.network_forks import DOWNWARDS, FREE, MODELS, models_of
from antiphon.vocabulary.settings import DECLARED, QuerySettings
from antiphon.vocabulary.subscribers import Subscriber
from antiphon.vocabulary.values import Value

ForkLimit = Literal["lower", "any", "model", "none"]


class EventKind(Value, frozen=True, kw_only=True):
    """One kind of event.

    Attributes:
        emitted_by: The parts of the service that emit it, the usual one first.
        heard_by: The handlers that hear it, as `Class.on_event`; empty for an event that only informs the reader of a
            trace.
        says: Its meaning, in a sentence.
    """

    kind: str
    emitted_by: tuple[str, ...]
    heard_by: tuple[str, ...]
    says: str


class QuerySetting(Value, frozen=True, kw_only=True):
    """One setting of a query.

    Attributes:
        value: The service's own.
        choices: The few texts that it may be; empty for a number or any text.
        fork: How a fork over the network may change it: `lower` than the service's own, to `any` value, to a `model`
            that the service asks itself, or not at all.
    """

    name: str
    value: str | float | bool | None
    meaning: str
    choices: tuple[str, ...]
    fork: ForkLimit


def event_kinds(subscribers: Sequence[Subscriber]) -> tuple[EventKind, ...]:
    """Returns every kind of event, in the order in which a query meets them."""
    heard_by: dict[str, list[str]] = {}
    for kind, handler in who_hears(subscribers):
        heard_by.setdefault(kind.kind_name(), []).append(handler)
    kinds: list[EventKind] = []
    for event in catalog_of(subscribers).events:
        name = event.kind_name()
        says, *_ = (event.__doc__ or "").splitlines() or [""]
        kinds.append(
            EventKind(
                kind=name,
                emitted_by=event.emitted_by,
                heard_by=tuple(heard_by.get(name, ())),
                says=says,
            )
        )
    return tuple(kinds)


def query_settings(own: QuerySettings) -> tuple[QuerySetting, ...]:
    """Returns every setting of a query, with the service's own value."""
    found: list[QuerySetting] = []
    for name, declared in DECLARED.items():
        choices = tuple(sorted(models_of(own))) if name in MODELS else declared.choices
        found.append(
            QuerySetting(
                name=name,
                value=getattr(own, name),
                meaning=declared.sentence,
                choices=choices,
                fork=_limit_of(name),
            )
        )
    return tuple(found)


def prices_of(settings: Settings) -> Mapping[str, Price | None]:
    """Returns the price of each model that the settings name; None if it is not known."""
    named = [settings.model, settings.final_model, settings.other_model]
    if settings.compression == "model":
        named.append(settings.summarising_model)
    table = ModelTable(read_prices(settings.prices))
    return {model: table.price(model) for model in named if model}


def _limit_of(name: str) -> ForkLimit:
    if name in DOWNWARDS:
        return "lower"
    if name in FREE:
        return "any"
    if name in MODELS:
        return "model"
    return "none"
