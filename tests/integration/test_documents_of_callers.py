"""Documents that callers add, through the process that indexes them; and what is left if it fails."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import io
import os
import shutil
import signal
import stat
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest

from antiphon.knowledge.generations import Generations
from antiphon.service import (
    Documents,
    Job,
    SentFile,
    Settings,
    document_paths,
    embedder_of,
    index_paths,
)
from antiphon.service.lesson_texts import text_stretch
from antiphon.service.uploads import FileResult, Upload
from antiphon.vocabulary.errors import BadInputError, KnowledgeError, NotFoundError
from tests.course_files import write_course

TIDES = b"Course Title: Tides\nLesson 1: Spring tides\nA spring tide is a tide of the greatest range.\n"
WINDS = b"Course Title: Winds\nLesson 1: Trade winds\nA trade wind blows toward the equator.\n"


def sent(name: str, content: bytes) -> SentFile:
    return SentFile(name=name, content=io.BytesIO(content))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.model_construct(data_dir=tmp_path / "data", embedder="onnx")


def documents(settings: Settings) -> Documents:
    """The documents of a service whose library nobody holds open."""
    return Documents(settings, lambda: None)


async def to_the_end(jobs: Documents, job: Job) -> list[Job]:
    """Every state of a job."""
    return [state async for state in jobs.follow(job.job_id)]


async def test_what_can_be_read_is_indexed_and_the_rest_is_refused_with_the_reason(
    settings: Settings,
) -> None:
    jobs = documents(settings)

    job = await jobs.add(
        [sent("a/tides.txt", TIDES), sent("b.pdf", b"%PDF no"), sent("c.png", b"")]
    )
    states = await to_the_end(jobs, job)

    last = states[-1]
    assert [each.name for each in job.files] == ["c.png"]
    assert [(each.name, each.status) for each in last.files] == [
        ("a/tides.txt", "added"),
        ("b.pdf", "refused"),
        ("c.png", "refused"),
    ]
    assert {"running", "done"} <= {state.state for state in states}
    assert list(document_paths(settings.data_dir)) == ["Tides"]
    kept = settings.data_dir / "documents"
    assert [path.name for path in kept.rglob("*.*")] == ["tides.txt"]
    assert list((settings.data_dir / ".incoming").iterdir()) == []


async def test_the_text_of_a_lesson_is_read_as_it_is_indexed(
    settings: Settings,
) -> None:
    jobs = documents(settings)
    await to_the_end(jobs, await jobs.add([sent("a/tides.txt", TIDES)]))

    whole = text_stretch(settings.data_dir, "Tides", 1, 0, 10_000)
    part = text_stretch(settings.data_dir, "Tides", 1, 2, 7)

    assert (whole.file, whole.length) == ("tides.txt", len(whole.text))
    assert part.text == whole.text[2:9]
    assert whole.sha256 == hashlib.sha256(whole.text.encode()).hexdigest()
    with pytest.raises(NotFoundError):
        text_stretch(settings.data_dir, "Tides", 9, 0, 10)
    with pytest.raises(BadInputError):
        text_stretch(settings.data_dir, "Tides", 1, 10, 0)


async def test_jobs_are_done_one_after_another_and_a_course_is_removed_with_its_file(
    settings: Settings,
) -> None:
    jobs = documents(settings)
    first = await jobs.add([sent("tides.txt", TIDES)])
    second = await jobs.add([sent("winds.txt", WINDS)])
    await to_the_end(jobs, first)
    await to_the_end(jobs, second)

    removed = await to_the_end(jobs, await jobs.remove("Tides"))
    with pytest.raises(NotFoundError):
        await jobs.remove("Tides")
    again = await to_the_end(jobs, await jobs.add([sent("winds.txt", WINDS)]))

    assert removed[-1].state == "done"
    assert list(document_paths(settings.data_dir)) == ["Winds"]
    assert not (settings.data_dir / "documents" / "tides.txt").exists()
    assert again[-1].files[0].status == "unchanged"


async def test_a_course_from_elsewhere_is_removed_and_its_file_stays(
    settings: Settings, tmp_path: Path
) -> None:
    path = write_course(tmp_path / "mine", "apple")
    index_paths([path], settings.data_dir, embedder_of(settings))
    jobs = documents(settings)

    states = await to_the_end(jobs, await jobs.remove("The Apple Course"))

    assert states[-1].state == "done"
    assert document_paths(settings.data_dir) == {}
    assert path.exists()


async def test_while_another_indexes_a_job_fails_with_a_sentence_and_keeps_nothing(
    settings: Settings,
) -> None:
    jobs = documents(settings)

    with Generations(settings.data_dir).locked():
        states = await to_the_end(jobs, await jobs.add([sent("tides.txt", TIDES)]))

    assert states[-1].state == "failed"
    assert "index" in (states[-1].error or "")
    assert list((settings.data_dir / "documents").iterdir()) == []


def kill_worker() -> None:
    """Kills the process that indexes for this one."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            parent = (folder / "stat").read_text().rpartition(") ")[2].split()[1]
        except OSError:
            continue
        if (
            b"antiphon.service.indexing_worker" in command
            and int(parent) == os.getpid()
        ):
            os.kill(int(folder.name), signal.SIGKILL)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
