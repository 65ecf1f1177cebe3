"""An indexer killed in the middle, for real."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from antiphon.knowledge import IndexProgress, Library, index_paths
from antiphon.knowledge.generations import Generations
from tests.course_files import write_course
from tests.fakes_knowledge import HashingEmbedder

NAMES = ("apple", "pear", "plum", "quince")
INDEXER = """
import sys
from pathlib import Path
from antiphon.knowledge import index_paths
from tests.fakes_knowledge import HashingEmbedder

def told(progress):
    print(progress.stage, progress.done, flush=True)
    if [progress.stage, str(progress.done)] == sys.argv[3:]:
        sys.stdin.read()

index_paths([sys.argv[1]], Path(sys.argv[2]), HashingEmbedder(), progress=told)
"""


def kill_at(courses: Path, data: Path, stage: str, done: int) -> None:
    """Runs the indexer in its own process up to a point, and kills it there."""
    command = [sys.executable, "-c", INDEXER, str(courses), str(data), stage, str(done)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert any(line.split() == [stage, str(done)] for line in process.stdout)
        os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("stage", "done", "left"),
    [("documents", 0, 4), ("documents", 2, 2), ("vectors", 0, 0)],
)
def test_the_next_run_continues_a_killed_one_and_nothing_is_lost(
    tmp_path: Path, stage: str, done: int, left: int
) -> None:
    for name in NAMES:
        write_course(tmp_path / "courses", name)
    data = tmp_path / "data"
    kill_at(tmp_path / "courses", data, stage, done)
    told: list[IndexProgress] = []

    summary = index_paths(
        [tmp_path / "courses"], data, HashingEmbedder(), progress=told.append
    )

    assert (summary.added, summary.generation) == (4, 1)
    stored = [one.path for one in told if one.path and one.stage == "documents"]
    assert len(set(stored)) == left
    library = Library.open(data, HashingEmbedder())
    assert [library.search(f"{name}ranking7")[0].course for name in NAMES] == [
        f"The {n.title()} Course" for n in NAMES
    ]
    library.close()


def test_a_run_that_ended_in_the_middle_of_a_document_continues_there(
    tmp_path: Path,
) -> None:
    text = " ".join(f"Apple {number} is the next one." for number in range(2_500))
    path = tmp_path / "apples.txt"
    path.write_text(text)
    data = tmp_path / "data"
    embedded: list[str] = []

    def fail(texts: Sequence[str]) -> None:
        if len(embedded) > 1_500:
            raise MemoryError
        embedded.extend(texts)

    with pytest.raises(MemoryError):
        index_paths([path], data, HashingEmbedder(before=fail))
    embedder = HashingEmbedder()
    index_paths([path], data, embedder)

    # Only what was embedded since the last save is embedded again.
    assert len(set(embedder.embedded) & set(embedded)) < 600
    assert len(set(embedder.embedded) | set(embedded)) >= 2_500


def test_what_is_in_use_stays_in_use_when_the_next_run_is_killed(
    tmp_path: Path,
) -> None:
    write_course(tmp_path / "courses", "apple")
    data = tmp_path / "data"
    index_paths([tmp_path / "courses"], data, HashingEmbedder())
    write_course(tmp_path / "courses", "pear")
    kill_at(tmp_path / "courses", data, "vectors", 0)

    library = Library.open(data, HashingEmbedder())

    assert [course.title for course in library.courses()] == ["The Apple Course"]
    index_paths([tmp_path / "courses"], data, HashingEmbedder())
    assert library.refresh()
    assert len(library.courses()) == 2
    library.close()


def test_a_run_killed_between_its_end_and_the_switch_is_not_done_again(
    tmp_path: Path,
) -> None:
    write_course(tmp_path / "courses", "apple")
    data = tmp_path / "data"
    index_paths([tmp_path / "courses"], data, HashingEmbedder())
    (Generations(data).root / "current").unlink()
    embedder = HashingEmbedder()

    summary = index_paths([tmp_path / "courses"], data, embedder)

    assert (summary.added, summary.generation) == (1, 1)
    assert embedder.embedded == []
