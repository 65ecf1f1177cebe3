"""A service that asks for keys goes on asking when their file is lost; without keys only this machine is answered."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import httpx2
import pytest

from tests.e2e.conftest import Antiphon, Shell, serving, without_traces

NAME = "answers.example"
COURSES = "/api/courses"


@pytest.fixture
def folder(data_dir: Path, tmp_path: Path) -> Path:
    return without_traces(data_dir, tmp_path)


@pytest.fixture
def command(shell: Shell, folder: Path, tmp_path: Path) -> Antiphon:
    return partial(shell.run, folder=tmp_path, data_dir=folder)


def remove(file: Path) -> None:
    file.unlink()


def empty(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize("lose", [remove, empty])
def test_a_service_whose_keys_are_lost_serves_nobody_until_its_owner_resets_them(
    command: Antiphon, folder: Path, tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    file = folder / "access.sqlite"
    key = command("keys", "add", "web", "--tenant", "acme").stdout.strip()
    for each in folder.glob("access.sqlite-*"):
        each.unlink()
    lose(file)

    refused = command("serve", "--port", "0")
    doctor = command("doctor")
    reset = command("keys", "reset")
    with serving(folder, tmp_path) as server:
        opened = httpx2.get(f"{server.url}{COURSES}")
    command("keys", "add", "web", "--tenant", "acme")
    with serving(folder, tmp_path) as server:
        closed = httpx2.get(f"{server.url}{COURSES}", headers={"x-api-key": key})

    assert refused.returncode == 1
    for words in (
        "access.sqlite",
        "backup",
        "antiphon keys add",
        "antiphon keys reset",
    ):
        assert words in refused.stderr
    assert "nothing is served" in doctor.stdout
    assert reset.returncode == 0
    assert (opened.status_code, closed.status_code) == (200, 401)


def test_with_new_keys_a_service_whose_keys_were_lost_is_served_to_their_holders(
    command: Antiphon, folder: Path, tmp_path: Path
) -> None:
    old = command("keys", "add", "web", "--tenant", "acme").stdout.strip()
    for each in folder.glob("access.sqlite*"):
        each.unlink()
    new = command("keys", "add", "web", "--tenant", "acme").stdout.strip()

    with serving(folder, tmp_path) as server:
        statuses = [
            httpx2.get(f"{server.url}{COURSES}", headers=headers).status_code
            for headers in ({}, {"x-api-key": old}, {"x-api-key": new})
        ]

    assert statuses == [401, 401, 200]


def test_keys_that_are_there_are_not_reset(command: Antiphon, folder: Path) -> None:
    command("keys", "add", "web", "--tenant", "acme")

    run = command("keys", "reset")

    assert run.returncode == 1
    assert "1 of the keys" in run.stderr
    assert "web" in command("keys", "list").stdout


def test_a_backup_records_that_the_service_needs_keys(
    command: Antiphon, shell: Shell, folder: Path, tmp_path: Path
) -> None:
    command("keys", "add", "web", "--tenant", "acme")
    again = tmp_path / "again"
    command("backup", str(tmp_path / "b.tar"))
    command("restore", str(tmp_path / "b.tar"), "--data-dir", str(again))
    (again / "access.sqlite").unlink()

    run = shell.run("serve", "--port", "0", folder=tmp_path, data_dir=again)

    assert run.returncode == 1
    assert "antiphon keys reset" in run.stderr


FROM_ELSEWHERE: tuple[dict[str, str], ...] = (
    {"host": NAME},
    {"host": f"{NAME}:8000"},
    {"x-forwarded-for": "203.0.113.7"},
    {"x-forwarded-host": NAME},
    {"x-forwarded-proto": "https"},
    {"forwarded": "for=203.0.113.7"},
    {"x-real-ip": "203.0.113.7"},
)
FROM_HERE: tuple[dict[str, str], ...] = (
    {},
    {"host": "localhost"},
    {"host": "127.0.0.1:80"},
    {"host": "[::1]"},
)
HOSTS = f"{NAME},localhost,127.0.0.1,[::1]"


def test_without_keys_only_this_machine_is_the_owner(
    command: Antiphon, folder: Path, tmp_path: Path
) -> None:
    with (
        serving(folder, tmp_path, ANTIPHON_ALLOWED_HOSTS=HOSTS) as server,
        httpx2.Client(base_url=server.url) as client,
    ):
        elsewhere = [client.get(COURSES, headers=each) for each in FROM_ELSEWHERE]
        here = [client.get(COURSES, headers=each) for each in FROM_HERE]
        healthy = client.get("/healthz", headers={"host": NAME})
        key = command("keys", "add", "web", "--tenant", "acme").stdout.strip()
        keyed = client.get(COURSES, headers={"host": NAME, "x-api-key": key})

    assert [reply.status_code for reply in elsewhere] == [401] * len(FROM_ELSEWHERE)
    for reply in elsewhere:
        message = reply.json()["error"]["message"]
        assert "antiphon keys add" in message
        assert "ANTIPHON_ANYBODY_MAY" in message
    assert [reply.status_code for reply in here] == [200] * len(FROM_HERE)
    assert (healthy.status_code, keyed.status_code) == (200, 200)


def test_callers_from_elsewhere_may_do_what_the_owner_lets_anybody_do(
    folder: Path, tmp_path: Path
) -> None:
    with serving(
        folder, tmp_path, ANTIPHON_ALLOWED_HOSTS=HOSTS, ANTIPHON_ANYBODY_MAY="ask"
    ) as server:
        statuses = [
            httpx2.get(f"{server.url}{path}", headers=headers).status_code
            for headers in FROM_ELSEWHERE
            for path in (COURSES, "/api/traces")
        ]

    assert statuses == [200, 403] * len(FROM_ELSEWHERE)
