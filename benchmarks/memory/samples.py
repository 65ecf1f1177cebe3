"""The sample questions as two-round runs: the second round asks by title for the lessons that hold the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from pathlib import Path

from antiphon.cli.questions import SampleQuestion, read_questions
from antiphon.dispatcher import Registry, course_tools
from antiphon.dispatcher.output import to_output
from antiphon.knowledge import Library, index_paths
from antiphon.vocabulary.ports import Embedder
from antiphon.vocabulary.values import Passage
from benchmarks.memory.runs import Made, Run


def sample_runs(questions: Path, courses: Path, work: Path, embedder: Embedder) -> list[Run]:
    """The runs of the questions that have an answer."""
    index_paths([courses], work, embedder)
    library = Library.open(work, embedder)
    registry = Registry(course_tools(library))
    titles = "\n".join(course.title for course in library.courses())
    asked = read_questions(questions.read_text(encoding="utf-8").splitlines(), str(questions))
    try:
        return [_run(each, library, registry, titles) for each in asked if each.answered_by and each.facts]
    finally:
        library.close()


def _run(question: SampleQuestion, library: Library, registry: Registry, titles: str) -> Run:
    first = (_call(registry, "search_course_content", {"query": question.question}),)
    second = tuple(_second(question, library, registry))
    passages = [passage for made in (*first, *second) for passage in made.output.passages]
    return Run(question=question.question, rounds=(first, second), gold=_gold(question, passages), courses=titles)


def _second(question: SampleQuestion, library: Library, registry: Registry) -> list[Made]:
    made = []
    for place in question.answered_by:
        course = library.outline(place.course)
        lesson = next((each for each in course.lessons if each.number == place.lesson), None) if course else None
        if lesson is None:
            made.append(_call(registry, "get_course_outline", {"course_name": place.course}))
        else:
            query = f"{lesson.title} {question.question}"
            made.append(_call(registry, "search_course_content", {"query": query, "course_name": place.course}))
    return made


def _call(registry: Registry, name: str, arguments: dict[str, str | int]) -> Made:
    tool = registry.offered(name)
    if tool is None:
        raise LookupError(f"there is no tool {name}")
    returned = asyncio.run(_awaited(tool.run(**arguments)))
    return Made(name=name, arguments=arguments, output=to_output(name, returned))


async def _awaited(running: Awaitable[object]) -> object:
    return await running


def _gold(question: SampleQuestion, passages: list[Passage]) -> tuple[str, ...]:
    """For each phrase of a right answer, the first sentence of the right lessons that holds it."""
    places = {(place.course, place.lesson) for place in question.answered_by}
    found = []
    for phrase in question.facts:
        holds = (
            passage.sentence(number).strip()
            for passage in passages
            if (passage.course, passage.lesson) in places
            for number in range(len(passage.starts))
            if phrase.casefold() in passage.sentence(number).casefold()
        )
        if (sentence := next(holds, None)) is not None:
            found.append(sentence)
    return tuple(dict.fromkeys(found))
