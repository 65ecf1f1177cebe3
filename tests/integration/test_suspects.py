"""Ten planted bad answers of the real service: the event that explains each is among the first suspects."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

from tests.e2e.conftest import Run, Shell, shell
from tests.once import made_once
from tests.planted import held_out
from tests.planted.answers import (
    MISTAKES,
    PLANTED,
    Asked,
    Planted,
    ask,
    calling,
    index_planted,
    planted_service,
)
from tests.planted.held_out import HELD_OUT

__all__ = ["shell"]

TOP = 3


class Case(NamedTuple):
    """A set of planted answers, and the service that gives them."""

    planted: Mapping[str, Planted]
    client: httpx2.Client
    folder: Path


@pytest.fixture(
    scope="module",
    params=[
        ("planted", PLANTED, MISTAKES),
        ("held-out", HELD_OUT, held_out.MISTAKES),
    ],
    ids=["planted", "held out"],
)
def case(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Case]:
    """The service over planted documents."""
    name, planted, mistakes = request.param
    index = partial(index_planted, mistakes=mistakes)
    indexed = made_once(tmp_path_factory, name, index)
    folder = tmp_path_factory.mktemp("planted")
    with (
        planted_service(folder, indexed, planted) as server,
        calling(server) as client,
    ):
        yield Case(planted, client, folder)


@pytest.fixture(scope="module")
def client(case: Case) -> httpx2.Client:
    """A caller of the service."""
    return case.client


@pytest.fixture(scope="module")
def answers(case: Case) -> dict[str, Asked]:
    """Every planted answer, asked once: the double has its replies only once."""
    return {name: ask(case.client, each) for name, each in case.planted.items()}


def suspects(client: httpx2.Client, asked: Asked) -> list[dict[str, Any]]:
    reply = client.get(f"/api/traces/{asked.query_id}/suspects")
    assert reply.status_code == 200, reply.text
    found: list[dict[str, Any]] = reply.json()["suspects"]
    return found


@pytest.mark.parametrize("name", PLANTED)
def test_the_event_that_explains_a_planted_answer_is_among_the_first_suspects(
    name: str,
    case: Case,
    client: httpx2.Client,
    answers: dict[str, Asked],
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = answers[name]
    wanted = asked.explaining_seq(case.planted[name])

    found = suspects(client, asked)

    seqs = [suspect["event_seq"] for suspect in found]
    assert wanted in seqs, (wanted, found)
    rank = seqs.index(wanted) + 1
    with capsys.disabled():
        print(f"\n{name}: event {wanted} is suspect {rank} of {len(found)}", end="")  # noqa: T201  # what is measured
    assert rank <= TOP, found


def test_suspects_are_ranked_name_their_events_and_say_what_to_try(
    client: httpx2.Client, answers: dict[str, Asked]
) -> None:
    for asked in answers.values():
        found = suspects(client, asked)

        weights = [suspect["weight"] for suspect in found]
        assert weights == sorted(weights, reverse=True)
        assert all(0 < weight <= 1 for weight in weights)
        seqs = {recorded["seq"] for recorded in asked.events}
        assert {suspect["event_seq"] for suspect in found} <= seqs
        assert all(suspect["text"].endswith((".", "…", "”")) for suspect in found)
        assert all(suspect["advice"] for suspect in found)


def test_the_command_says_the_same_as_the_api(
    client: httpx2.Client, answers: dict[str, Asked], case: Case, shell: Shell
) -> None:
    asked = answers["a tool lost to a timeout"]

    def why(*options: str) -> Run:
        return shell.run(
            "traces", "why", asked.query_id[:12], *options,
            folder=case.folder, data_dir=case.folder / "data",
        )  # fmt: skip

    found = suspects(client, asked)
    assert json.loads(why("--json").stdout) == found
    assert f"1. {found[0]['text']} (event {found[0]['event_seq']})" in why().stdout


def test_an_answer_in_its_sources_words_has_only_its_sources_to_suspect(
    client: httpx2.Client,
) -> None:
    for question in (
        "What is a rebalance of a Kafka consumer group?",
        "Who proved Little's law?",
        "What does the transactional outbox solve?",
    ):
        reply = client.post("/api/query", json={"query": question}).json()
        found = client.get(f"/api/traces/{reply['query_id']}/suspects").json()

        assert reply["citations"]
        assert found["suspects"][0]["weight"] < 0.5, found["suspects"][0]
