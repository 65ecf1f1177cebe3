"""A key that the model's server refuses: the service says what to do, and questions are answered all the same."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from antiphon.service import AccessFile, Keys
from antiphon.service.upkeep import KEY_CHECK_S
from tests.e2e.conftest import (
    STARTING_S,
    Antiphon,
    Server,
    serving,
    without_traces,
)
from tests.guarded import API_KEY
from tests.key_server import ANSWER, KeyServer, key_server

ASKED = {"query": "What is applemailbox7 in the Apple course?"}
SOON_S = 20.0
"""Seconds in which a service knows of its key, on a machine that has other things to do."""


@contextmanager
def served_by(
    model: KeyServer, data_dir: Path, folder: Path, **settings: str
) -> Iterator[Server]:
    """The service whose model is at this server."""
    with (
        key_server(model),
        serving(
            without_traces(data_dir, folder),
            folder,
            ANTHROPIC_BASE_URL=model.url,
            ANTIPHON_CITATIONS="native",
            ANTIPHON_LOG_FORMAT="json",
            **settings,
        ) as server,
    ):
        yield server


def readiness(server: Server, until: Callable[[Any], bool]) -> Any:
    """Reads the readiness until it says what the test waits for."""
    ends_at = time.monotonic() + SOON_S
    while True:
        ready = httpx2.get(f"{server.url}/readyz")
        assert ready.status_code == 200
        found = ready.json()
        if until(found):
            return found
        assert time.monotonic() < ends_at, found
        time.sleep(0.05)


def key_is(state: str) -> Callable[[Any], bool]:
    return lambda found: found["model_key"] == state


def ask(server: Server) -> Any:
    reply = httpx2.post(f"{server.url}/api/query", json=ASKED, timeout=STARTING_S)
    assert reply.status_code == 200
    return reply.json()


def lines_about_the_key(server: Server) -> list[tuple[str, str]]:
    """Level and name of each line of the log that is about it."""
    logged = [json.loads(line) for line in server.said if line.startswith("{")]
    return [
        (line["level"], line["event"])
        for line in logged
        if line["event"].startswith("model_key")
    ]


def test_soon_after_the_start_the_readiness_names_a_refused_key_and_what_to_do(
    data_dir: Path, tmp_path: Path
) -> None:
    with served_by(KeyServer(), data_dir, tmp_path) as server:
        found = readiness(server, key_is("refused"))
        answer = ask(server)
        server.stop()

    [warning] = found["warnings"]
    assert (found["ready"], found["problems"]) == (True, [])
    assert abs(found["model_key_at"] - time.time()) < STARTING_S
    assert "the server answered 401" in warning
    assert "the built-in reasoner answers" in warning
    assert "Check ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL" in warning
    assert "antiphon doctor" in warning
    assert answer["reasoner"] == "offline"
    # Once, though the query was refused too.
    assert lines_about_the_key(server) == [("warning", "model_key_refused")]
    assert "invalid x-api-key: Bearer [key]" in warning
    assert API_KEY not in warning + "".join(server.said)


def test_a_server_without_a_list_of_models_leaves_the_key_unknown_until_it_answers(
    data_dir: Path, tmp_path: Path
) -> None:
    model = KeyServer(accepts=True, lists_models=False)
    with served_by(model, data_dir, tmp_path) as server:
        assert model.checked.wait(SOON_S)
        before = readiness(server, lambda _: True)
        answer = ask(server)
        after = readiness(server, lambda _: True)
        server.stop()

    assert (before["model_key"], before["warnings"]) == ("unknown", [])
    assert before["model_key_at"] is None
    assert ANSWER in answer["answer"]
    assert after["model_key"] == "accepted"
    assert lines_about_the_key(server) == [("info", "model_key_accepted")]


def test_a_key_that_is_mended_is_accepted_with_the_next_answer(
    data_dir: Path, tmp_path: Path
) -> None:
    model = KeyServer()
    with served_by(model, data_dir, tmp_path) as server:
        readiness(server, key_is("refused"))
        model.accepts = True
        answer = ask(server)
        mended = readiness(server, lambda _: True)
        model.accepts = False
        ask(server)
        revoked = readiness(server, lambda _: True)
        server.stop()

    assert ANSWER in answer["answer"]
    assert (mended["model_key"], mended["warnings"]) == ("accepted", [])
    assert (revoked["model_key"], len(revoked["warnings"])) == ("refused", 1)
    assert [level for level, _ in lines_about_the_key(server)] == [
        *("warning", "info", "warning")
    ]


def test_callers_without_a_key_of_ours_do_not_read_the_servers_words(
    data_dir: Path, tmp_path: Path
) -> None:
    folder = without_traces(data_dir, tmp_path)
    file = AccessFile(folder)
    Keys(file).add("app", "acme", ["ask"])
    file.close()
    (tmp_path / "served").mkdir()
    with served_by(KeyServer(), folder, tmp_path / "served") as server:
        found = readiness(server, key_is("refused"))

    assert "401" not in found["warnings"][0]
    assert "Check ANTHROPIC_API_KEY" in found["warnings"][0]


def test_without_a_key_there_is_none_to_be_refused(server: Server) -> None:
    found = readiness(server, lambda _: True)

    assert (found["model_key"], found["model_key_at"]) == ("none", None)
    assert found["warnings"] == []


def test_a_server_that_never_answers_the_check_delays_neither_start_nor_stop(
    data_dir: Path, tmp_path: Path, silent_model: str
) -> None:
    own = without_traces(data_dir, tmp_path)
    with serving(own, tmp_path, ANTHROPIC_BASE_URL=silent_model) as server:
        found = readiness(server, lambda _: True)
        began_at = time.monotonic()
        code = server.stop(signal.SIGTERM)
        took_s = time.monotonic() - began_at

    assert found["model_key"] == "unknown"
    assert code == 0
    assert took_s < KEY_CHECK_S


def test_doctor_says_that_the_key_is_refused_and_what_to_do(antiphon: Antiphon) -> None:
    with key_server(KeyServer()) as model:
        refused = antiphon("doctor", ANTHROPIC_BASE_URL=model.url, ANTIPHON_PORT="0")
        model.accepts = True
        accepted = antiphon("doctor", ANTHROPIC_BASE_URL=model.url, ANTIPHON_PORT="0")

    assert refused.returncode == 1
    assert "the key is refused: the server answered 401" in refused.stdout
    assert "→ Check ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL" in refused.stdout
    assert API_KEY not in refused.stdout + refused.stderr
    assert accepted.returncode == 0, accepted.stdout
    assert "the key is accepted" in accepted.stdout
