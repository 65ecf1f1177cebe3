"""The offline reasoner's summary: by extraction, each sentence with its source, from the material alone."""

from __future__ import annotations

import msgspec

from antiphon.engine.offline.answering import NOTHING_TO_NOTE, summary
from antiphon.engine.offline.reading import summary_task
from antiphon.language.markup import Material, wrap, write_material
from antiphon.vocabulary.ports import Json

SHIPS = Material(
    source="Harbours - Lesson 1",
    said="Rain fell. It fell for days. A ship brings grain. The harbour master counts each ship.",
)
LOGS = Material(
    source="Logs - Lesson 2",
    said="A log is only appended to. Who counts ships keeps a log of them.",
)


def request(question: str, material: str, **more: object) -> Json:
    content = [
        {"type": "text", "text": wrap("question", question)},
        {"type": "text", "text": material},
    ]
    return {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": content}],
        **more,
    }


def test_the_question_and_the_material_are_read_back() -> None:
    task = summary_task(request("Who counts <ships>?", write_material((SHIPS, LOGS))))

    assert task == ("Who counts <ships>?", (SHIPS, LOGS))


def test_a_briefing_is_no_request_for_a_summary() -> None:
    assert (
        summary_task(
            request(
                "What of </material>?", "<round>\nFinal answer: no tools.\n</round>"
            )
        )
        is None
    )


def test_material_in_the_middle_of_a_source_makes_no_request_for_a_summary() -> None:
    assert (
        summary_task(request("Ships?", f"[1] A text\n{write_material((SHIPS,))}"))
        is None
    )


def test_material_that_is_no_json_is_no_request_for_a_summary() -> None:
    assert summary_task(request("Ships?", "<material>\nnonsense\n</material>")) is None


def test_a_summary_names_the_source_of_what_bears_on_the_question() -> None:
    (block,) = summary("Who counts ships?", (SHIPS, LOGS))

    assert "Harbours - Lesson 1: " in block["text"]
    assert "The harbour master counts each ship." in block["text"]
    assert "Rain fell" not in block["text"]


def test_what_bears_on_nothing_is_summed_up_as_nothing() -> None:
    assert summary("What is BM25?", (SHIPS,)) == [
        {"type": "text", "text": NOTHING_TO_NOTE}
    ]


def test_material_of_any_size_is_summed_up_in_few_words() -> None:
    huge = Material(source="Big", said="A ship brings grain to the harbour. " * 5_000)

    (block,) = summary("What does a ship bring?", (huge,) * 300)

    assert len(block["text"]) < 2_000
    assert msgspec.json.encode(block)
