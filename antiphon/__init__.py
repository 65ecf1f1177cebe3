"""Answers questions over course documents; every step of a query is an event to watch, record and replay.

    from antiphon import Antiphon, Question, load_settings

    service = await Antiphon.open(load_settings())
    outcome = await service.ask(Question(query="What is a circuit breaker?"))
    print(outcome.response.answer)
    await service.close()

The names below are the public API; everything else may change. `tool` makes a tool of a typed async function, to be
named in `ANTIPHON_TOOLS`; it returns text, or a `ToolOutput` with passages that `quotable` makes. `Subscriber` adds a
component to every query, to be named in `ANTIPHON_SUBSCRIBERS` or handed to `Antiphon.open`: a `Decider` with its
`Rules`, or subscriptions made by `on`, with events of its own derived from `Event`; the service's own events are in
`events`. `Plan` and `Fault` break a query on purpose (docs/faults.md).
"""

from importlib import import_module

# Each name is imported when it is first used: this module is run before any other of the package, and importing them
# here would be a circle, and slow for whoever wants only one. Their types stand in __init__.pyi.
_HOMES = {
    "Antiphon": "antiphon.service:Antiphon",
    "BadInputError": "antiphon.vocabulary.errors:BadInputError",
    "BusyError": "antiphon.vocabulary.errors:BusyError",
    "Decider": "antiphon.vocabulary.deciding:Decider",
    "Event": "antiphon.vocabulary.events:Event",
    "Fault": "antiphon.faults:Fault",
    "NotFoundError": "antiphon.vocabulary.errors:NotFoundError",
    "Outcome": "antiphon.service:Outcome",
    "Plan": "antiphon.faults:Plan",
    "Question": "antiphon.service:Question",
    "Recorded": "antiphon.vocabulary.events:Recorded",
    "Rules": "antiphon.vocabulary.deciding:Rules",
    "ServiceError": "antiphon.vocabulary.errors:ServiceError",
    "Settings": "antiphon.service:Settings",
    "Subscriber": "antiphon.vocabulary.subscribers:Subscriber",
    "Subscription": "antiphon.vocabulary.ports:Subscription",
    "Surroundings": "antiphon.vocabulary.subscribers:Surroundings",
    "Tool": "antiphon.dispatcher:Tool",
    "ToolOutput": "antiphon.vocabulary.ports:ToolOutput",
    "events": "antiphon.vocabulary.events",
    "load_settings": "antiphon.service:load_settings",
    "on": "antiphon.vocabulary.ports:on",
    "quotable": "antiphon.dispatcher:quotable",
    "tool": "antiphon.dispatcher:tool_from_function",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> object:
    """Imports a public name when it is first used (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module_name, _, attribute = home.partition(":")
    module = import_module(module_name)
    value: object = getattr(module, attribute) if attribute else module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
