"""What `antiphon index` says of files that it could not use."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.cli.index import show_summary
from antiphon.knowledge import index_paths
from tests.fakes_knowledge import HashingEmbedder


def test_files_that_cannot_be_used_for_one_reason_are_named_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "notes"
    (folder / "more").mkdir(parents=True)
    (folder / "log.md").write_text("# Logs\n\nA log is kept.\n")
    (folder / "bad.pdf").write_bytes(b"no PDF")
    for name in "abcdefg":
        (folder / f"more/{name}.md").touch()

    show_summary(index_paths([folder], tmp_path / "data", HashingEmbedder()))

    said = [
        line for line in capsys.readouterr().err.splitlines() if "not indexed" in line
    ]
    named = "a.md, b.md, c.md, d.md, e.md and 2 more"
    assert said[0].startswith(f"not indexed: {folder}/bad.pdf: ")
    assert said[1:] == [f"not indexed: {named} in {folder}/more: it is empty"]
