"""The `antiphon` command on real parts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.course_files import write_course
from tests.e2e.conftest import (
    ROOT,
    Antiphon,
    Server,
    Shell,
    environment,
    serving,
    without_traces,
)

QUESTION = "What is applemailbox7 in the Apple course?"


def test_ask_prints_the_answer_and_shows_beside_it_how_it_was_worked_out(
    antiphon: Antiphon,
) -> None:
    run = antiphon("ask", QUESTION)

    assert run.returncode == 0, run.stderr
    assert "applemailbox7" in run.stdout
    assert "[1] The Apple Course - Lesson 1  https://example.org/apple/1" in run.stdout
    assert "search_course_content" in run.stderr
    assert "antiphon traces show" in run.stderr


def test_ask_prints_json_for_programs_and_a_trace_can_be_shown(
    antiphon: Antiphon,
) -> None:
    answer = json.loads(antiphon("ask", QUESTION, "--json").stdout)
    query_id = answer["query_id"]

    shown = antiphon("traces", "show", query_id[:10])
    whole = antiphon("traces", "show", query_id, "--json")
    listed = antiphon("traces", "list")

    assert answer["answer"].splitlines()[0] in shown.stdout
    assert "query_received" in shown.stdout
    events = [json.loads(line) for line in whole.stdout.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert query_id[:10] in listed.stdout


def test_the_memory_and_the_briefings_of_a_query_can_be_shown(
    antiphon: Antiphon,
) -> None:
    query_id = json.loads(antiphon("ask", QUESTION, "--json").stdout)["query_id"]

    early = json.loads(
        antiphon("traces", "memory", query_id, "--at", "3", "--json").stdout
    )
    late = antiphon("traces", "memory", query_id[:10])
    shown = antiphon("traces", "briefing", query_id[:10])

    assert (early["at"], early["facts"]) == (3, [])
    assert "reached: The Apple Course, lesson 1" in late.stdout
    assert "served by" in late.stdout
    assert "came" in shown.stdout


def test_search_shows_the_passages_and_says_what_is_not_there(
    antiphon: Antiphon,
) -> None:
    shown = antiphon("search", "applemailbox7", "--course", "apple", "--why")
    asked = ("search", "applemailbox7", "--course", "apple", "--lesson", "one")
    found = json.loads(antiphon(*asked, "--limit", "1", "--json").stdout)
    unknown = antiphon("search", "x", "--course", "Cooking")
    elsewhere = antiphon("search", "x", "--course", "apple", "--lesson", "12")

    header, first, *_ = shown.stdout.splitlines()
    assert header.split("\t") == ["Score", "Source", "Passage", "Link", "Why"]
    assert "applemailbox7" in first
    assert (found["course"], found["lesson"]) == ("The Apple Course", 1)
    assert [passage["lesson"] for passage in found["passages"]] == [1]
    assert (unknown.returncode, elsewhere.returncode) == (1, 1)
    assert "No course named 'Cooking'. The nearest are: " in unknown.stderr
    assert "No lesson 12 in 'The Apple Course': it has lessons 0 to" in (
        elsewhere.stderr
    )


def test_courses_are_listed(antiphon: Antiphon) -> None:
    run = antiphon("courses")

    assert "The Apple Course" in run.stdout
    assert "The Pear Course" in run.stdout


def test_a_course_is_shown_with_its_file_language_and_lessons(
    antiphon: Antiphon,
) -> None:
    shown = antiphon("courses", "show", "the apple course")
    unknown = antiphon("courses", "show", "The Aple Course")

    assert "File: " in shown.stdout
    assert "Language: English" in shown.stdout
    assert "   1  " in shown.stdout
    assert unknown.returncode == 1
    assert "did you mean 'The Apple Course'?" in unknown.stderr


def test_the_doctor_finds_nothing_wrong_with_a_sound_installation(
    antiphon: Antiphon,
) -> None:
    run = antiphon("doctor", ANTIPHON_PORT="0")

    assert (run.returncode, "✗" in run.stdout) == (0, False), run.stdout


def test_the_doctor_says_what_to_do_about_what_is_wrong(
    shell: Shell, tmp_path: Path
) -> None:
    run = shell.run(
        "doctor", data_dir=tmp_path / "data", folder=tmp_path, ANTIPHON_PORT="0"
    )

    assert run.returncode == 1
    assert "✗ Index" in run.stdout
    assert "antiphon index" in run.stdout


def test_a_file_that_cannot_be_indexed_is_named_and_the_others_are_indexed(
    shell: Shell, tmp_path: Path
) -> None:
    write_course(tmp_path / "courses", "plum", lessons=1)
    (tmp_path / "courses" / "picture.txt").write_bytes(
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40
    )

    run = shell.run("index", "courses", data_dir=tmp_path / "data", folder=tmp_path)

    assert run.returncode == 0
    assert "picture.txt" in run.stderr
    assert "Traceback" not in run.stderr
    assert (
        "The Plum Course"
        in shell.run("courses", data_dir=tmp_path / "data", folder=tmp_path).stdout
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("courses",), 0),
        (("courses", "--strict"), 1),
        (("courses/plum.txt", "courses/empty.txt"), 1),
        (("courses", "nowhere"), 1),
        (("nothing",), 1),
    ],
)
def test_a_broken_file_in_a_folder_is_named_and_one_that_was_asked_for_fails(
    shell: Shell, tmp_path: Path, arguments: tuple[str, ...], code: int
) -> None:
    write_course(tmp_path / "courses", "plum", lessons=1)
    for folder in ("courses", "nothing"):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "empty.txt").touch()

    run = shell.run("index", *arguments, data_dir=tmp_path / "data", folder=tmp_path)

    assert run.returncode == code, run.stderr
    assert ("empty.txt" in run.stderr) or ("nowhere" in run.stderr)


def test_what_programs_put_beside_documents_is_neither_read_nor_reported(
    shell: Shell, tmp_path: Path
) -> None:
    write_course(tmp_path / "courses", "plum", lessons=1)
    for path in (
        "~$lesson.docx",
        ".~lock.lesson.odt#",
        ".DS_Store",
        "Thumbs.db",
        "desktop.ini",
        ".git/description.md",
        "__pycache__/notes.txt",
        "node_modules/left-pad/README.md",
        "venv/lib/site-packages/pip/notes.txt",
    ):
        (tmp_path / "courses" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "courses" / path).write_text("Written by no teacher.")

    run = shell.run("index", "courses", data_dir=tmp_path / "data", folder=tmp_path)
    shown = shell.run("courses", data_dir=tmp_path / "data", folder=tmp_path)

    assert "not indexed" not in run.stderr
    assert "not read" not in run.stderr
    assert shown.stdout.count("\n") == 2, shown.stdout


@pytest.mark.parametrize("name", ["node_modules", "~$lesson.md"])
def test_a_folder_that_is_named_is_read_no_matter_what_it_is_called(
    shell: Shell, tmp_path: Path, name: str
) -> None:
    write_course(tmp_path / name, "plum", lessons=1)

    run = shell.run("index", name, data_dir=tmp_path / "data", folder=tmp_path)

    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", ""),
        ("ask", "x", "--rounds", "9"),
        ("ask", "x", "--session", "a", "-c"),
        ("chat", "--deadline", "-1"),
        ("search", " "),
        ("search", "x" * 9_000),
        ("compare", "--questions", "nowhere"),
        ("compare", "--questions", ".", "--modes", "bogus"),
    ],
)
def test_the_command_names_a_mistyped_argument_before_a_missing_index(
    shell: Shell, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    run = shell.run(*arguments, data_dir=tmp_path / "data", folder=tmp_path)

    assert run.returncode == 1
    assert run.stderr.startswith("antiphon: ")
    assert "indexed" not in run.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("decoding", ["strict", "surrogateescape"])
@pytest.mark.parametrize("command", [["ask"], ["chat"], ["search", b"Wie gro\xdf?"]])
def test_a_question_that_is_not_in_utf_8_is_refused_with_how_to_convert_it(
    data_dir: Path, command: list[str | bytes], decoding: str
) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "antiphon.cli", *command],
        # Depending on the locale, Python reads such bytes as half characters or refuses them.
        env=environment(data_dir, PYTHONIOENCODING=f"utf-8:{decoding}"),
        cwd=ROOT,
        input=b"Wie gro\xdf ist es?\n",
        capture_output=True,
        check=False,
    )

    said = run.stderr.decode().splitlines()
    assert run.returncode == 1
    assert said[-1].startswith("antiphon: The question is not in UTF-8: convert it")
    assert not any("Traceback" in line for line in said)


@pytest.mark.parametrize(
    "damage", ["garbage", "cut", "empty", "gone", "pages", "current"]
)
def test_a_damaged_catalogue_says_that_documents_are_whole_and_what_mends_it(
    shell: Shell, data_dir: Path, tmp_path: Path, damage: str
) -> None:
    data = without_traces(data_dir, tmp_path)
    (folder,) = (data / "knowledge" / "generations").iterdir()
    catalogue = folder / "catalogue.sqlite"
    whole = catalogue.read_bytes()
    if damage == "current":
        (data / "knowledge" / "current").write_text("x")
    elif damage == "gone":
        catalogue.unlink()
    else:
        page = 4_096
        damaged = {
            "garbage": b"no database" * 1_000,
            "cut": whole[: 5 * page],
            "empty": b"",
            "pages": whole[:page] + b"\xff" * (len(whole) - page),
        }
        catalogue.write_bytes(damaged[damage])
    write_course(tmp_path / "courses", "plum", lessons=1)

    run = shell.run("search", "plums", data_dir=data, folder=tmp_path)
    mending = ["index", "--rebuild", "courses"]
    if damage == "current":
        (data / "knowledge").rename(tmp_path / "away")
        mending.remove("--rebuild")
    mended = shell.run(*mending, data_dir=data, folder=tmp_path)

    assert run.returncode == 1
    assert "documents themselves are as they were" in run.stderr
    assert f"antiphon {' '.join(mending[:-1])} PATH" in run.stderr
    assert mended.returncode == 0, mended.stderr
    assert shell.run("search", "plums", data_dir=data, folder=tmp_path).stdout


@pytest.mark.parametrize(
    ("arguments", "settings", "words"),
    [
        (("ask", " "), {}, "empty"),
        (("ask", "x", "--session", "nobody"), {}, "nobody"),
        (("ask", "x", "--rounds", "9"), {}, "max_rounds"),
        (("traces", "show", "nothing"), {}, "traces list"),
        (("serve",), {"ANTIPHON_PORT": "high"}, "ANTIPHON_PORT"),
        (
            ("ask", "x", "--reasoner", "claude"),
            {"ANTHROPIC_API_KEY": ""},
            "ANTHROPIC_API_KEY",
        ),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_exit_code_1(
    antiphon: Antiphon, arguments: tuple[str, ...], settings: dict[str, str], words: str
) -> None:
    run = antiphon(*arguments, **settings)

    assert run.returncode == 1, run.stderr
    assert run.stderr.startswith("antiphon: ")
    assert words in run.stderr
    assert "Traceback" not in run.stderr


def test_a_port_in_use_is_a_sentence(antiphon: Antiphon, server: Server) -> None:
    port = server.url.rpartition(":")[2]

    run = antiphon("serve", "--port", port)

    assert run.returncode == 1
    assert run.stderr.startswith(f"antiphon: Cannot listen on 127.0.0.1, port {port}")
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_server_in_order(
    data_dir: Path, tmp_path: Path, by: signal.Signals
) -> None:
    with serving(data_dir, tmp_path) as server:
        stopped = server.stop(by)

    # Not 130: Ctrl-C is how it is meant to end, and `make run` would call that an error.
    assert stopped == 0
    assert "Traceback" not in "".join(server.said)


def test_questions_are_compared_in_several_modes_and_each_run_is_a_trace(
    antiphon: Antiphon, tmp_path: Path
) -> None:
    file, page, data = (
        tmp_path / "questions.txt",
        tmp_path / "page.html",
        tmp_path / "data.json",
    )
    file.write_text(f"{QUESTION}\nWho won the World Cup in 1998?\n")

    run = antiphon(
        "compare",
        "--questions",
        str(file),
        "--html",
        str(page),
        "--json-file",
        str(data),
    )

    assert run.returncode == 0, run.stderr
    # No terminal is there: a line a row, with tabs between.
    answers = [line for line in run.stdout.splitlines() if line.startswith("answer\t")]
    assert [line.count("\t") for line in answers] == [3, 3]
    assert [line.partition(":")[0] for line in run.stdout.splitlines()[-3:]] == [
        "single",
        "transcript",
        "briefing",
    ]
    told = json.loads(data.read_text())
    first = told["questions"][0]["runs"]
    assert [each["mode"] for each in first] == ["single", "transcript", "briefing"]
    assert all(
        "applemailbox7" in each["answer"] and each["usage"]["input_tokens"]
        for each in first
    )
    assert first[0]["rounds"] == 1
    assert "applemailbox7" in page.read_text()
    for each in first:
        assert antiphon("traces", "replay", each["query_id"]).returncode == 0


def test_a_comparison_that_cannot_be_written_asks_nothing(
    antiphon: Antiphon, tmp_path: Path
) -> None:
    file = tmp_path / "questions.txt"
    file.write_text(QUESTION)

    run = antiphon(
        "compare",
        "--questions",
        str(file),
        "--html",
        str(tmp_path / "nowhere" / "page.html"),
    )

    assert run.returncode == 1
    assert "cannot be written" in run.stderr
    assert run.stdout == ""


def test_a_file_whose_name_is_not_utf_8_is_named_and_the_others_are_indexed(
    shell: Shell, tmp_path: Path
) -> None:
    write_course(tmp_path / "courses", "plum", lessons=1)
    try:
        (tmp_path / "courses" / os.fsdecode(b"na\xefve.txt")).write_text("Text.")
    except OSError:
        pytest.skip("this file system takes no such names")

    run = shell.run("index", "courses", data_dir=tmp_path / "data", folder=tmp_path)
    shown = shell.run("courses", data_dir=tmp_path / "data", folder=tmp_path)

    assert run.returncode == 0
    assert "is not in UTF-8; rename it" in run.stderr
    assert "The Plum Course" in shown.stdout
