"""The service as a Python program uses it: the examples of docs/python.md run, and an answer says what it promises."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import antiphon
from antiphon import Answer, Antiphon, BusyError, Settings, load_settings
from antiphon.knowledge import index_paths, load_embedder
from antiphon.vocabulary.events import QueryClosed
from tests.course_files import write_course
from tests.e2e.conftest import ROOT, environment

ASKED = "What does the falcon use in case 3?"
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("data")
    courses = tmp_path_factory.mktemp("courses")
    write_course(courses, "falcon")
    index_paths([courses], data, load_embedder("onnx"), progress=lambda _: None)
    return data


def settings(data_dir: Path) -> Settings:
    return load_settings(data_dir=data_dir, embedder="onnx", reasoner="offline")


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_each_example_of_the_page_runs(number: int, data_dir: Path) -> None:
    program = EXAMPLES[number].replace("What are the states of a circuit breaker?", ASKED)  # fmt: skip

    run = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(data_dir, ANTIPHON_REASONER="offline"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (run.returncode, run.stderr) == (0, "")
    assert "falcon" in run.stdout


async def test_an_answer_says_what_it_rests_on_and_leads_to_its_trace(
    data_dir: Path,
) -> None:
    async with Antiphon.open(settings(data_dir)) as service:
        answer = await service.ask(ASKED)
        trace = await service.store.read(answer.trace_id)

    assert isinstance(answer, Answer)
    assert answer.sources[0].name.startswith("The Falcon Course - Lesson")
    for citation in answer.citations:
        assert answer.text[citation.start : citation.end]
        assert citation.source in {source.name for source in answer.sources}
    assert answer.citations
    assert answer.confidence in ("high", "medium", "low")
    assert answer.usage.output_tokens > 0
    assert isinstance(trace[-1].event, QueryClosed)
    with pytest.raises(BusyError, match="closing"):
        await service.ask(ASKED)


async def test_a_question_that_nothing_answers_has_its_doubts(data_dir: Path) -> None:
    async with Antiphon.open(settings(data_dir)) as service:
        answer = await service.ask("Who won the football World Cup in 1998?")

    assert answer.confidence == "low"
    assert all(doubt.kind and doubt.detail for doubt in answer.doubts)
    assert answer.doubts


async def test_the_plain_function_says_what_to_do_if_a_loop_runs() -> None:
    with pytest.raises(RuntimeError, match=r"async with Antiphon\.open\(\)"):
        antiphon.ask(ASKED)
