"""Sums in the text format that Prometheus reads (https://prometheus.io/docs/instrumenting/exposition_formats/)."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse

from antiphon.api.facade import Service
from antiphon.service import Totals

router = APIRouter(tags=["health"])


@router.get("/metrics", summary="Sums since the process began", response_class=PlainTextResponse)
async def metrics(service: Service) -> PlainTextResponse:
    """Queries by how they ended, calls, seconds, tokens by kind, and the share of input read from the cache."""
    return PlainTextResponse(as_text(service.totals), media_type="text/plain; version=0.0.4")


def as_text(totals: Totals) -> str:
    """The sums, a line each, under their types."""
    usage = totals.usage
    tokens = {
        "input": usage.input_tokens,
        "output": usage.output_tokens,
        "cache_read": usage.cache_read_tokens,
        "cache_write": usage.cache_write_tokens,
    }
    lines = ["# TYPE antiphon_queries_total counter"]
    lines += [
        f'antiphon_queries_total{{status="{status}"}} {count}' for status, count in sorted(totals.queries.items())
    ]
    lines += ["# TYPE antiphon_query_seconds_total counter", f"antiphon_query_seconds_total {totals.seconds:.3f}"]
    lines += ["# TYPE antiphon_reasoning_calls_total counter", f"antiphon_reasoning_calls_total {totals.calls}"]
    lines += ["# TYPE antiphon_summarising_calls_total counter", f"antiphon_summarising_calls_total {totals.summaries}"]
    lines += ["# TYPE antiphon_tokens_total counter"]
    lines += [f'antiphon_tokens_total{{kind="{kind}"}} {count}' for kind, count in tokens.items()]
    spent = totals.summary_usage
    lines += [f'antiphon_tokens_total{{kind="summary_input"}} {spent.all_input_tokens}']
    lines += [f'antiphon_tokens_total{{kind="summary_output"}} {spent.output_tokens}']
    lines += ["# TYPE antiphon_cached_input_share gauge", f"antiphon_cached_input_share {usage.cached_share:.4f}"]
    return "\n".join([*lines, ""])
