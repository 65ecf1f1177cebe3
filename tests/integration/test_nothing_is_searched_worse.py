"""Without a key the service finds what plain search finds: no rule rewrites a question or shuts its page out."""

from __future__ import annotations

from pathlib import Path

from antiphon.cli.questions import SampleQuestion
from antiphon.knowledge import Library, index_paths, load_embedder
from antiphon.service import Antiphon, Question, load_settings
from antiphon.vocabulary.events import ToolSucceeded
from antiphon.vocabulary.values import Passage
from benchmarks.evaluation.samples import read_samples

SAMPLES = Path(__file__).parents[2] / "samples" / "recorded"
MOST_LOST = 0.02


def found(question: SampleQuestion, passages: list[Passage]) -> bool:
    places = {(place.course, place.lesson) for place in question.answered_by}
    return any((passage.course, passage.lesson) in places for passage in passages)


async def asked(service: Antiphon, question: SampleQuestion) -> list[Passage]:
    outcome = await service.ask(Question(query=question.question))
    trace = await service.store.read(outcome.query_id)
    passages: list[Passage] = []
    for recorded in trace:
        if isinstance(recorded.event, ToolSucceeded):
            passages += recorded.event.passages
    return passages


async def test_the_service_finds_what_search_finds_for_the_question_as_written(
    tmp_path: Path,
) -> None:
    embedder = load_embedder("onnx")
    index_paths([SAMPLES / "i"], tmp_path, embedder, progress=lambda _: None)
    questions: list[SampleQuestion] = []
    for question in read_samples(SAMPLES / "i.jsonl"):
        if not question.earlier and question.answered_by:
            questions.append(question)
    library = Library.open(tmp_path, embedder)
    service = await Antiphon.open(
        load_settings(data_dir=tmp_path, embedder="onnx", reasoner="offline")
    )
    try:
        by_search: list[str] = []
        by_service: list[str] = []
        for question in questions:
            if found(question, library.search(question.question)):
                by_search.append(question.id)
            if found(question, await asked(service, question)):
                by_service.append(question.id)
    finally:
        await service.close()
        library.close()

    lost = set(by_search) - set(by_service)
    assert len(by_search) > len(questions) / 2
    assert len(lost) <= MOST_LOST * len(questions), sorted(lost)
    assert len(by_service) >= len(by_search)
