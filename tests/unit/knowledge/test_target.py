"""What the next generation is to hold."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from antiphon.knowledge.finding import find_files, is_under
from antiphon.knowledge.loading import content_hash, stamp_of
from antiphon.knowledge.target import Target, set_target
from antiphon.knowledge.values import KnownDocument
from tests.fakes_knowledge import ReadHere


def write(path: Path, title: str, text: str = "Text.") -> str:
    path.write_text(f"Course Title: {title}\n\n{text}")
    return str(path)


def known(path: str, title: str) -> KnownDocument:
    return KnownDocument(
        content_hash=content_hash(Path(path).read_bytes()), title=title
    )


def target(folder: Path, documents: dict[str, KnownDocument]) -> Target:
    return set_target(find_files([folder], documents), documents, ReadHere())


def test_files_are_added_changed_kept_and_removed(tmp_path: Path) -> None:
    new, same, other = (
        write(tmp_path / f"{name}.txt", name) for name in ("new", "same", "other")
    )
    old = KnownDocument(content_hash="x", title="other")

    found = target(
        tmp_path, {same: known(same, "same"), other: old, f"{tmp_path}/gone.txt": old}
    )

    assert (found.added, found.unchanged, found.changed, found.removed) == (1, 1, 1, 1)
    assert found.fresh == {new, other}
    assert set(found.hashes) == {new, same, other}


def test_documents_from_elsewhere_stay(tmp_path: Path) -> None:
    elsewhere = {"/elsewhere/a.txt": KnownDocument(content_hash="x", title="a")}

    found = target(tmp_path, elsewhere)

    assert set(found.hashes) == set(elsewhere)
    assert not found.differs


def test_of_two_courses_of_one_title_the_second_says_which_it_is(
    tmp_path: Path,
) -> None:
    first, second = (
        write(tmp_path / "a.txt", "Same Title"),
        write(tmp_path / "b.txt", "same title", "Other."),
    )
    reader = ReadHere()

    found = set_target(find_files([tmp_path], {}), {}, reader)

    assert set(found.hashes) == {first, second}
    assert reader.document(first).title == "Same Title"
    assert reader.document(second).title == "same title (b)"


def test_files_of_the_same_name_in_several_folders_are_named_after_both(
    tmp_path: Path,
) -> None:
    paths = []
    for week in ("week 1", "week 2"):
        (tmp_path / week).mkdir()
        (tmp_path / week / "notes.txt").write_text(f"What {week} brought.")
        paths.append(str(tmp_path / week / "notes.txt"))
    reader = ReadHere()

    set_target(find_files([tmp_path], {}), {}, reader)

    titles = [reader.document(path).title for path in paths]
    assert titles == ["notes (week 1)", "notes (week 2)"]


def two_weeks(folder: Path) -> dict[str, KnownDocument]:
    """Indexes two files of the same name."""
    before = {}
    for week in ("week 1", "week 2"):
        (folder / week).mkdir()
        path = folder / week / "notes.txt"
        path.write_text(f"What {week} brought.")
        before[str(path)] = known(str(path), f"notes ({week})")
    return before


def test_titles_stay_when_their_files_change(tmp_path: Path) -> None:
    before = two_weeks(tmp_path)
    first, second = before
    # The first was alone when it was indexed.
    before[first] = known(first, "notes")
    Path(first).write_text("Other words.")
    Path(second).write_text("And others.")
    reader = ReadHere()

    set_target(find_files([tmp_path], before), before, reader)

    titles = [reader.document(path).title for path in before]
    assert titles == ["notes", "notes (week 2)"]


def test_a_file_that_moves_is_told_apart_from_those_that_stay(tmp_path: Path) -> None:
    before = two_weeks(tmp_path)
    (tmp_path / "week 2").rename(tmp_path / "week two")
    reader = ReadHere()

    set_target(find_files([tmp_path], before), before, reader)

    moved = reader.document(str(tmp_path / "week two" / "notes.txt"))
    assert moved.title == "notes (week two)"


def test_files_of_one_name_in_one_folder_are_told_apart_by_their_endings(
    tmp_path: Path,
) -> None:
    paths = [str(tmp_path / name) for name in ("talk.md", "talk.txt")]
    for path in paths:
        Path(path).write_text(f"What {path} says.")
    reader = ReadHere()

    set_target(find_files([tmp_path], {}), {}, reader)

    titles = [reader.document(path).title for path in paths]
    assert titles == ["talk (talk.md)", "talk (talk.txt)"]


def test_a_copy_of_a_course_is_refused_and_both_are_named(tmp_path: Path) -> None:
    first = write(tmp_path / "a.txt", "Same")
    second = write(tmp_path / "b.txt", "Same")

    found = target(tmp_path, {})

    assert set(found.hashes) == {first}
    assert found.failed == ((second, f"it is a copy of {first}"),)


def test_a_failed_file_does_not_make_a_difference_again_and_again(
    tmp_path: Path,
) -> None:
    first = write(tmp_path / "a.txt", "Same")
    write(tmp_path / "b.txt", "Same")
    (tmp_path / "c.txt").write_bytes(b"\0")

    found = target(tmp_path, {first: known(first, "Same")})

    assert not found.differs
    assert len(found.failed) == 2


def test_a_file_of_the_same_size_and_times_is_not_read_again(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "A")
    other = write(tmp_path / "b.txt", "B")
    documents = {
        path: KnownDocument(content_hash="x", title="A", stamp=stamp_of(path)),
        other: KnownDocument(content_hash="x", title="B", stamp="another"),
    }
    reader = ReadHere()

    found = set_target(find_files([tmp_path], documents), documents, reader)

    assert reader.asked == [other]
    assert (found.unchanged, found.changed) == (1, 1)


def test_two_files_may_swap_their_titles(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a.txt", "B"), write(tmp_path / "b.txt", "A")
    old = {
        first: KnownDocument(content_hash="x", title="A"),
        second: KnownDocument(content_hash="y", title="B"),
    }

    found = target(tmp_path, old)

    assert found.fresh == {first, second}
    assert found.failed == ()


def test_a_file_that_became_unreadable_keeps_what_was_indexed(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\0")

    found = target(tmp_path, {str(path): KnownDocument(content_hash="x", title="A")})

    assert found.hashes == {str(path): "x"}
    assert not found.differs


def test_a_file_that_moved_takes_its_title_along(tmp_path: Path) -> None:
    moved = write(tmp_path / "new.txt", "A")
    gone = "/elsewhere/that/is/gone.txt"

    found = target(tmp_path, {gone: KnownDocument(content_hash="x", title="A")})

    assert set(found.hashes) == {moved}
    assert (found.added, found.removed) == (1, 1)


def test_a_folder_means_its_scripts_hidden_and_other_files_left_out(
    tmp_path: Path,
) -> None:
    for name in ("a.txt", "sub/b.MD", "c.key", ".hidden.txt", ".git/d.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")

    found = find_files([tmp_path], [])

    assert found.files == (str(tmp_path / "a.txt"), str(tmp_path / "sub/b.MD"))
    assert found.skipped == (str(tmp_path / "c.key"),)


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


def test_a_missing_path_is_a_failure_unless_documents_stood_there(
    tmp_path: Path,
) -> None:
    gone = str(tmp_path / "gone")

    assert find_files([gone], []).failed == ((gone, "there is no such file or folder"),)
    assert find_files([gone], [f"{gone}/a.txt"]).failed == ()


def test_a_folder_with_a_like_name_is_another_folder() -> None:
    assert is_under("/a/b/c", ["/a/b"])
    assert is_under("/a", ["/"])
    assert not is_under("/a/bc", ["/a/b"])


def test_a_path_that_is_no_utf_8_fails_alone_wherever_the_bytes_stand(
    tmp_path: Path,
) -> None:
    sound = write(tmp_path / "sound.txt", "sound")
    (tmp_path / os.fsdecode(b"caf\xe9")).mkdir()
    in_folder = tmp_path / os.fsdecode(b"caf\xe9") / "a.txt"
    by_name = tmp_path / os.fsdecode(b"na\xefve.txt")
    try:
        in_folder.write_text("Course Title: b\n\nText.")
        by_name.write_text("Course Title: c\n\nText.")
    except OSError:
        pytest.skip("this file system takes no such names")

    found = target(tmp_path, {})
    named = find_files([by_name], {})

    assert set(found.hashes) == {sound}
    assert {path for path, _ in found.failed} == {str(in_folder), str(by_name)}
    assert all("UTF-8; rename it" in reason for _, reason in found.failed)
    assert (named.files, named.failed[0][0]) == ((), str(by_name))
