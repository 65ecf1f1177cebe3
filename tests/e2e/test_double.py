"""`antiphon double` as a server on a port, and what `antiphon doctor --model` finds out about one."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from antiphon.engine import connect
from antiphon.engine.server_profile import ask, source_request
from antiphon.vocabulary.errors import ModelError
from tests.e2e.conftest import ROOT, STARTING_S, Antiphon, environment

SCRIPT = """
replies:
  - {text: "It will not get far.", breaks: {at: first_byte, how: reset}}
  - {text: "It will not get far.", breaks: {at: text, how: reset}, delta_chars: 4}
  - {text: "It will not get far.", breaks: {at: message_stop, how: end}}
  - {status: 529, error: overloaded_error, headers: {retry-after: "2"}}
  - {text: "Logs grow.", piece_bytes: 1, between_s: 0.001}
then: fail
"""
POOR = """
replies:
  - {text: "Yes."}
  - {calls: [{name: look_up, input: {word: heliotrope}}]}
  - {calls: [{name: look_up, input: {word: heliotrope}}]}
  - {text: "I see no search result."}
  - {text: "Yes."}
then: fail
"""


@contextmanager
def double(script: str, folder: Path) -> Iterator[str]:
    """The address of a double that plays `script`."""
    file = folder / "script.yaml"
    file.write_text(script)
    command = [
        sys.executable,
        "-m",
        "antiphon.cli",
        "double",
        "--script",
        str(file),
        "--port",
        "0",
    ]
    process = subprocess.Popen(
        command, env=environment(folder), cwd=folder, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.search(r"http://\S+", said)
        assert found, said + process.stderr.read()
        yield found[0]
    finally:
        process.terminate()
        process.wait(STARTING_S)


async def outcome(url: str) -> str:
    model = connect("key", url)
    try:
        return (await ask(model, source_request("m"), 20.0)).text.text
    except ModelError as error:
        return error.kind
    finally:
        await model.aclose()


async def test_the_double_breaks_on_the_wire_as_its_script_says(tmp_path: Path) -> None:
    with double(SCRIPT, tmp_path) as url:
        told = [await outcome(url) for _ in range(6)]

    assert told == [
        "connection",
        "connection",
        "truncated_stream",
        "overloaded",
        "Logs grow.",
        "server_error",
    ]


def test_doctor_asks_the_model_what_its_server_can_do(
    antiphon: Antiphon, tmp_path: Path
) -> None:
    with double(POOR, tmp_path) as url:
        run = antiphon("doctor", "--model", ANTHROPIC_BASE_URL=url)

    assert run.returncode == 0, run.stderr
    assert "✓ Tool use" in run.stdout
    assert "✗ tool_choice: none: it called a tool all the same" in run.stdout
    assert "set ANTIPHON_CITATIONS=inline" in run.stdout
    assert "set ANTIPHON_SERVER_LACKS=tool_choice_none,thinking" in run.stdout


def test_the_example_of_the_page_plays_as_it_is_written(
    antiphon: Antiphon, tmp_path: Path
) -> None:
    page = (ROOT / "docs/double.md").read_text(encoding="utf-8")
    script = page.partition("```yaml\n")[2].partition("```")[0]
    command = re.search(r'^ +(.+) antiphon ask "(.+)"$', page, re.MULTILINE)
    assert command is not None
    settings = dict(setting.split("=", 1) for setting in command[1].split())

    with double(script, tmp_path) as url:
        settings["ANTHROPIC_BASE_URL"] = url
        run = antiphon("ask", command[2], **settings)

    assert run.returncode == 0, run.stderr
    assert "Logs grow." in run.stdout
    assert "It will not get far" not in run.stdout


def test_a_file_that_is_not_a_script_is_refused_in_a_sentence(
    antiphon: Antiphon, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("replies: [{txet: x}]")

    run = antiphon("double", "--script", str(wrong))

    assert run.returncode == 1
    assert "is no script of the double" in run.stderr
    assert "docs/double.md" in run.stderr
