"""A copy of the source that a test may change and run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = [
    *(link.name for link in (ROOT / "antiphon").iterdir() if link.is_symlink()),
    "tests",
    "docs",
]


def copy_source(folder: Path) -> Path:
    """Copies the source into a folder, and returns that."""
    ignored = shutil.ignore_patterns("__pycache__", "corpus", "golden")
    shutil.copytree(
        ROOT / "antiphon", folder / "antiphon", symlinks=True, ignore=ignored
    )
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    return folder


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs Python on the copy."""
    environment = os.environ | {
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def change(path: Path, old: str, new: str) -> None:
    """Replaces a text that occurs once in a file."""
    text = path.read_text()
    assert text.count(old) == 1, f"{path.name} holds {old!r} {text.count(old)} times"
    path.write_text(text.replace(old, new))
