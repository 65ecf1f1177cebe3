"""Questions as people type them, and tables as programs read them."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import Antiphon, environment

QUESTION = "What is applemailbox7 in the Apple course?"
WORDS = QUESTION.split()


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [(WORDS, ""), ([], f"{QUESTION}\n"), (["-"], QUESTION)],
    ids=["without quotes", "piped", "dash"],
)
def test_a_question_is_the_same_however_it_is_given(
    antiphon: Antiphon, arguments: list[str], stdin: str
) -> None:
    run = antiphon("ask", *arguments, "--json", stdin=stdin)

    answer = json.loads(run.stdout)
    listed = json.loads(antiphon("traces", "list", "--limit", "1", "--json").stdout)
    assert "applemailbox7" in answer["answer"]
    assert (listed["query_id"], listed["query"]) == (answer["query_id"], QUESTION)


def test_nothing_piped_in_is_an_empty_question(antiphon: Antiphon) -> None:
    run = antiphon("ask", stdin="\n")

    assert run.returncode == 1
    assert "empty" in run.stderr


def test_the_last_conversation_goes_on_and_one_is_found_by_its_beginning(
    antiphon: Antiphon,
) -> None:
    first = json.loads(antiphon("ask", *WORDS, "--json").stdout)
    whole = first["session_id"]
    second = json.loads(antiphon("ask", "-c", "Why", "--json").stdout)
    third = json.loads(antiphon("ask", "--session", whole[:12], "Why", "--json").stdout)
    other = json.loads(antiphon("ask", *WORDS, "--json").stdout)
    rows = antiphon("traces", "list", "--conversation", whole[:12], "--json").stdout

    assert (second["session_id"], third["session_id"]) == (whole, whole)
    assert other["session_id"] != whole
    assert {json.loads(line)["session_id"] for line in rows.splitlines()} == {whole}
    assert len(rows.splitlines()) == 3


def test_the_conversation_answers_what_was_asked_before(
    antiphon: Antiphon,
) -> None:
    antiphon("ask", *WORDS)
    antiphon("ask", "-c", "Which courses are there?")
    asked = json.loads(antiphon("ask", "-c", "What did I ask first?", "--json").stdout)
    alone = json.loads(antiphon("ask", "What did I ask first?", "--json").stdout)

    assert asked["answer"].index(QUESTION) < asked["answer"].index("Which courses")
    assert asked["citations"] == []
    assert alone["answer"] == "Nothing was asked in this conversation before."


def test_the_last_conversation_is_neither_a_fork_nor_a_deleted_one(
    antiphon: Antiphon,
) -> None:
    kept = json.loads(antiphon("ask", *WORDS, "--json").stdout)
    gone = json.loads(antiphon("ask", *WORDS, "--json").stdout)
    antiphon("traces", "fork", kept["query_id"], "--setting", "max_rounds=1")
    short = gone["session_id"][:12]
    deleted = antiphon("traces", "delete", "--conversation", short, "--yes")
    after = json.loads(antiphon("ask", "-c", "Why", "--json").stdout)

    assert deleted.stdout.strip() == "1 deleted"
    assert after["session_id"] == kept["session_id"]


def test_both_ways_to_name_a_conversation_are_one_too_many(antiphon: Antiphon) -> None:
    run = antiphon("ask", "-c", "--session", "x", "Why")

    assert run.returncode == 1
    assert "not both" in run.stderr


def test_piped_questions_are_answered_in_one_conversation(antiphon: Antiphon) -> None:
    run = antiphon("chat", stdin=f"{QUESTION}\n\nWhat is pearmailbox2?\n")

    listed = antiphon("traces", "list", "--limit", "2", "--json").stdout.splitlines()
    sessions = {json.loads(line)["session_id"] for line in listed}
    assert run.returncode == 0, run.stderr
    assert "applemailbox7" in run.stdout
    assert run.stdout.count("[1] ") >= 1
    assert len(sessions) == 1


def test_a_chat_on_a_terminal_prompts_and_ends_with_an_empty_line(
    data_dir: Path, tmp_path: Path
) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "antiphon.cli", "chat"],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env=environment(data_dir, TERM="dumb"),
        cwd=tmp_path,
    ) as process:
        os.close(theirs)
        os.write(ours, f"{QUESTION}\n\n".encode())
        printed = _all_of(ours)
        code = process.wait(60)

    assert code == 0
    assert printed.count("> ") >= 2
    assert "The Apple Course - Lesson" in printed


def _all_of(terminal: int) -> str:
    chunks: list[bytes] = []
    try:
        while chunk := os.read(terminal, 4096):
            chunks.append(chunk)
    except OSError:  # Linux says so if the other side is closed
        pass
    return b"".join(chunks).decode()


def test_piped_tables_have_a_line_a_row_and_tabs_between_whole_cells(
    antiphon: Antiphon,
) -> None:
    long = f"{QUESTION} {'And what else is there to be said about it? ' * 5}".strip()
    asked = json.loads(antiphon("ask", long, "--json").stdout)

    listed = antiphon("traces", "list").stdout.splitlines()
    courses = antiphon("courses").stdout.splitlines()

    assert listed[0].split("\t")[:3] == ["Query", "Asked", "Question"]
    newest = listed[1].split("\t")
    assert newest[0] == asked["query_id"][:12]
    assert newest[2] == long
    assert {line.count("\t") for line in courses} == {3}
    assert not re.search("[─│┃━]", "\n".join(listed + courses))


def test_one_is_not_counted_in_the_plural(antiphon: Antiphon) -> None:
    asked = json.loads(antiphon("ask", *WORDS, "--json").stdout)
    query_id = asked["query_id"]
    outputs = [antiphon("ask", *WORDS).stderr]
    for command in ("show", "briefing", "lineage", "memory", "replay", "prompt"):
        run = antiphon("traces", command, query_id)
        outputs.append(run.stdout + run.stderr)
    for arguments in (
        ("traces", "fork", query_id, "--setting", "max_rounds=1"),
        ("traces", "whatif", query_id, "--without", "f1"),
        ("doctor",),
    ):
        run = antiphon(*arguments)
        outputs.append(run.stdout + run.stderr)

    things = "rounds|calls|tool calls|sources|facts|passages|tokens|events|sentences"
    wrong = re.findall(rf"(?<![\d.,])1 (?:new )?(?:{things})\b", "\n".join(outputs))
    assert wrong == []
