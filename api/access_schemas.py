"""Bodies about callers: who they are, and what they have used of how much."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from antiphon.api.schemas import Schema


class LimitsReply(Schema):
    """The most of a day (UTC); null: no limit. `at_once` is of queries under way."""

    requests: int | None
    tokens: int | None
    cost_usd: float | None
    at_once: int | None


class UsedReply(Schema):
    """What was spent."""

    requests: int
    tokens: int
    cost_usd: float


class ShareReply(Schema):
    """What a key or a tenant has used today, of how much."""

    holder: Literal["key", "tenant"]
    name: str = Field(description="The key's id, or the tenant.", examples=["acme"])
    limits: LimitsReply
    used: UsedReply
    set_aside: UsedReply = Field(
        description="What its running queries may still use; it counts as used until they end."
    )
    at_once: int = Field(description="Its running queries.")
    forecast: UsedReply = Field(
        description="Forecast for the end of the day, at the rate so far."
    )


class CallerUsageReply(Schema):
    """Who the caller is, and their shares of the day; empty where callers have no keys, and nothing is counted."""

    tenant: str = Field(examples=["acme"])
    scopes: list[str] = Field(description="What the caller may do.", examples=[["ask"]])
    day: str = Field(examples=["2026-11-23"])
    resets_at: float = Field(description="Seconds since the epoch.")
    shares: list[ShareReply]
