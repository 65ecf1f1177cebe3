"""What a listing of traces can be asked for, as parameters of a request."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from antiphon.vocabulary.ports import TraceFilter

MOST_TRACES = 500

Name = Annotated[str | None, Field(max_length=200)]
"""One value that traces are filtered by."""

Time = Annotated[float | None, Field(allow_inf_nan=False)]
"""Seconds since the epoch."""


class TraceQuery(BaseModel):
    """A page of the listing, and every filter of `TraceFilter` under its own name (a test holds the two together)."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    limit: int = Field(50, ge=1, le=MOST_TRACES, description="How many.", examples=[50])
    before: Time = Field(None, description="Only those started before it: seconds since the epoch.")
    after_id: Name = Field(None, description="Only those listed after this trace.")
    since: Time = Field(None, description="Only those started at or after it.")
    until: Time = Field(None, description="Only those started before it; stays the same from page to page.")
    status: Name = None
    confidence: Name = None
    session_id: Name = None
    indicator: Name = Field(None, description="The kind of a doubt, such as tool_failed.")
    course: Name = Field(None, description="A course of which passages were found.")
    tool: Name = None
    text: Name = Field(None, description="Words of the question or the answer, all of which must be there.")
    parent: Name = Field(None, description="The trace that they are forks of.")

    def filter(self) -> TraceFilter:
        """Which traces are wanted."""
        return TraceFilter(**{name: getattr(self, name) for name in TraceFilter.__struct_fields__})
