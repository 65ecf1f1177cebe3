"""A tool as the dispatcher knows it: what the model is told of it, how it is run, what stands in for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from antiphon.dispatcher.parameters import Parameters
from antiphon.vocabulary.ports import Json

Adapt = Callable[[str, Json], Json]
"""Given a substitute's name and the failed call's arguments: the arguments for the substitute."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One tool; `tool_from_function` makes it from a plain function.

    Attributes:
        description: What the model reads in order to choose it.
        run: Called with the checked arguments by name; what it may return is in output.py.
        timeout_s: Most seconds that one call may take; None: what the query's settings say.
        retry_safe: QueryHandle it a second time does no harm, so it is tried once more when it raises.
        substitutes: Names of the tools that stand in for it, first choice first.
        has_effects: It changes something outside: when a query is resumed it is run again only with a key.
        key_parameter: The parameter of `run` that is handed the call's idempotency key, of which the model is not told:
            the same key is the same call, made again. None: it takes none.
        adapt: Makes arguments for a substitute; None: those that the substitute knows by name are kept.
        offered: Whether the model is told of it; one that is not only stands in for others.
    """

    name: str
    description: str
    parameters: Parameters
    run: Callable[..., Awaitable[object]]
    timeout_s: float | None = None
    retry_safe: bool = False
    substitutes: tuple[str, ...] = ()
    has_effects: bool = False
    key_parameter: str | None = None
    adapt: Adapt | None = None
    offered: bool = True

    @property
    def schema(self) -> Json:
        """The JSON schema of its arguments."""
        return self.parameters.schema

    @property
    def origin(self) -> str:
        """Where its function stands, for messages to its author."""
        return origin(self.run)


def origin(function: Callable[..., object]) -> str:
    """`module.name` of a function, or what it prints as where it has no name."""
    name = getattr(function, "__qualname__", None)
    return f"{function.__module__}.{name}" if name else repr(function)
