"""Questions whose answers were rated, as a file that `antiphon compare` and the evaluation read."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from antiphon.cli.questions import SampleQuestion, read_questions
from antiphon.cli.session import open_store
from antiphon.cli.trace_files import export, import_
from antiphon.cli.trace_questions import questions
from antiphon.composition import load_settings
from antiphon.vocabulary.errors import NotFoundError
from antiphon.vocabulary.feedback import Feedback
from antiphon.vocabulary.values import Exchange
from tests.story import NOON, answered, placed

BAD = Feedback(rating="down", note="Wrong lesson.\nAnd unclear.", at=NOON)


async def _fill(data_dir: Path, *, bad: Feedback | None = BAD) -> None:
    """Three answers, one of which is bad and one good."""
    earlier = (Exchange(question="What is recall?", answer="A share."),)
    async with open_store(load_settings(data_dir=data_dir), make=True) as store:
        for number in (1, 2, 3):
            first, *rest = answered(f"Question {number}?", "That.")
            events = [replace(first, history=earlier), *rest]
            await store.append(f"q{number}", 0, placed(f"q{number}", events))
        await store.annotations.set_feedback("q2", bad)
        await store.annotations.set_feedback("q3", Feedback(rating="up", at=NOON))


def test_questions_with_bad_answers_become_a_file_of_questions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(_fill(tmp_path / "data"))

    questions("down", tmp_path / "data")

    file = tmp_path / "bad.jsonl"
    printed = capsys.readouterr().out
    file.write_text(printed)
    (read,) = read_questions(file, 1_000)
    assert read == SampleQuestion(
        id="q2", question="Question 2?", earlier=("What is recall?",)
    )
    assert "Wrong lesson." in printed
    questions("any", tmp_path / "data")
    assert capsys.readouterr().out.count("\n") == 2


def test_where_no_answer_was_rated_so_that_is_said(tmp_path: Path) -> None:
    asyncio.run(_fill(tmp_path / "data", bad=None))

    with pytest.raises(NotFoundError, match="no answer with this feedback"):
        questions("down", tmp_path / "data")


def test_a_trace_is_exported_and_imported_with_its_feedback(tmp_path: Path) -> None:
    asyncio.run(_fill(tmp_path / "data"))
    export("q2", tmp_path / "q2.jsonl", tmp_path / "data")

    import_(tmp_path / "q2.jsonl", tmp_path / "other")

    async def stored() -> Feedback | None:
        async with open_store(load_settings(data_dir=tmp_path / "other")) as store:
            return await store.annotations.feedback("q2")

    assert asyncio.run(stored()) == BAD