async def test_if_the_process_is_killed_the_file_before_returns(
    settings: Settings,
) -> None:
    jobs = documents(settings)
    await to_the_end(jobs, await jobs.add([sent("tides.txt", TIDES)]))

    job = await jobs.add([sent("tides.txt", WINDS), sent("more.txt", WINDS)])
    async for state in jobs.follow(job.job_id):
        if state.stage is not None:
            kill_worker()
    after = await to_the_end(jobs, await jobs.add([sent("winds.txt", WINDS)]))

    assert jobs.job(job.job_id).state == "failed"
    assert "ended before it was done" in (jobs.job(job.job_id).error or "")
    kept = settings.data_dir / "documents"
    assert (kept / "tides.txt").read_bytes() == TIDES
    assert not (kept / "more.txt").exists()
    assert after[-1].state == "done"
    assert sorted(document_paths(settings.data_dir)) == ["Tides", "Winds"]


async def test_a_service_that_closes_ends_its_job_and_tells_those_who_follow_it(
    settings: Settings,
) -> None:
    jobs = documents(settings)
    begun = [await jobs.add([sent(name, TIDES)]) for name in ("a.txt", "b.txt")]
    following = [asyncio.ensure_future(to_the_end(jobs, job)) for job in begun]

    await jobs.close()

    for each in following:
        assert (await each)[-1].state == "failed"
    assert list((settings.data_dir / "documents").glob("*")) == []
    assert list((settings.data_dir / ".incoming").iterdir()) == []


async def test_a_file_that_is_being_put_in_place_when_the_service_closes_is_taken_back(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, go_on = threading.Event(), threading.Event()
    place = Upload.place

    def slow_place(upload: Upload) -> None:
        reached.set()
        go_on.wait()
        place(upload)

    monkeypatch.setattr(Upload, "place", slow_place)
    jobs = documents(settings)
    job = await jobs.add([sent("a.txt", TIDES)])
    await asyncio.to_thread(reached.wait)

    closing = asyncio.ensure_future(jobs.close())
    closed, _ = await asyncio.wait([closing], timeout=0.05)
    go_on.set()
    await closing

    assert not closed
    assert jobs.job(job.job_id).state == "failed"
    assert list((settings.data_dir / "documents").glob("*")) == []


async def test_once_the_index_has_changed_a_job_is_done_though_the_service_closes(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, go_on = threading.Event(), threading.Event()
    results = Upload.results

    def slow_results(
        upload: Upload,
        failed: Iterable[tuple[str, str]],
        losses: Iterable[tuple[str, str]],
    ) -> tuple[FileResult, ...]:
        reached.set()
        go_on.wait()
        return results(upload, failed, losses)

    monkeypatch.setattr(Upload, "results", slow_results)
    jobs = documents(settings)
    job = await jobs.add([sent("tides.txt", TIDES)])
    await asyncio.to_thread(reached.wait)

    closing = asyncio.ensure_future(jobs.close())
    await asyncio.wait([closing], timeout=0.05)
    go_on.set()
    await closing

    assert jobs.job(job.job_id).state == "done"
    assert (settings.data_dir / "documents" / "tides.txt").read_bytes() == TIDES
    assert sorted(document_paths(settings.data_dir)) == ["Tides"]


async def test_no_other_user_of_the_machine_may_read_what_callers_add(
    settings: Settings,
) -> None:
    before = os.umask(0o000)
    try:
        jobs = documents(settings)
        await to_the_end(jobs, await jobs.add([sent("a/b/tides.txt", TIDES)]))
    finally:
        os.umask(before)

    others = stat.S_IRWXG | stat.S_IRWXO
    folder = settings.data_dir
    assert [
        path for path in (folder, *folder.rglob("*")) if path.stat().st_mode & others
    ] == []


def _left_behind(settings: Settings) -> Path:
    """The folder of the one job that is kept aside."""
    [folder] = (settings.data_dir / ".incoming").iterdir()
    return folder


async def test_files_that_were_accepted_are_indexed_though_the_process_dies(
    settings: Settings, tmp_path: Path
) -> None:
    jobs = documents(settings)
    begun = await jobs.add([sent("tides.txt", TIDES), sent("song.mp3", b"la")])
    # What a process that is killed at this moment leaves behind.
    shutil.copytree(_left_behind(settings), tmp_path / "left" / begun.job_id)
    await jobs.close()
    shutil.copytree(
        tmp_path / "left", settings.data_dir / ".incoming", dirs_exist_ok=True
    )

    again = documents(settings)
    await again.resume()
    states = await to_the_end(again, again.job(begun.job_id))

    assert states[-1].state == "done"
    assert [each.status for each in states[-1].files] == ["added", "refused"]
    assert sorted(document_paths(settings.data_dir)) == ["Tides"]
    assert list((settings.data_dir / ".incoming").iterdir()) == []


async def test_a_job_that_another_process_works_on_is_left_to_it(
    settings: Settings,
) -> None:
    jobs, other = documents(settings), documents(settings)
    begun = await jobs.add([sent("tides.txt", TIDES)])

    await other.resume()
    states = await to_the_end(jobs, begun)

    with pytest.raises(NotFoundError):
        other.job(begun.job_id)
    assert states[-1].state == "done"


async def test_a_job_that_cannot_be_stored_is_not_accepted(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    jobs = documents(settings)
    monkeypatch.setattr(Path, "rename", refuse)

    with pytest.raises(KnowledgeError, match="No space left on device"):
        await jobs.add([sent("tides.txt", TIDES)])

    assert list((settings.data_dir / ".incoming").iterdir()) == []
