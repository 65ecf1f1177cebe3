"""The same questions in several modes: the files they come from, what is added up, and the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.cli.compare_page import as_page
from antiphon.cli.comparing import (
    MODES,
    Compared,
    Mode,
    Run,
    in_words,
    modes_of,
    run_of,
    settings_of,
    sum_of,
)
from antiphon.cli.questions import PLAIN, SampleQuestion, read_questions
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.values import QuerySettings, Usage
from tests.unit.cli.judged import cites, outcome

ROOT = Path(__file__).parents[3]
HOSTILE = "</td><script>alert(1)</script><img src=x onerror='alert(2)'>\x1b[2J\u202e"


def run(mode: Mode, **changes: object) -> Run:
    values: dict[str, object] = {
        "mode": mode, "query_id": "q-1", "status": "answered", "answer": "BM25 ranks.", "sources": ("IR - Lesson 2",),
        "source_links": (None,), "confidence": "high", "doubts": (), "reasoner": "offline", "rounds": 1, "calls": 2,
        "usage": Usage(input_tokens=1000, output_tokens=20, cost_usd=0.01), "duration_ms": 40.0, "right": True,
    }  # fmt: skip
    return Run(**(values | changes))  # type: ignore[arg-type]  # a test's word


def written(folder: Path, data: str | bytes) -> Path:
    file = folder / "questions"
    file.write_bytes(data.encode() if isinstance(data, str) else data)
    return file


def test_every_sample_question_is_read_with_what_answers_it() -> None:
    questions = read_questions(ROOT / "samples" / "questions.jsonl", 8_000)

    assert len(questions) == 40
    assert all(each.kind != PLAIN and each.question for each in questions)
    assert questions[0].answered_by[0].lesson == 2
    assert all(each.can_be_judged for each in questions)


def test_a_plain_file_holds_a_question_a_line(tmp_path: Path) -> None:
    file = written(tmp_path, "\ufeffWhat is BM25?\r\n\n  [sic] And RRF?  \n")

    questions = read_questions(file, 8_000)

    assert [(each.id, each.question) for each in questions] == [
        ("1", "What is BM25?"),
        ("3", "[sic] And RRF?"),
    ]


def test_json_lines_need_a_question_and_nothing_else(tmp_path: Path) -> None:
    file = written(tmp_path, '{"question": " What is BM25? ", "author": "somebody"}\n')

    assert [
        (each.id, each.kind, each.question) for each in read_questions(file, 8_000)
    ] == [("1", PLAIN, "What is BM25?")]


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        ("", "holds no question: write one question a line"),
        (" \n\t\n", "holds no question"),
        (b"\xff\xfe\x00", "is not text in UTF-8"),
        ('{"question": "Why?"}\n{"query": "Why?"}', "line 2 is no question"),
        ('{"question": "Why?"}\nWhy not?', "line 2 is no question"),
        ('{"question": 7}', "line 1 is no question"),
        ('{"question": "Why?", "needed": [["why"]]}', "line 1: every part"),
        ('{"question": "  "}', "line 1 holds an empty question"),
        ('{"question": "half \\ud800"}', "line 1 is no question"),
        ('[{"question": "Why?"}]', "line 1 is no question"),
        ("why? " * 3, "line 1 has a question of 14 characters, the most is 10"),
    ],
)
def test_a_file_that_cannot_be_asked_is_refused_with_its_line(
    tmp_path: Path, data: str | bytes, wrong: str
) -> None:
    with pytest.raises(BadInputError, match=wrong):
        read_questions(written(tmp_path, data), 10)


@pytest.mark.parametrize("name", ["nowhere", "."])
def test_a_file_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInputError, match="cannot be read"):
        read_questions(tmp_path / name, 10)


def test_each_mode_differs_from_the_one_before_it_in_one_thing() -> None:
    settings = QuerySettings(max_rounds=4, deadline_s=20.0)

    single, transcript, briefing = (settings_of(mode, settings) for mode in MODES)

    assert (single.max_rounds, single.context) == (1, "transcript")
    assert (transcript.max_rounds, transcript.context) == (2, "transcript")
    assert (briefing.max_rounds, briefing.context) == (2, "briefing")
    assert {each.deadline_s for each in (single, transcript, briefing)} == {20.0}


def test_modes_are_named_with_commas_and_each_counts_once() -> None:
    assert modes_of(" briefing, single,briefing ") == ("briefing", "single")
    with pytest.raises(BadInputError, match="There is no mode 'triple'"):
        modes_of("single,triple")
    with pytest.raises(BadInputError, match="No mode is named"):
        modes_of(" , ")


@pytest.mark.parametrize(
    ("question", "right"),
    [
        (SampleQuestion(question="Which?", needed=(("1.2",), ("k1",))), True),
        (SampleQuestion(question="Which?", needed=(("0.75",),)), False),
        (SampleQuestion(question="Which?", kind="unanswerable"), False),
        (SampleQuestion(question="Which?"), None),
        (SampleQuestion(question="Which?", earlier=("k1?",), needed=(("1.2",),)), None),
    ],
)
def test_an_answer_is_right_by_what_the_file_names_and_else_unjudged(
    question: SampleQuestion, right: bool | None
) -> None:
    told = run_of("single", question, outcome(cites(), answer="It is 1.2."))

    assert told.right is right


def test_a_mode_is_added_up_over_all_questions() -> None:
    compared = [
        Compared(id="1", question="Why?", runs=(run("single"),)),
        Compared(
            id="2",
            question="Where?",
            runs=(run("single", right=False, rounds=2, duration_ms=60.0),),
        ),
    ]

    told = sum_of("single", compared)

    assert (told.runs, told.answered, told.right, told.graded) == (2, 2, 1, 2)
    assert (told.rounds, told.usage.input_tokens, told.cost_usd, told.ms) == (
        1.5,
        2000,
        0.02,
        50.0,
    )
    assert in_words(told) == (
        "single: 2/2 answered, 1/2 right, 1.5 rounds, 2.0 calls, 2,000 + 40 tokens, 50 ms, $0.0200"
    )


def test_a_cost_that_is_not_known_is_said_to_be_unknown() -> None:
    one = run("single", usage=Usage(input_tokens=5))

    assert in_words(
        sum_of("single", [Compared(id="1", question="Why?", runs=(one,))])
    ).endswith("cost unknown")


def test_what_documents_and_models_wrote_is_only_text_in_the_page() -> None:
    hostile = run(
        "single",
        answer=HOSTILE,
        sources=(HOSTILE,),
        query_id=HOSTILE,
        doubts=(HOSTILE,),
        confidence=HOSTILE,
    )
    compared = [Compared(id=HOSTILE, question=HOSTILE, runs=(hostile, run("briefing")))]

    page = as_page(
        compared, [sum_of(mode, compared) for mode in ("single", "briefing")]
    )

    assert "<script" not in page
    assert "<img" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert "color-scheme:light dark" in page
    assert "&lt;script&gt;" in page
