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

from antiphon.exports import exports

# Each name is imported when it is first used: this module is run before any other of the package, and importing them
# here would be a circle, and slow for whoever wants only one.
__getattr__, __dir__ = exports(__name__, __file__)
