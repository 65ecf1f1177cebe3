"""`antiphon keys` and `antiphon serve` in processes of their own: made by one, asked for by the other."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path

import httpx2
import pytest

from tests.e2e.conftest import STARTING_S, Antiphon, Shell, serving, without_traces

QUESTION = {"query": "What is applemailbox7 in the Apple course?"}
NETWORK = "0.0.0.0"
KEY = f"ant_0123456789ab_{'xY3-' * 10}xyz"


@pytest.fixture
def folder(data_dir: Path, tmp_path: Path) -> Path:
    return without_traces(data_dir, tmp_path)


def test_keys_made_rotated_and_revoked_by_the_command_hold_in_a_running_service(
    shell: Shell, folder: Path, tmp_path: Path
) -> None:
    def keys(*arguments: str) -> str:
        run = shell.run("keys", *arguments, folder=tmp_path, data_dir=folder)
        assert run.returncode == 0, run.stderr
        return run.stdout.strip()

    with (
        serving(folder, tmp_path) as server,
        httpx2.Client(base_url=server.url, timeout=STARTING_S) as client,
    ):

        def ask(key: str) -> int:
            sent = {"x-api-key": key}
            return client.post("/api/query", json=QUESTION, headers=sent).status_code

        assert client.get("/api/courses").status_code == 200
        key = keys("add", "web", "--tenant", "acme", "--requests", "3")
        statuses = [client.get("/api/courses").status_code, ask(key)]
        new = keys("rotate", "web")
        statuses += [ask(key), ask(new)]
        keys("limit", "web", "--requests", "2")
        statuses.append(ask(new))
        listed = json.loads(keys("list", "--json"))
        used = keys("usage")
        shares = json.loads(keys("usage", "--json"))
        keys("revoke", "web")
        statuses.append(ask(new))
        said = "".join(server.said)

    assert statuses == [401, 200, 401, 200, 429, 401]
    assert [each["name"] for each in listed] == ["web"]
    assert key not in json.dumps(listed)
    assert "2 of 2" in used
    assert shares[0]["used"]["requests"] == 2
    assert key not in said
    assert new not in said
    mode = stat.S_IMODE((folder / "access.sqlite").stat().st_mode)
    assert mode == 0o600


def test_an_invalid_key_scope_or_time_is_refused_in_a_sentence(
    antiphon: Antiphon, tmp_path: Path
) -> None:
    empty = str(tmp_path / "empty")
    wrong = {
        "scope": ("add", "a", "--tenant", "b", "--scope", "root"),
        "small letters": ("add", "A b", "--tenant", "b"),
        "tenant": ("add", "a", "--tenant", "../b"),
        "length of time": ("add", "a", "--tenant", "b", "--expires", "soon"),
        "no key": ("rotate", "nothing"),
        "antiphon keys list": ("revoke", "nothing"),
        # A whole key in the place of its name or id.
        "no name of a key: use": ("add", KEY, "--tenant", "b"),
        "no key 'ant_…'": ("revoke", KEY),
    }
    for word, arguments in wrong.items():
        run = antiphon("keys", *arguments, "--data-dir", empty)
        assert run.returncode == 1
        assert word in run.stderr
        assert "Traceback" not in run.stderr
        assert KEY[17:25] not in run.stderr

    assert not (tmp_path / "empty" / "access.sqlite").exists()


@pytest.mark.parametrize(
    ("settings", "keyed", "words"),
    [
        ({}, False, "antiphon keys add"),
        ({"ANTIPHON_ALLOWED_HOSTS": "app.example"}, False, "antiphon keys add"),
        ({}, True, "ANTIPHON_ALLOWED_HOSTS"),
        ({"ANTIPHON_ANYBODY_MAY": "ask"}, False, "ANTIPHON_ALLOWED_HOSTS"),
        (
            {"ANTIPHON_ANYBODY_MAY": "everything", "ANTIPHON_ALLOWED_HOSTS": "*"},
            False,
            "no scope",
        ),
    ],
)
def test_nothing_is_served_to_the_network_without_keys_and_names(
    shell: Shell,
    folder: Path,
    tmp_path: Path,
    settings: dict[str, str],
    keyed: bool,
    words: str,
) -> None:
    if keyed:
        shell.run("keys", "add", "a", "--tenant", "b", folder=tmp_path, data_dir=folder)

    run = shell.run(
        *("serve", "--host", NETWORK, "--port", "0"),
        folder=tmp_path,
        data_dir=folder,
        **settings,
    )

    assert run.returncode == 1
    assert words in run.stderr


@pytest.mark.parametrize("keyed", [True, False])
def test_with_keys_or_explicit_leave_the_network_is_served(
    shell: Shell, folder: Path, tmp_path: Path, keyed: bool
) -> None:
    settings = {"ANTIPHON_ALLOWED_HOSTS": "127.0.0.1"}
    if keyed:
        shell.run("keys", "add", "a", "--tenant", "b", folder=tmp_path, data_dir=folder)
    else:
        settings["ANTIPHON_ANYBODY_MAY"] = "ask"
    with serving(folder, tmp_path, "--host", NETWORK, **settings) as server:
        url = server.url.replace(NETWORK, "127.0.0.1")
        courses = httpx2.get(f"{url}/api/courses")
        traces = httpx2.get(f"{url}/api/traces")
        server.stop()
        said = "".join(server.said)

    assert [courses.status_code, traces.status_code] == [[401, 401], [200, 403]][
        not keyed
    ]
    assert ("ANTIPHON_ANYBODY_MAY says" in said) == (not keyed)
    shutil.rmtree(folder)


def test_a_second_service_on_a_data_folder_names_the_first_and_one_after_it_does_not(
    folder: Path, tmp_path: Path
) -> None:
    with serving(folder, tmp_path) as first:
        with serving(folder, tmp_path) as second:
            said = "".join(second.said)
        url = first.url
    with serving(folder, tmp_path) as later:
        said_later = "".join(later.said)

    assert "Another service uses" in said.replace("\n", " ")
    assert url in said
    assert "Another service" not in said_later
