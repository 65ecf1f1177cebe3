"""What people ask and what they index is for their own eyes: nobody else may read the data folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from antiphon.knowledge import Library, index_paths
from antiphon.traces import SqliteTraceStore
from tests.course_files import write_course
from tests.fakes_knowledge import HashingEmbedder
from tests.story import answered, placed

OTHERS = stat.S_IRWXG | stat.S_IRWXO


@pytest.fixture(autouse=True)
def _open_handed() -> Iterator[None]:
    """All may read a file that is made, unless the program says otherwise."""
    before = os.umask(0o000)
    yield
    os.umask(before)


def readable_by_others(folder: Path) -> list[str]:
    """What others may read in a folder; the folder itself too."""
    return [
        str(path.relative_to(folder.parent))
        for path in (folder, *folder.rglob("*"))
        if path.stat().st_mode & OTHERS
    ]


async def fill(folder: Path) -> SqliteTraceStore:
    """Indexes a course and stores a trace, whose log is still open."""
    write_course(folder.parent / "courses", "apple", lessons=2)
    index_paths([folder.parent / "courses"], folder, HashingEmbedder())
    store = SqliteTraceStore.open(folder)
    await store.append("q1", 0, placed("q1", answered("a", "b")))
    return store


async def test_nobody_else_may_read_what_is_indexed_or_asked(tmp_path: Path) -> None:
    folder = tmp_path / "data"

    store = await fill(folder)

    assert readable_by_others(folder) == []
    assert len(list(folder.rglob("*"))) > 8
    await store.close()


async def test_a_data_folder_that_was_open_to_all_is_closed_when_it_is_used(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "data"
    await (await fill(folder)).close()
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o644)

    Library.open(folder, HashingEmbedder()).close()
    store = SqliteTraceStore.open(folder)

    assert readable_by_others(folder) == []
    await store.close()


async def test_a_folder_that_is_worked_in_keeps_its_rights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    project.chmod(0o755)
    monkeypatch.chdir(project / "src")

    store = SqliteTraceStore.open(project)

    assert stat.S_IMODE(project.stat().st_mode) == 0o755
    assert stat.S_IMODE((project / "traces.sqlite").stat().st_mode) == 0o600
    await store.close()


async def test_a_folder_for_everybody_keeps_its_rights(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)

    store = SqliteTraceStore.open(shared)

    assert stat.S_IMODE(shared.stat().st_mode) == 0o1777
    await store.close()
