"""Answers questions over course documents; every step of a query is an event that you can watch, record and replay.

    from antiphon import Antiphon, Question, load_settings

    service = await Antiphon.open(load_settings())
    outcome = await service.ask(Question(query="What is a circuit breaker?"))
    print(outcome.response.answer)
    await service.close()

The exported names are the public API; everything else may change.

- `tool` turns a typed function, async or not, into a tool; name it in `ANTIPHON_TOOLS`. The function returns text, or a
  `ToolOutput` with passages that `quotable` makes.
- `Subscriber` adds a component to every query; name it in `ANTIPHON_SUBSCRIBERS`, or pass it to `Antiphon.open`. It is
  a `Decider` with its `Rules`, or subscriptions made by `on`. Its own events derive from `Event`; the service's events
  are in `events`.
- `Outside` performs what a query requests: models, tools, time. Pass what builds another one to `Antiphon.open`; it is
  handed the service's `Resources` and the query's `Ports` (docs/outside.md).
- `Plan` and `Fault` inject faults into a query (docs/faults.md).
"""

from antiphon.exports import exports

# Each name is imported when it is first used: this module is run before any other of the package, and importing them
# here would be a circle, and slow for whoever wants only one.
__getattr__, __dir__ = exports(__name__, __file__)
