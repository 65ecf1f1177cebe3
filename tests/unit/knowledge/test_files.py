"""Which files a path means."""

from __future__ import annotations

from pathlib import Path

from antiphon.knowledge.files import find_files, is_under


def test_a_folder_means_its_scripts_hidden_and_other_files_left_out(tmp_path: Path) -> None:
    for name in ("a.txt", "sub/b.MD", "c.pdf", ".hidden.txt", ".git/d.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")

    found = find_files([tmp_path], [])

    assert found.files == (str(tmp_path / "a.txt"), str(tmp_path / "sub/b.MD"))


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/key.txt").write_text("x")
    (tmp_path / "courses").mkdir()
    (tmp_path / "courses/key.txt").symlink_to(tmp_path / "secret/key.txt")
    (tmp_path / "courses/all").symlink_to(tmp_path / "secret")

    assert find_files([tmp_path / "courses"], []).files == ()


def test_a_link_that_stays_in_the_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / ".data").mkdir()
    (tmp_path / ".data/a.txt").write_text("x")
    (tmp_path / "a.txt").symlink_to(".data/a.txt")

    assert find_files([tmp_path], []).files == (str(tmp_path / "a.txt"),)


def test_a_missing_path_is_a_failure_unless_documents_stood_there(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")

    assert find_files([gone], []).failed == ((gone, "there is no such file or folder"),)
    assert find_files([gone], [f"{gone}/a.txt"]).failed == ()


def test_a_folder_with_a_like_name_is_another_folder() -> None:
    assert is_under("/a/b/c", ["/a/b"])
    assert is_under("/a", ["/"])
    assert not is_under("/a/bc", ["/a/b"])
