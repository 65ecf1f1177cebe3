"""The sums that a watcher reads."""

from __future__ import annotations

from antiphon.api.routes.service import as_text
from antiphon.service import Outcome, Totals
from antiphon.vocabulary.events import ResponseAssembled
from antiphon.vocabulary.values import Usage


def answered(usage: Usage) -> Outcome:
    response = ResponseAssembled(
        answer="It ranks.", sources=(), source_links=(), citations=(), confidence="high", indicators=(), rounds=1,
        reasoner="m", calls=2, usage=usage,
    )  # fmt: skip
    return Outcome(
        query_id="q",
        session_id="s",
        response=response,
        status="answered",
        duration_ms=1500.0,
    )


def test_sums_tell_how_queries_ended_and_how_much_input_came_from_the_cache() -> None:
    totals = Totals()
    totals.add(
        answered(Usage(input_tokens=100, output_tokens=10, cache_read_tokens=300))
    )
    totals.add(
        answered(
            Usage(
                input_tokens=100,
                output_tokens=10,
                cache_read_tokens=300,
                cache_write_tokens=200,
            )
        )
    )

    lines = as_text(totals).splitlines()

    assert 'antiphon_queries_total{status="answered"} 2' in lines
    assert "antiphon_reasoning_calls_total 4" in lines
    assert "antiphon_query_seconds_total 3.000" in lines
    assert 'antiphon_tokens_total{kind="cache_read"} 600' in lines
    assert "antiphon_cached_input_share 0.6000" in lines


def test_sums_of_a_process_that_answered_nothing_are_zero() -> None:
    assert "antiphon_cached_input_share 0.0000" in as_text(Totals()).splitlines()
