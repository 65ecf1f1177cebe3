"""A fork as JSON: what is to be changed, and what came of it."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from pydantic import Field, JsonValue

from antiphon.api.query_schemas import QueryAnswer
from antiphon.api.schemas import Schema, Text
from antiphon.service import Change, Mode


class ChangeRequest(Schema):
    """One thing that a fork changes."""

    kind: Literal["set", "setting", "reply", "tool", "drop"] = Field(
        description="`set` a field of the event, a `setting` of the query, the `reply` of a reasoning call, the result "
        "of a `tool`, or `drop` a passage wherever it was found."
    )
    name: Annotated[Text, Field(max_length=1_000)] = Field(
        "", description="The field, the setting, the tool call's id or the passage's (or a fact's); empty for a reply."
    )
    value: JsonValue = Field("", description="The new value; a reply or result may be plain text.", examples=[1])

    def change(self) -> Change:
        """The change as the service takes it."""
        value = self.value if isinstance(self.value, str) else msgspec.json.encode(self.value).decode()
        return Change(kind=self.kind, name=self.name, value=value)


class ForkRequest(Schema):
    """From which event on a query is had again, and what is different."""

    at: Annotated[int, Field(strict=True, ge=0)] | None = Field(
        None,
        description="The event to change, the last that both have; null is the last that the changes name. With "
        "`faults` alone: the first event that may break; null is the first of all.",
        examples=[11],
    )
    change: ChangeRequest | list[ChangeRequest] = Field(
        [],
        description="What is changed: one, or several.",
        examples=[{"kind": "setting", "name": "max_rounds", "value": 1}],
    )
    mode: Mode = Field(
        "recorded",
        description="`recorded`: what is asked for as before is answered from the recording; `remodel`: tools so, the "
        "model live; `live`: everything live.",
    )
    faults: dict[str, JsonValue] | None = Field(
        None, description="A fault plan (docs/faults.md); refused unless the service was started with --allow-faults."
    )

    def changes(self) -> list[Change]:
        """The changes as the service takes them."""
        wanted = self.change if isinstance(self.change, list) else [self.change]
        return [each.change() for each in wanted]


class ForkReply(Schema):
    """The new query: a trace of its own, which names its parent."""

    query_id: str = Field(description="The fork's trace.")
    parent: str
    parent_seq: int = Field(description="The last event that both have; 0 where they share no more than the question.")
    change: str = Field(description="What was changed, in words.")
    mode: Mode
    answer: QueryAnswer
    diff: str = Field(description="Where the two are compared.", examples=["/api/traces/q-0b8a4a7c/diff/q-77aa0912"])
