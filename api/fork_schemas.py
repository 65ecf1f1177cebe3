"""Bodies about forks: the changes that they make, and their outcome."""

from __future__ import annotations

from itertools import chain
from typing import Annotated, Literal

import msgspec
from pydantic import ConfigDict, Discriminator, Field, JsonValue, Tag

from antiphon.api.query_schemas import QueryAnswer
from antiphon.api.schemas import MOST_SEQ, RequestBody, Schema, Text, WholeNumber
from antiphon.service import MOST_CHANGES, MOST_VALUE_CHARS, Change, Mode
from antiphon.vocabulary.errors import BadInputError

MOST_DEPTH = 32
"""Levels of a value: a message with blocks that hold citations has five."""


class ChangeRequest(RequestBody):
    """One thing that a fork changes."""

    kind: Literal["set", "setting", "reply", "tool", "drop", "show"] = Field(
        description="`set` a field of the event, a `setting` of the query, the `reply` of a reasoning call, the result "
        "of a `tool`, `drop` a passage from all results, or `show` sentences of a fact that the briefing `at` "
        "left out (`value`: their numbers from 0)."
    )
    name: Annotated[Text, Field(max_length=1_000)] = Field(
        "",
        description="The field, the setting, the tool call's id (or the number of one of its events) or the "
        "passage's (or a fact's); empty for a reply.",
    )
    value: JsonValue = Field(
        "",
        description="The new value; a reply or result may be plain text. "
        f"At most {MOST_VALUE_CHARS:,} characters, {MOST_DEPTH} deep.",
        examples=[1],
    )

    def change(self) -> Change:
        """Returns the change in the service's own form.

        Raises:
            BadInputError: No trace can hold the value.
        """
        _check_sound(self.value)
        given = self.value
        value = given if isinstance(given, str) else msgspec.json.encode(given).decode()
        return Change(kind=self.kind, name=self.name, value=value)


def _check_sound(value: JsonValue) -> None:
    """Refuses deeply nested values, numbers that no store can hold, and half surrogate pairs.

    Raises:
        BadInputError: The value is or holds one of these.
    """
    # Without recursion, which a hostile, deeply nested value would exhaust.
    level: list[JsonValue] = [value]
    for _ in range(MOST_DEPTH):
        level = list(chain.from_iterable(map(_parts, level)))
        if not level:
            return
    raise BadInputError(
        f"`value` is nested more than {MOST_DEPTH} deep: nothing here needs that."
    )


def _parts(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    if isinstance(value, list):
        return value
    if isinstance(value, int) and abs(value) > MOST_SEQ:
        raise BadInputError("`value` holds a number of more than 15 digits.")
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise BadInputError(
                "`value` holds half of a surrogate pair, which is no character: send valid Unicode."
            ) from error
    return []


def _form(change: object) -> str:
    """Distinguishes one change from several, so that an error is about the form that the caller sent."""
    return "several" if isinstance(change, list | tuple) else "one"


class ForkRequest(RequestBody):
    """The event from which to run a query again, and what is different: at least one of `at`, `change` and `faults`."""

    # `anyOf` of the three would be exact, but generators of clients make no class from that.
    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    at: Annotated[WholeNumber, Field(ge=0, le=MOST_SEQ)] | None = Field(
        None,
        description="The event to change, the last that both have; null is the last that the changes name. With "
        "`faults` alone: the first event that may break; null is the first of all.",
        examples=[11],
    )
    change: Annotated[
        Annotated[ChangeRequest, Tag("one")]
        | Annotated[
            list[ChangeRequest], Field(max_length=MOST_CHANGES), Tag("several")
        ],
        Discriminator(_form),
    ] = Field(
        [],
        description=f"The change, or up to {MOST_CHANGES} of them. `GET /api/settings` says how a setting may change. "
        "Of fields only `query` and a tool's `call.arguments` may be set, and `messages` if the owner allows it.",
        examples=[{"kind": "setting", "name": "max_rounds", "value": 1}],
    )
    mode: Mode = Field(
        "recorded",
        description="`recorded`: every call is answered as it was recorded, nothing is live, and the fork stops "
        "(`cancelled`) at a call that was not recorded, and says so; `remodel`: the model live, and tools whose call "
        "was not recorded; `live`: everything live.",
    )
    faults: dict[str, JsonValue] | None = Field(
        None,
        description="A fault plan (docs/faults.md); refused unless the service was started with --allow-faults.",
    )

    def changes(self) -> list[Change]:
        """Returns the changes in the service's own form."""
        if isinstance(self.change, ChangeRequest):
            return [self.change.change()]
        return [each.change() for each in self.change]


class ForkReply(Schema):
    """The new query: a trace of its own, which names its parent."""

    query_id: str = Field(description="The fork's trace.")
    parent: str
    parent_seq: int = Field(
        description="The last event that both have; 0 if they share only the question."
    )
    change: str = Field(description="What was changed, in words.")
    mode: Mode
    answer: QueryAnswer
    diff: str = Field(
        description="The path of the comparison of the two.",
        examples=["/api/traces/q-0b8a4a7c/diff/q-77aa0912"],
    )


class ForkPlanReply(Schema):
    """What a fork would do."""

    parent: str
    shared: int = Field(description="The last event that it shares with its parent.")
    mode: Mode
    models: list[str] = Field(
        description="The models that it would call; empty if there are none."
    )
    calls: int = Field(
        description="The most calls to them, each of which may be retried."
    )
    tools: list[str] = Field(description="The tools that it may run.")
    effects: list[str] = Field(
        description="Those of these tools that change something outside."
    )
    may_cost: bool = Field(
        description="The fork calls a model that is not known to be free."
    )
    sentence: str = Field(description="The whole plan in words.")
