"""What a few small calls find out about a server, and what they must not conclude from a connection that breaks."""

from __future__ import annotations

import pytest

from antiphon.bus import SystemClock
from antiphon.engine import CitationStyles, Profile, connect, find_capabilities
from antiphon.engine.capabilities import Finding
from tests import misbehaving as servers
from tests.fakes_messages_api import (
    block_started,
    block_stopped,
    delta,
    ended,
    started,
    text_reply,
)
from tests.misbehaving import Conduct, Exchange

CITATION = {
    "type": "search_result_location",
    "search_result_index": 0,
    "start_block_index": 0,
    "end_block_index": 1,
    "cited_text": "x",
}


async def able(exchange: Exchange) -> None:
    """A server that can do everything that a request asks for."""
    events = text_reply("The word is heliotrope.")
    if b"search_result" in exchange.body:
        events.insert(2, delta(0, "citations_delta", citation=CITATION))
    elif b'"tools"' in exchange.body and b'"tool_choice"' not in exchange.body:
        call = block_started(0, type="tool_use", id="t", name="look_up", input={})
        events = [started(), call, block_stopped(0), *ended("tool_use")]
    await servers.streamed(exchange, events)


async def closing(exchange: Exchange) -> None:
    """The same, but it closes each connection when a second request comes over it."""
    if exchange.number > 1:
        exchange.reset()
        return
    await able(exchange)


def unless_cited(conduct: Conduct) -> Conduct:
    """A server that misbehaves if a request contains a source, and is able otherwise."""

    async def conducted(exchange: Exchange) -> None:
        if b"search_result" in exchange.body:
            await conduct(exchange)
        else:
            await able(exchange)

    return conducted


async def busy(exchange: Exchange) -> None:
    await exchange.answer("529 Overloaded", b'{"error":{"type":"overloaded_error"}}')


async def refusing(exchange: Exchange) -> None:
    error = b'{"error":{"type":"invalid_request_error","message":"unknown block"}}'
    await exchange.answer("400 Bad Request", error)


async def broken(exchange: Exchange) -> None:
    exchange.reset()


async def found(conduct: Conduct) -> list[Finding]:
    async with servers.server(conduct) as serving:
        model = connect("key", serving.url, silence_s=0.3)
        try:
            return await find_capabilities(model, "m", wait_s=1.0)
        finally:
            await model.aclose()


@pytest.mark.parametrize("conduct", [able, closing])
async def test_an_able_server_is_found_able_even_if_it_closes_kept_connections(
    conduct: Conduct,
) -> None:
    findings = await found(conduct)

    assert len(findings) == 9
    assert [finding.name for finding in findings if not finding.well] == []


@pytest.mark.parametrize(
    ("conduct", "setting"),
    [
        (refusing, "ANTIPHON_CITATIONS=inline"),
        (broken, ""),
        (busy, ""),
        (servers.silent, ""),
        (servers.headers_only, ""),
        (servers.pings_only, ""),
        (servers.not_found, ""),
        (servers.bare_error_event, "ANTIPHON_CITATIONS=inline"),
    ],
)
async def test_a_way_of_citing_is_recommended_only_if_the_server_refuses_the_other(
    conduct: Conduct, setting: str
) -> None:
    findings = await found(unless_cited(conduct))

    (citing,) = (each for each in findings if each.name == "search_result blocks")
    assert not citing.well
    assert citing.setting == setting


@pytest.mark.parametrize(
    ("conduct", "style"),
    [(able, "native"), (closing, "native"), (unless_cited(refusing), "inline")],
)
async def test_the_way_of_citing_is_found_out_over_connections_that_break(
    conduct: Conduct, style: str
) -> None:
    styles = CitationStyles({"primary": Profile(citations="auto")})
    async with servers.server(conduct) as serving:
        model = connect("key", serving.url)
        # A first call, so that the probe goes over a connection that was kept.
        await find_capabilities(model, "m", wait_s=1.0)
        got = await styles.find("primary", model, "m", SystemClock())
        await model.aclose()

    assert (got, styles.known("primary")) == (style, style)
