"""Answers of the real service that contradict their sources: it doubts them and suspects their cause."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import httpx2
import pytest

from tests.once import made_once
from tests.planted import held_out
from tests.planted.answers import ask, calling, index_planted, planted_service
from tests.planted.contradicting import CONTRADICTING, DOUBTS

TOP = 3


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """A caller of the service over planted documents."""
    index = partial(index_planted, mistakes=held_out.MISTAKES)
    indexed = made_once(tmp_path_factory, "held-out", index)
    folder = tmp_path_factory.mktemp("contradicting")
    with (
        planted_service(folder, indexed, CONTRADICTING) as server,
        calling(server) as client,
    ):
        yield client


@pytest.mark.parametrize("name", CONTRADICTING)
def test_the_cause_of_the_answer_is_suspected_and_the_answer_doubted(
    name: str, client: httpx2.Client
) -> None:
    planted = CONTRADICTING[name]

    asked = ask(client, planted)
    reply = client.get(f"/api/traces/{asked.query_id}/suspects")

    first = [suspect["event_seq"] for suspect in reply.json()["suspects"][:TOP]]
    assert asked.explaining_seq(planted) in first, reply.json()
    uncertainty = asked.answer["uncertainty"]
    if name in DOUBTS:
        doubts = {doubt["kind"]: doubt for doubt in uncertainty["indicators"]}
        assert doubts[DOUBTS[name]]["event_seq"] in {
            each["seq"] for each in asked.events
        }
        assert uncertainty["confidence"] != "high"
