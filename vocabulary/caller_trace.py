"""The trace of the caller that a query belongs to, as the caller's own headers name it (W3C Trace Context)."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar

TRACE_HEADERS = ("traceparent", "tracestate")
"""Names of the headers (https://www.w3.org/TR/trace-context/)."""

# A query's task inherits it from the request that begins the query, so that no part between the two hands it on.
caller_trace: ContextVar[Mapping[str, str] | None] = ContextVar(
    "caller_trace", default=None
)
"""The headers as they came; None if the caller sent none, or the settings do not ask for them."""
