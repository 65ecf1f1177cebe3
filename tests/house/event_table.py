"""Writes the table of events in docs/events.md from what each event declares: `python -m tests.house.event_table`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from antiphon.composition import who_hears
from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.events import Event

PAGE = Path(__file__).parents[2] / "docs" / "events.md"

HEAD = """# The events

Every step of a query is one of these events, listed in the order in which a query meets them. `python -m
tests.house.event_table` writes the table from vocabulary/events.py and from the wiring; `make test` fails if it is out
of date. A subscriber may add events of its own.

| event | emitted by | about | requests | settles | heard by | what it says |
|---|---|---|---|---|---|---|
"""


def page() -> str:
    """Returns the whole page."""
    return HEAD + "".join(row_of(kind) for kind in BUILT_IN.events)


def row_of(kind: type[Event]) -> str:
    """Returns the table's row of one event."""
    requests = _listed(kind.kind_name() for kind in BUILT_IN.outcomes.get(kind, ()))
    settles = _listed(settled.request.kind_name() for settled in kind.settles)
    hearers = dict.fromkeys(
        name.partition(".")[0] for heard, name in who_hears() if heard is kind
    )
    says = (kind.__doc__ or "").splitlines()[0]
    cells = [
        f"`{kind.kind_name()}`",
        ", ".join(kind.emitted_by),
        kind.about.kind.replace("_", " "),
        requests,
        settles,
        ", ".join(hearers) or "nobody: it is for the trace and its followers",
        says,
    ]
    return "| " + " | ".join(cells) + " |\n"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    PAGE.write_text(page())
