"""Event streams of a tenant: counted, and warned of before they are too many."""

from __future__ import annotations

import pytest

from antiphon.access.streams import TenantStreams
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.errors import QuotaError

ACME = Principal(tenant="acme", key_id="k1", scopes=frozenset({"ask"}))


def test_the_log_warns_once_when_four_fifths_of_a_tenants_streams_are_open(
    capsys: pytest.CaptureFixture[str],
) -> None:
    counted = TenantStreams(10)

    for _ in range(7):
        counted.enter(ACME)
    before = capsys.readouterr().out
    for _ in range(3):
        counted.enter(ACME)
    with pytest.raises(QuotaError):
        counted.enter(ACME)
    said = capsys.readouterr().out

    assert before == ""
    assert said.count("event_streams_nearly_full") == 1
    assert "ANTIPHON_MOST_STREAMS" in said


def test_streams_that_were_closed_meanwhile_are_warned_of_anew(
    capsys: pytest.CaptureFixture[str],
) -> None:
    counted = TenantStreams(10)

    for _ in range(2):
        for _ in range(8):
            counted.enter(ACME)
        for _ in range(8):
            counted.leave(ACME)

    assert capsys.readouterr().out.count("event_streams_nearly_full") == 2
