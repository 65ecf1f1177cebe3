"""The limits of a provider: the rate of its calls and its circuit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from antiphon import engine
from antiphon.composition.settings import Settings
from antiphon.coordinator import ProviderCircuit
from antiphon.vocabulary.pacing import CallBudget, Pace
from antiphon.vocabulary.ports import Clock, Model, at_once


@dataclass(frozen=True)
class Limits:
    """The limits that a process keeps to.

    Attributes:
        close: Closes the connection over which processes share them, if there is one.
    """

    circuit: ProviderCircuit
    budget: CallBudget | None
    clock: Clock
    close: Callable[[], Awaitable[None]] = at_once

    def limited(self, model: Model) -> Model:
        """Returns the model, with its calls no faster than the settings allow."""
        if self.budget is None:
            return model
        return engine.LimitedModel(model, self.budget, self.clock)


LimitsOf = Callable[[Settings, Clock, float], Limits]
"""Returns the limits that the settings name; the last argument is the deadline of a query, in seconds."""


def limits_of(settings: Settings, clock: Clock, deadline_s: float) -> Limits:
    """Returns the limits of this process alone."""
    return Limits(
        ProviderCircuit(deadline_s=deadline_s), own_budget(settings, clock), clock
    )


def own_budget(settings: Settings, clock: Clock) -> CallBudget | None:
    """Returns the call budget of this process alone; None: there is no limit."""
    pace = Pace(requests=settings.model_rpm, tokens=settings.model_tpm)
    if not pace.is_limited:
        return None
    return engine.LocalCallBudget(pace, clock)
