"""Two hundred broken and hostile files: none hangs, crashes or bloats the process that indexes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from antiphon.knowledge import index_paths
from antiphon.knowledge.finding import find_files
from antiphon.knowledge.reading_process import ReadingProcess
from antiphon.knowledge.reading_worker import Limits
from antiphon.vocabulary.errors import DocumentError
from tests.course_files import write_course
from tests.fakes_knowledge import HashingEmbedder
from tests.hostile_files import COUNT, HostileFile, hostile_files, write_all

SEED = 20_261_122
# How much this process may grow while it reads them, and how long one file may take on a busy machine.
MOST_GROWTH_BYTES = 60_000_000
MOST_SECONDS = 60.0


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[HostileFile]]:
    folder = tmp_path_factory.mktemp("hostile")
    made = hostile_files(SEED)
    write_all(folder, made)
    return folder, made


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_two_hundred_hostile_files_are_read_or_named_with_a_reason(
    files: tuple[Path, list[HostileFile]],
) -> None:
    folder, made = files
    before = resident_bytes()
    reasons: dict[str, str] = {}
    slow: list[str] = []

    with ReadingProcess() as reader:
        for file in made:
            started = time.monotonic()
            try:
                reader.read(str(folder / file.name), None)
            except DocumentError as error:
                reasons[file.name] = error.reason
            if time.monotonic() - started > MOST_SECONDS:
                slow.append(file.name)
        grown = resident_bytes() - before

    expected = {file.name: file.reason for file in made if file.reason is not None}
    wrong = {
        name: reasons.get(name)
        for name, words in expected.items()
        if words not in reasons.get(name, "read") or name not in reasons
    }
    assert len(made) == COUNT
    assert wrong == {}
    assert all(reason.strip() for reason in reasons.values())
    assert slow == []
    assert grown < MOST_GROWTH_BYTES


def test_the_rest_of_a_folder_is_indexed_beside_a_bomb(
    files: tuple[Path, list[HostileFile]], tmp_path: Path
) -> None:
    courses = tmp_path / "courses"
    write_course(courses, "pear")
    shutil.copy(files[0] / "bomb.docx", courses)

    summary = index_paths([courses], tmp_path / "data", HashingEmbedder())

    assert summary.added == 1
    assert [Path(path).name for path, _ in summary.failed] == ["bomb.docx"]


def test_a_process_that_dies_of_a_file_is_replaced_for_the_next(tmp_path: Path) -> None:
    write_course(tmp_path, "pear")
    write_course(tmp_path, "plum")

    with ReadingProcess() as reader:
        reader.read(str(tmp_path / "pear.txt"), None)
        (worker,) = children(os.getpid())
        os.kill(worker, signal.SIGKILL)
        with pytest.raises(DocumentError, match="ended"):
            reader.read(str(tmp_path / "pear.txt"), None)
        found = reader.read(str(tmp_path / "plum.txt"), None).document

    assert found is not None
    assert found.title == "The Plum Course"


def test_a_file_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "long.md").write_text("*a_ " * 1_000_000)

    with (
        ReadingProcess(Limits(seconds=1.0)) as reader,
        pytest.raises(DocumentError, match="longer than 1 s"),
    ):
        reader.read(str(tmp_path / "long.md"), None)


def test_a_file_that_takes_too_much_memory_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "large.txt").write_text("Some words of a text.\n" * 2_000_000)

    with (
        ReadingProcess(Limits(memory_bytes=250_000_000)) as reader,
        pytest.raises(DocumentError, match="more than 250 MB of memory"),
    ):
        reader.read(str(tmp_path / "large.txt"), None)


def test_the_process_that_reads_knows_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_course(tmp_path, "pear")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")

    with ReadingProcess() as reader:
        reader.read(str(tmp_path / "pear.txt"), None)
        (worker,) = children(os.getpid())
        environment = Path(f"/proc/{worker}/environ").read_bytes()

    assert b"ANTHROPIC_API_KEY" not in environment


def children(process: int) -> list[int]:
    """The processes that this one started for reading."""
    listed = subprocess.run(
        # Lines in full: in a folder with a long name, `ps` would cut off the module.
        ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(process)],
        capture_output=True,
        text=True,
        check=True,
    )
    return [
        int(line.split()[0])
        for line in listed.stdout.splitlines()
        if "reading_worker" in line
    ]


def test_a_table_of_contents_that_takes_too_long_fails_its_folder_and_nothing_else(
    tmp_path: Path,
) -> None:
    # As much as is read of such a file.
    long = "nav:\n" + "- x: [{a: b}]\n" * 27_000
    for folder in ("bad", "good"):
        (tmp_path / folder).mkdir()
    (tmp_path / "bad" / "mkdocs.yml").write_text(long)
    (tmp_path / "bad" / "x.md").write_text("Text.")
    write_course(tmp_path / "good", "plum")

    with ReadingProcess(Limits(seconds=1.0)) as reader:
        found = find_files([tmp_path / "bad", tmp_path / "good"], (), reader.plan)

    [(path, reason)] = found.failed
    assert path == str(tmp_path / "bad")
    assert reason.startswith(
        "its layout cannot be determined: it takes longer than 1 s"
    )
    assert [Path(file).name for file in found.files] == ["plum.txt"]
