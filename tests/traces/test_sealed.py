"""The tests that `antiphon traces test` writes: a harmless change of the program passes them, a real one does not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from antiphon.assembler import assembler as assembling
from antiphon.service import replay_sealed, trace_test
from antiphon.traces import trace_lines
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import Event, Recorded, ResponseAssembled
from tests.house.source_copy import change, copy_source, run
from tests.traces.conftest import Lines
from tests.traces.test_replay import events_of

Trace = Sequence[Recorded[Event]]
Edit = tuple[str, str, str]

HARMLESS: dict[str, list[Edit]] = {
    "a field that rules fill": [
        (
            "vocabulary/events.py",
            "    summaries: int = 0\n",
            "    summaries: int = 0\n    words: int = 0\n",
        ),
        (
            "assembler/assembler.py",
            "        answer=draft.text,\n",
            "        answer=draft.text,\n        words=1 + len(draft.text.split()),\n",
        ),
    ],
    "a field that the engine fills": [
        (
            "vocabulary/events.py",
            "    profile: Profile | None = None\n",
            '    profile: Profile | None = None\n    region: Name = ""\n',
        ),
        (
            "engine/call.py",
            "                profile=self._prepared.profile,\n",
            '                profile=self._prepared.profile,\n                region="here",\n',
        ),
    ],
    "a field of a value": [
        (
            "vocabulary/values.py",
            "    merged: tuple[Id, ...] = ()\n",
            "    merged: tuple[Id, ...] = ()\n    weight: float = 1.0\n",
        ),
    ],
    "a setting": [
        (
            "vocabulary/settings.py",
            "    max_rounds: Annotated[\n",
            '    curiosity: Annotated[int, Setting("how curious it is", least=0)] = 0\n    max_rounds: Annotated[\n',
        ),
    ],
}
REAL: dict[str, Edit] = {
    "the answer in capitals": (
        "assembler/assembler.py",
        "answer=draft.text,",
        "answer=draft.text.upper(),",
    ),
    "half the time for a call": (
        "coordinator/deadline.py",
        "    return max(LEAST_CALL_S, state.settings.deadline_s - kept_s(state) - elapsed_s)",
        "    return max(LEAST_CALL_S, state.settings.deadline_s - elapsed_s) / 2",
    ),
    "a request without its tools": (
        "engine/request.py",
        "        tools=offered,\n",
        "        tools=None,\n",
    ),
}


def write_test(folder: Path, trace: Trace, name: str) -> None:
    data, test = trace_test(trace, name)
    (folder / f"{name}.jsonl").write_bytes(data)
    (folder / f"test_{name}.py").write_text(test)


def unanswered(lines: Sequence[bytes]) -> Trace:
    """A query interrupted before it had an answer."""
    trace = events_of(lines)
    for place, recorded in enumerate(trace):
        if isinstance(recorded.event, ResponseAssembled):
            return trace[: place - 1]
    raise AssertionError("every query of the cast has an answer")


@pytest.fixture
def sealed(thousand: Lines, tmp_path: Path) -> Path:
    """A copy of the source, with sealed tests of five answers and of one query without an answer."""
    copy_source(tmp_path)
    folder = tmp_path / "sealed"
    folder.mkdir()
    for number in (1, 2, 3, 5, 8):
        write_test(folder, events_of(thousand[f"q{number}"]), f"q{number}")
    write_test(folder, unanswered(thousand["q3"]), "interrupted")
    return tmp_path


def summary_of(copy: Path, *arguments: str) -> str:
    """Runs the sealed tests on the copy; returns the last line."""
    # Without our pytest settings, because users run such tests in their own projects.
    tests = run(
        copy,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        "/dev/null",
        *arguments,
        "sealed",
    )
    return tests.stdout.strip().splitlines()[-1]


def test_sealed_tests_pass_and_a_harmless_new_field_or_setting_breaks_none(
    sealed: Path,
) -> None:
    """The defect: 10 of 11 broke on a new field with a default, although all traces of the store still replayed."""
    assert summary_of(sealed).startswith("6 passed")

    for edits in HARMLESS.values():
        for file, old, new in edits:
            change(sealed / file, old, new)

    assert summary_of(sealed).startswith("6 passed")


@pytest.mark.parametrize("name", REAL)
def test_a_real_change_breaks_a_sealed_test_even_if_fields_are_newer(
    name: str, sealed: Path
) -> None:
    for file, old, new in [*HARMLESS["a field of a value"], REAL[name]]:
        change(sealed / file, old, new)

    assert " failed" in summary_of(sealed)


def test_a_query_without_an_answer_is_sealed_and_its_decisions_are_compared(
    thousand: Lines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = unanswered(thousand["q3"])
    data, test = trace_test(trace, "mine")
    (tmp_path / "mine.jsonl").write_bytes(data)
    sha256 = trace_lines(data)[0].sha256
    before = replay_sealed(tmp_path / "mine.jsonl", sha256)

    monkeypatch.setattr("antiphon.coordinator.deadline.LEAST_CALL_S", 1_000.0)
    after = replay_sealed(tmp_path / "mine.jsonl", sha256)

    assert "replayed.answer is None" in test
    assert (before.holds, before.answer) == (True, None)
    assert not after.holds


def test_the_answer_of_a_sealed_trace_is_that_of_the_rules_and_not_of_the_file(
    thousand: Lines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = events_of(thousand["q3"])
    for place, recorded in enumerate(trace):
        if isinstance(recorded.event, ResponseAssembled):
            event = replace(recorded.event, answer="Another answer.")
            trace[place] = replace(recorded, event=event)
    with pytest.raises(BadInputError, match="does not replay as it is"):
        trace_test(trace, "mine")
    data, _ = trace_test(events_of(thousand["q3"]), "mine")
    file = tmp_path / "mine.jsonl"
    file.write_bytes(data)
    monkeypatch.setattr(assembling, "confidence", lambda _: "low")

    replayed = replay_sealed(file, trace_lines(data)[0].sha256)

    assert not replayed.holds
    assert replayed.answer is not None
    assert replayed.answer.confidence == "low"


def test_a_sealed_test_may_redact_words_of_its_prompt_and_tools_too(
    thousand: Lines, tmp_path: Path
) -> None:
    for pattern in ("course", "Searches", r"\d{3,}"):
        data, _ = trace_test(events_of(thousand["q3"]), "mine", [pattern])
        (tmp_path / "mine.jsonl").write_bytes(data)

        assert replay_sealed(tmp_path / "mine.jsonl", trace_lines(data)[0].sha256).holds
