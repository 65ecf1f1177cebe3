"""What a new event takes, tried on a copy of the source: at most four files, and everything else follows from them."""

from __future__ import annotations

import filecmp
from pathlib import Path

import pytest

from tests.house.source_copy import FOLDERS, ROOT, change, copy_source, run

EVENT = '''class ToolNoted(Event, frozen=True, kw_only=True, tag="tool_noted"):
    """A tool began to run, and somebody noted it.

    Attributes:
        name: Named like fields that hold an id elsewhere; here it is text from outside.
    """

    emitted_by = (COORDINATOR,)
    about = TOOL_CALL

    tool_call_id: Id
    name: Untrusted


'''

RULE = '''

def after_tool_started(state: QueryState, recorded: Recorded[ToolStarted]) -> tuple[QueryState, tuple[Event, ...]]:
    """Notes that a tool began to run."""
    return state, (ToolNoted(tool_call_id=recorded.event.tool_call_id, name="from secret-1234 outside"),)

'''

USED = """
import asyncio

from antiphon.composition.wiring import who_hears
from antiphon.history.replaying import replay
from antiphon.traces import Redaction, from_json, to_json
from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.events import ToolNoted
from tests.whole_query import House, ScriptedModel, reply


async def main() -> None:
    house = House(ScriptedModel(reply("I look.", ("search_course_content", {"query": "bm25"})), reply("It ranks.")))
    await house.ask("What ranks?")
    trace = await house.store.read("q")
    noted = [recorded for recorded in trace if isinstance(recorded.event, ToolNoted)]
    assert len(noted) == 1, "it is recorded"
    assert from_json(to_json(noted[0])) == noted[0], "it is written and read"
    assert replay(trace).divergence is None, "it replays"
    without = [recorded for recorded in trace if recorded not in noted]
    assert replay(without).divergence is not None, "a replay misses it"
    redacted = Redaction({"secret": r"secret-\\d+"}).event(noted[0].event)
    assert "secret" not in redacted.name, "it is redacted"
    assert redacted.tool_call_id == noted[0].event.tool_call_id, "its id is not"
    assert BUILT_IN.by_kind["tool_noted"] is ToolNoted, "it is in the catalog"


asyncio.run(main())
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the source as a newcomer has it."""
    return copy_source(tmp_path)


def changed_files(folder: Path) -> list[str]:
    """The files of the copy that are not as they were."""
    differing: list[str] = []
    for name in FOLDERS:
        for path in (folder / name).rglob("*"):
            original = ROOT / path.relative_to(folder)
            if path.is_file() and not (
                original.exists() and filecmp.cmp(path, original, shallow=False)
            ):
                differing.append(str(path.relative_to(folder)))
    return sorted(differing)


def test_a_new_event_takes_at_most_four_files_and_is_recorded_replayed_redacted_and_broken(
    copy: Path,
) -> None:
    events, coordinator = (
        copy / "vocabulary" / "events.py",
        copy / "coordinator" / "coordinator.py",
    )
    change(events, "class ToolSubstituted(Event", EVENT + "class ToolSubstituted(Event")
    change(
        coordinator,
        "    ToolsSettled,\n)",
        "    Event,\n    Recorded,\n    ToolNoted,\n    ToolsSettled,\n    ToolStarted,\n)",
    )
    change(
        coordinator,
        "\nRULES: Rules[QueryState] = {",
        f"{RULE}\nRULES: Rules[QueryState] = {{\n    ToolStarted: after_tool_started,",
    )

    page = run(copy, "-m", "tests.house.event_table")
    used = run(copy, "-c", USED)
    broken = run(
        copy,
        "-m",
        "antiphon.cli",
        "faults",
        "run",
        "--fault",
        "publish.tool_noted:drop",
    )

    assert page.returncode == 0, page.stderr
    assert used.returncode == 0, used.stderr
    assert broken.returncode == 0, broken.stderr
    changed = changed_files(copy)
    assert changed == [
        "coordinator/coordinator.py",
        "docs/events.md",
        "vocabulary/events.py",
    ]
    assert len(changed) <= 4
