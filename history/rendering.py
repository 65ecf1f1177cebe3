"""What a replay shows: a difference in a sentence, a part's state field by field, the prompts of today."""

from __future__ import annotations

import msgspec

from antiphon.engine import Profile, build_request, prepare_summary
from antiphon.history.divergence import kind_of
from antiphon.vocabulary.events import Event, ReasoningRequested, SummaryRequested
from antiphon.vocabulary.values import StoredText

Call = ReasoningRequested | SummaryRequested
"""What asks for a call to a model."""


def prompts_of(asked: Call) -> list[StoredText]:
    """The system prompts that a call may have now, the usual one first: servers differ in what they can be sent."""
    if isinstance(asked, SummaryRequested):
        return [prepare_summary(asked).request.system]
    return [
        build_request(asked, StoredText("[]"), profile, inline=inline).system
        for profile in (Profile(), Profile(caching=False))
        for inline in (False, True)
    ]


def fields_of(state: msgspec.Struct) -> dict[str, object]:
    """Returns the fields of a decider's state, those of a struct inside it among them."""
    found: dict[str, object] = {}
    for name in state.__struct_fields__:
        value = getattr(state, name)
        if isinstance(value, msgspec.Struct) and type(value).__name__ == "Memory":
            found |= fields_of(value)
        else:
            found[name] = value
    return found


def in_words(event: Event | None, now: Event | None, field: str, was: object, new: object) -> str:
    if event is None:
        return f"{_name(now)} is said now, and was not when the query was recorded"
    if now is None:
        return f"{_name(event)} was recorded, and nothing is said now"
    if type(event) is not type(now):
        return f"{_name(event)} was recorded, {_name(now)} is said now"
    return f"{_name(event)}: {field} was {_short(was)} and is {_short(new)} now"


def _name(event: msgspec.Struct | None) -> str:
    return "nothing" if event is None else kind_of(event)


def _short(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 120 else text[:119] + "…"
