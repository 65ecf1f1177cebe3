"""Recordings of other programs (tests/data/foreign/README.md), imported and then used like any trace of our own."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import jsonschema
import pytest

from tests.e2e.conftest import Antiphon, Shell

FOREIGN = Path(__file__).parents[1] / "data" / "foreign"
WEATHER = "It rains in Paris at 14 degrees"
FILES = {
    "messages.jsonl": (1, "recorded exchanges"),
    "openinference.json": (1, "spans with OpenInference names"),
    "genai.json": (1, "spans with GenAI names"),
    "pydantic-ai.json": (1, "spans with GenAI names of weather_agent"),
    "phoenix.jsonl": (1, "spans with OpenInference names"),
    "phoenix.json": (1, "spans with OpenInference names"),
    "phoenix-columns.json": (1, "spans with OpenInference names"),
    "langfuse.json": (1, "a Langfuse export of weather-agent"),
    "atif.json": (2, "ATIF-v1.7 of weather-agent 0.3.1"),
}
"""Each file, how many queries it holds, and what is said of where they come from."""


@pytest.fixture
def command(shell: Shell, tmp_path: Path) -> Antiphon:
    """Runs the command over an empty data folder."""
    return partial(shell.run, folder=tmp_path, data_dir=tmp_path / "data")


def imported(command: Antiphon, name: str) -> list[str]:
    """The ids of the traces that a file was imported as."""
    run = command("traces", "import", str(FOREIGN / name))
    assert run.returncode == 0, run.stderr
    return [line.partition(":")[0] for line in run.stdout.splitlines()]


@pytest.mark.parametrize("name", FILES)
def test_a_recording_is_listed_shown_searched_explained_replayed_and_made_a_test(
    name: str, command: Antiphon, tmp_path: Path
) -> None:
    many, origin = FILES[name]

    ids = imported(command, name)

    assert len(ids) == many
    shown = command("traces", "show", ids[0])
    assert WEATHER in shown.stdout
    assert f"imported from {origin}; not recorded: " in shown.stdout
    assert "get_weather: 1 passage" in shown.stdout
    assert "not verified: another program gave it" in shown.stdout + shown.stderr
    assert ids[0] in command("traces", "list", "--text", "weather Paris").stdout
    assert "identical" in command("traces", "replay", ids[0]).stdout
    assert command("traces", "why", ids[0]).returncode == 0
    assert "answers are the same" in command("traces", "diff", ids[0], ids[0]).stdout
    made = command("traces", "test", ids[0], "-o", "made")
    assert made.returncode == 0, made.stderr
    assert list(tmp_path.glob("made/test_*.py"))
    again = command("traces", "import", str(FOREIGN / name))
    assert again.returncode == 1


def test_a_fork_runs_the_recorded_loop_with_another_reply_another_result_or_a_fault(
    command: Antiphon, tmp_path: Path
) -> None:
    [query_id] = imported(command, "messages.jsonl")
    reply = {"content": [{"type": "text", "text": "It snows."}]}
    (tmp_path / "reply.json").write_text(json.dumps(reply))
    (tmp_path / "result.txt").write_text("snow, -3 degrees")
    plan = "faults: [{point: tool.get_weather, kind: raise, times: 0}]"
    (tmp_path / "plan.yaml").write_text(plan)
    fork = partial(command, "traces", "fork", query_id)

    # The reply of the third of its four calls, and the result of the first.
    replied = fork("--at", "28", "--reply", "reply.json")
    brought = fork("--tool-result", "10=result.txt")
    broken = fork("--fault", "plan.yaml")
    live = fork("--at", "6", "--mode", "live")

    assert "rounds, calls\t3, 4\t2, 3" in replied.stdout
    assert "+ It snows." in replied.stdout
    assert "snow, -3 degrees" in brought.stdout
    assert "fired: raise at tool.get_weather in round_2" in broken.stderr
    assert "2 tool_failed" in broken.stdout
    assert live.returncode == 1
    assert "only --mode recorded" in live.stderr


@pytest.mark.parametrize("name", ["messages.jsonl", "atif.json", "pydantic-ai.json"])
def test_a_trajectory_that_is_written_is_one_of_harbor_and_reads_back(
    name: str, command: Antiphon, tmp_path: Path
) -> None:
    query_id = imported(command, name)[0]

    written = command(
        "traces", "export", query_id, "-o", "out.json", "--format", "atif"
    )

    assert written.returncode == 0, written.stderr
    trajectory = json.loads((tmp_path / "out.json").read_text())
    schema = json.loads((FOREIGN / "atif.schema.json").read_text())
    jsonschema.validate(trajectory, schema)
    assert [step["source"] for step in trajectory["steps"][:3]] == [
        "system",
        "user",
        "agent",
    ]
    assert WEATHER in trajectory["steps"][-1]["message"]
    trajectory["trajectory_id"] = "again"
    (tmp_path / "out.json").write_text(json.dumps(trajectory))
    back = command("traces", "import", "out.json")
    assert back.returncode == 0, back.stderr
    different = command("traces", "diff", query_id, "again").stdout
    assert "answers are the same" in different


def test_one_bad_trace_in_a_file_of_many_is_named_and_the_others_are_imported(
    command: Antiphon, tmp_path: Path
) -> None:
    lines = (FOREIGN / "messages.jsonl").read_text().splitlines()
    other = json.loads((FOREIGN / "atif.json").read_text())
    other["steps"] = other["steps"][2:]
    mixed = [*lines, "{not JSON", json.dumps(other)]
    (tmp_path / "mixed.jsonl").write_text("\n".join(mixed))

    run = command("traces", "import", "mixed.jsonl")
    again = command("traces", "import", "mixed.jsonl")

    assert run.returncode == again.returncode == 1
    assert "There is a trace" in again.stderr
    assert "42 events" in run.stdout
    assert "line 5: this is no JSON" in run.stderr
    assert "weather-7: it does not say what its model was asked" in run.stderr


def test_a_file_of_no_known_form_and_spans_without_contents_are_refused_with_what_to_do(
    command: Antiphon, tmp_path: Path
) -> None:
    (tmp_path / "other.json").write_text('{"some": "thing"}')
    spans = json.loads((FOREIGN / "langfuse.json").read_text())
    for each in spans["observations"]:
        each["input"] = each["output"] = None
    (tmp_path / "empty.json").write_text(json.dumps(spans))

    other = command("traces", "import", "other.json")
    empty = command("traces", "import", "empty.json")

    assert "none of what is read from other programs: spans with" in other.stderr
    assert "let the contents of messages be recorded too" in empty.stderr
    assert other.returncode == empty.returncode == 1
