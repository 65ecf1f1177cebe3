"""What the models of a query cost, as its first event tells it, and whether a budget in dollars can be kept at all."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from antiphon.composition.wiring import Resources
from antiphon.engine import fixed_size
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import QueryReceived, Reasoner
from antiphon.vocabulary.ports import Model
from antiphon.vocabulary.values import QuerySettings, Rate

BYTES_A_TOKEN = 4


def told_of_prices(first: QueryReceived, parts: Resources) -> QueryReceived:
    """The question with what its calls can cost, which its coordinator decides by.

    Raises:
        BadInputError: It has a budget in dollars, and the price of a model that it may ask is not known.
    """
    rates = rates_of(first.settings, parts)
    unpriced = without_price(first.settings, rates)
    if unpriced:
        raise BadInputError(cannot_keep(unpriced))
    fixed = fixed_size(first.settings.max_rounds, parts.tool_definitions) // BYTES_A_TOKEN
    return replace(first, rates=rates, fixed_tokens=fixed)


def rates_of(settings: QuerySettings, parts: Resources) -> tuple[Rate, ...]:
    """The rates of the models that a query may ask, as far as they are known."""
    asked = dict.fromkeys(_models(settings))
    named = {model: _label(parts.models, "primary") or model for model in asked}
    if settings.compression == "model":
        named.setdefault(settings.compression_model, _label(parts.models, "primary") or settings.compression_model)
    named["fallback"] = _label(parts.models, "fallback") or settings.model
    found = (parts.rate_of(name, called) for called, name in named.items())
    return tuple(rate for rate in found if rate is not None)


def without_price(settings: QuerySettings, rates: tuple[Rate, ...]) -> str | None:
    """The model for which a budget in dollars cannot be kept, because its price is not known; None where it can."""
    if settings.max_cost_usd is None:
        return None
    known = {rate.model for rate in rates}
    return next((model for model in (*_models(settings), "fallback") if model not in known), None)


def cannot_keep(model: str) -> str:
    """Why a budget in dollars is refused, and what to do."""
    return (
        f"A limit of cost cannot be kept: what the model {model!r} costs is not known. "
        "Limit its tokens instead (`max_total_tokens`), or add its price to engine/prices.py."
    )


def _models(settings: QuerySettings) -> tuple[str, ...]:
    return tuple(model for model in (settings.model, settings.final_model, settings.other_model) if model)


def _label(models: Mapping[Reasoner, Model], reasoner: Reasoner) -> str | None:
    return models[reasoner].name
