"""A file of keys that is damaged, newer, or held by another process: nobody gets in unseen, and nothing is lost."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from antiphon.access.access_file import FILE_NAME, MODE_FILE
from antiphon.composition import Allowance
from antiphon.service import AccessFile, Keys, Quotas
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.errors import BusyError, ConfigurationError
from tests.tenants import site

CALLER = Principal(tenant="acme", scopes=frozenset(), key_id="k")


async def test_a_file_of_keys_that_is_damaged_while_the_service_runs_lets_nobody_in(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        before = await at.client().get("/api/courses")
        (tmp_path / FILE_NAME).write_bytes(b"no database" * 1_000)
        after = await at.client().get("/api/courses")
        alive = await at.client().get("/healthz")
        (tmp_path / FILE_NAME).unlink()

    assert (before.status_code, after.status_code) == (200, 503)
    assert "file of keys" in after.json()["error"]["message"]
    assert str(tmp_path) not in after.text
    assert alive.status_code == 200


def test_a_service_that_has_seen_keys_of_an_earlier_version_notices_their_loss(
    tmp_path: Path,
) -> None:
    file = AccessFile(tmp_path)
    Keys(file).add("a", "b", ["ask"])
    file.close()
    (tmp_path / MODE_FILE).unlink()
    seen = Keys(AccessFile(tmp_path))
    asked_for, lost = seen.are_asked_for, seen.are_lost
    for each in tmp_path.glob(f"{FILE_NAME}*"):
        each.unlink()

    assert (asked_for, lost) == (True, False)
    assert Keys(AccessFile(tmp_path)).are_lost


async def test_a_running_service_whose_keys_are_lost_lets_nobody_in(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        AccessFile(tmp_path).ask_for_keys()
        refused = await at.client().get("/api/courses")
        ready = await at.client().get("/readyz")

    assert (refused.status_code, ready.status_code) == (401, 200)


def test_a_file_of_a_newer_program_is_refused(tmp_path: Path) -> None:
    file = AccessFile(tmp_path)
    Keys(file).add("a", "b", ["ask"])
    file.close()
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as other:
        other.execute("PRAGMA user_version = 99")

    with pytest.raises(ConfigurationError, match="format 99, from a newer Antiphon"):
        Keys(AccessFile(tmp_path)).listed()


async def test_a_count_waits_for_another_process_and_is_refused_if_that_one_holds_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = AccessFile(tmp_path)
    quotas = Quotas(file)
    file.open()
    want, least = Allowance(10, 0.0), Allowance(1, 0.0)
    with closing(sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting = asyncio.create_task(quotas.reserve(CALLER, "q1", want, least))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        other.execute("COMMIT")
        await waiting

        monkeypatch.setattr("antiphon.access.access_file._PATIENCE_S", 0.1)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BusyError, match="nothing is spent"):
            await quotas.reserve(CALLER, "q2", want, least)
        other.execute("COMMIT")
    shares = (await quotas.report(CALLER)).shares
    file.close()

    assert [each.used.requests for each in shares] == [1, 1]
    assert [each.at_once for each in shares] == [1, 1]


async def test_two_processes_share_one_limit(tmp_path: Path) -> None:
    files = [AccessFile(tmp_path), AccessFile(tmp_path)]
    both = [Quotas(file) for file in files]
    for quotas in both:
        await quotas.reserve(
            CALLER, f"q{id(quotas)}", Allowance(10, 0.0), Allowance(1, 0.0)
        )

    reports = [await each.report(CALLER) for each in both]

    assert [each.shares[0].used.requests for each in reports] == [2, 2]
    for file in files:
        file.close()
