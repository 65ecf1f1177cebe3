"""Answers questions over course documents; every step of a query is an event that you can watch, record and replay.

    from antiphon import Antiphon

    async with Antiphon.open() as service:
        answer = await service.ask("What is a circuit breaker?")
        print(answer.text)

The exported names are the public API; everything else may change.

- `Antiphon.open` opens the service with the `Settings` that it is given, or those of the environment and `.env`
  (`load_settings`). `ask` takes a text, or a `Question` with what its caller chooses, and returns an `Answer`: text,
  citations, sources, confidence, doubts, usage and trace id. The function `ask` does the same in a program without
  async.
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
