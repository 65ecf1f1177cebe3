"""The command on a disk that is really full: a small one of its own, which needs the right to mount one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.course_files import write_course
from tests.e2e.conftest import ROOT, environment

MOUNT = ["unshare", "--map-root-user", "--mount"]
FULL = "the disk is full: free some space, or name a folder on another disk"


def _may_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    tried = subprocess.run(
        [*MOUNT, "mount", "-t", "tmpfs", "none", "/tmp"],
        capture_output=True,
        check=False,
    )
    return tried.returncode == 0


needs_a_mount = pytest.mark.skipif(not _may_mount(), reason="no right to mount a disk")


def on_a_disk_of(
    size: str, disk: Path, script: str
) -> subprocess.CompletedProcess[str]:
    """Runs a script of the shell, to which `$disk` is an empty disk and `$antiphon` the command."""
    disk.mkdir()
    return subprocess.run(
        [*MOUNT, "sh", "-c", f"mount -t tmpfs -o size={size} none $disk && {script}"],
        env=environment(disk / "data")
        | {"disk": str(disk), "antiphon": f"{sys.executable} -m antiphon.cli"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@needs_a_mount
# In the catalogue; in the vectors or what is written last.
@pytest.mark.parametrize("size", ["200k", "4m"])
def test_an_index_that_finds_no_room_says_so_and_advises_no_rebuild(
    tmp_path: Path, size: str
) -> None:
    write_course(tmp_path, "plum", lessons=1)

    run = on_a_disk_of(size, tmp_path / "disk", f"$antiphon index {tmp_path}/plum.txt")

    assert run.returncode == 1
    assert FULL in run.stderr, run.stderr
    assert "--rebuild" not in run.stderr


@needs_a_mount
@pytest.mark.parametrize(
    "command", ["index {courses}", "courses remove 'The Apple Course'"]
)
def test_a_change_that_finds_no_room_leaves_the_index_in_use(
    data_dir: Path, tmp_path: Path, command: str
) -> None:
    write_course(tmp_path, "plum", lessons=1)
    changing = command.format(courses=tmp_path / "plum.txt")

    run = on_a_disk_of(
        "60m",
        tmp_path / "disk",
        f"cp -r {data_dir} $disk/data && cat /dev/zero > $disk/filled;"
        f"$antiphon {changing}; echo $?; $antiphon courses",
    )

    code, *courses = run.stdout.splitlines()
    assert code == "1"
    assert FULL in run.stderr, run.stderr
    assert "The Apple Course" in "\n".join(courses)
