"""Asks, follows, cancels and reads with the client that openapi-python-client made."""

from __future__ import annotations

import json
import sys

from antiphon_client import Client
from antiphon_client.api.queries import (
    ask,
    begin_query,
    cancel_query,
    follow_query,
)
from antiphon_client.api.traces import read_answer, read_trace
from antiphon_client.models import QueryAnswer, QueryBegun, QueryRequest, TraceReply


def used(url: str, stuck_url: str, question: str) -> dict[str, object]:
    """Returns the result of each use; the slow service is for a query to cancel."""
    client, stuck = Client(base_url=url), Client(base_url=stuck_url)
    body = QueryRequest(query=question)

    answer = ask.sync(client=client, body=body)
    assert isinstance(answer, QueryAnswer)

    begun = begin_query.sync(client=client, body=body)
    assert isinstance(begun, QueryBegun)
    stream = follow_query.sync(begun.query_id, client=client)
    assert isinstance(stream, str)

    unanswered = begin_query.sync(client=stuck, body=body)
    assert isinstance(unanswered, QueryBegun)
    cancel_query.sync(unanswered.query_id, client=stuck)
    cancelled = read_answer.sync(unanswered.query_id, client=stuck)
    assert isinstance(cancelled, QueryAnswer)

    trace = read_trace.sync(answer.query_id, client=client)
    assert isinstance(trace, TraceReply)
    return {
        "answer": answer.answer,
        "calls": answer.usage.calls,
        "stream": stream,
        "cancelled": cancelled.status,
        "trace": [recorded.event.kind for recorded in trace.events],
    }


print(json.dumps(used(*sys.argv[1:])))  # noqa: T201  # what the test reads
