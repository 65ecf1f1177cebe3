"""Nothing indexed, the wrong folder, and courses that are to go: a sentence says so, and no answer is made up."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from tests.course_files import write_course
from tests.e2e.conftest import Antiphon, Run, Shell, serving

QUESTION = "What is applemailbox7 in the Apple course?"


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", QUESTION),
        ("ask", QUESTION, "--json"),
        ("compare", "--questions", "questions.txt"),
    ],
)
def test_a_question_without_an_index_is_refused_and_makes_no_folder(
    arguments: tuple[str, ...], shell: Shell, tmp_path: Path
) -> None:
    (tmp_path / "questions.txt").write_text(QUESTION)

    run = shell.run(*arguments, data_dir=tmp_path / "dta", folder=tmp_path)

    assert (run.returncode, run.stdout) == (1, "")
    assert f"Nothing is indexed in {tmp_path / 'dta'}" in run.stderr
    assert "antiphon index" in run.stderr
    assert "--data-dir" in run.stderr
    assert not (tmp_path / "dta").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("traces", "show", "abc"),
        ("traces", "replay", "--all"),
        ("traces", "prune", "--older-than-days", "0", "--yes"),
        ("traces", "delete", "abc", "--yes"),
        ("traces", "fork", "abc"),
        ("traces", "resume", "abc"),
    ],
)
def test_commands_on_traces_refuse_a_missing_data_folder_and_do_not_make_it(
    arguments: tuple[str, ...], shell: Shell, tmp_path: Path
) -> None:
    run = shell.run(*arguments, data_dir=tmp_path / "dta", folder=tmp_path)

    assert (run.returncode, run.stdout) == (1, "")
    assert f"There is no data folder {tmp_path / 'dta'}" in run.stderr
    assert not (tmp_path / "dta").exists()


def test_listing_traces_names_a_missing_data_folder_and_does_not_make_it(
    shell: Shell, tmp_path: Path
) -> None:
    run = shell.run("traces", "list", data_dir=tmp_path / "dta", folder=tmp_path)

    assert run.returncode == 0
    assert f"There is no data folder {tmp_path / 'dta'}" in run.stdout
    assert not (tmp_path / "dta").exists()


def test_a_service_without_an_index_says_so_at_once_and_to_every_caller(
    tmp_path: Path,
) -> None:
    with serving(tmp_path / "data", tmp_path) as server:
        with httpx2.Client(base_url=server.url) as client:
            answer = client.post("/api/query", json={"query": QUESTION})
            ready = client.get("/readyz")
        server.stop()

    assert (answer.status_code, ready.status_code) == (503, 503)
    assert answer.json()["error"]["message"] == ready.json()["problems"][0]
    assert "antiphon index" in answer.json()["error"]["message"]
    assert "Nothing is indexed yet" in "".join(server.said)


class Library:
    """Two folders of documents, and the commands over them."""

    def __init__(self, shell: Shell, folder: Path) -> None:
        self._shell, self._folder = shell, folder
        write_course(folder / "samples", "plum", lessons=2)
        write_course(folder / "own", "quince", lessons=2)
        assert self("index", "samples", "own").returncode == 0

    def __call__(self, *arguments: str, **settings: str) -> Run:
        return self._shell.run(
            *arguments, data_dir=self._folder / "data", folder=self._folder, **settings
        )

    def titles(self) -> set[str]:
        listed = self("courses").stdout
        return {title for title in ("Plum", "Quince") if f"The {title} C" in listed}


@pytest.fixture
def library(shell: Shell, tmp_path: Path) -> Library:
    return Library(shell, tmp_path)


def test_a_course_that_is_removed_is_no_longer_found(library: Library) -> None:
    asked = ("ask", "What is plummailbox1 in the Plum course?")
    before = library(*asked)

    removed = library("courses", "remove", "the plum COURSE")

    assert removed.returncode == 0, removed.stderr
    assert library.titles() == {"Quince"}
    assert "The Plum Course" in before.stdout
    assert "The Plum Course" not in library(*asked).stdout
    assert "quincemailbox1" in library("ask", "What is quincemailbox1?").stdout


def test_a_course_that_is_not_there_is_not_removed_and_the_nearest_is_named(
    library: Library,
) -> None:
    run = library("courses", "remove", "The Plumb Course")

    assert run.returncode == 1
    assert "did you mean 'The Plum Course'?" in run.stderr
    assert library.titles() == {"Plum", "Quince"}


def test_index_only_drops_the_courses_from_elsewhere(library: Library) -> None:
    run = library("index", "--only", "own")

    assert run.returncode == 0, run.stderr
    assert library.titles() == {"Quince"}


@pytest.mark.parametrize("path", ["onw", "empty", "own/quince.txt nowhere"])
def test_index_only_never_empties_the_library_by_a_mistake(
    path: str, library: Library, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()

    run = library("index", "--only", *path.split())

    assert run.returncode == 1
    assert "nothing was removed" in run.stderr
    assert library.titles() == {"Plum", "Quince"}


def test_indexing_a_folder_without_documents_fails(
    library: Library, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "slides.key").write_bytes(b"PK")

    run = library("index", "empty")

    assert run.returncode == 1
    assert "none of its files is in a format that can be read: 1 .key" in run.stderr


def test_deleting_traces_asks_first_and_nobody_there_means_no(
    antiphon: Antiphon,
) -> None:
    antiphon("ask", QUESTION)
    before = antiphon("traces", "list").stdout
    newest = before.splitlines()[1].split("\t")[0]

    refused = [
        antiphon("traces", "delete", newest[:6]),
        antiphon("traces", "prune", "--older-than-days", "0"),
        antiphon("traces", "prune", "--most-mb", "0"),
    ]

    for run in refused:
        assert run.returncode == 1
        assert "--yes" in run.stderr
        assert newest in run.stderr
    assert antiphon("traces", "list").stdout == before
    assert antiphon("traces", "delete", newest, "--yes").stdout == "1 deleted\n"
    assert newest not in antiphon("traces", "list").stdout


def test_the_command_names_the_nearest_setting_for_an_unknown_one(
    antiphon: Antiphon, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("antiphon_dedline_s=3\n")

    run = antiphon("courses", ANTIPHON_MAX_ROUND="1")

    assert run.returncode == 0
    assert "did you mean ANTIPHON_MAX_ROUNDS?" in run.stderr
    assert "did you mean ANTIPHON_DEADLINE_S?" in run.stderr


def test_an_env_file_that_cannot_be_read_is_one_sentence(
    antiphon: Antiphon, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_bytes("ANTIPHON_PORT=1".encode("utf-16"))

    run = antiphon("courses")

    assert run.returncode == 1
    assert run.stderr == (
        "antiphon: .env is not text in UTF-8: save it as UTF-8, not as UTF-16 or in another encoding.\n"
    )
