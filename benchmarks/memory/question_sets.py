"""The two sets of questions, made into two-round runs over an index of their own.

The sample questions ask in the second round by title for the lessons that hold the answer. In hotpotqa_100 each passage
is a course of one lesson, and the second round searches by the supporting titles.

HotpotQA: Yang et al. 2018, https://hotpotqa.github.io, CC BY-SA 4.0. The data stays where it is and is not copied.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Sequence
from pathlib import Path

import msgspec

from antiphon.cli.phrases import stands_in
from antiphon.cli.questions import SampleQuestion
from antiphon.dispatcher import Registry, course_tools
from antiphon.dispatcher.output import to_output
from antiphon.knowledge import Library, index_paths
from antiphon.vocabulary.ports import Embedder, ToolOutput
from antiphon.vocabulary.values import Passage
from benchmarks.evaluation.samples import read_samples
from benchmarks.memory.runs import Run, RunCall

HOTPOTQA_QUESTIONS = "hotpotqa_train.json"
HOTPOTQA_CORPUS = "hotpotqa_train_corpus.json"
PASSAGES = 5

Corpus = dict[str, list[str]]


def sample_runs(
    questions: Path, courses: Path, work: Path, embedder: Embedder
) -> list[Run]:
    """Makes the runs of the questions that have an answer."""
    index_paths([courses], work, embedder)
    library = Library.open(work, embedder)
    registry = Registry(course_tools(library))
    titles = "\n".join(course.title for course in library.courses())
    runs = []
    try:
        for question in read_samples(questions):
            if question.answered_by:
                runs.append(_sample_run(question, library, registry, titles))
    finally:
        library.close()
    return runs


def _sample_run(
    question: SampleQuestion, library: Library, registry: Registry, titles: str
) -> Run:
    first = (_call(registry, "search_course_content", {"query": question.question}),)
    second = tuple(_ask_by_title(question, library, registry))
    return Run(
        question=question.question,
        rounds=(first, second),
        gold=_answering_sentences(question, _passages([*first, *second])),
        courses=titles,
    )


def _ask_by_title(
    question: SampleQuestion, library: Library, registry: Registry
) -> list[RunCall]:
    calls = []
    for place in question.answered_by:
        title = _lesson_title(library, place.course, place.lesson)
        if title is None:
            # A question about the course as a whole is answered by its outline.
            calls.append(
                _call(registry, "get_course_outline", {"course_name": place.course})
            )
        else:
            arguments: dict[str, str | int] = {
                "query": f"{title} {question.question}",
                "course_name": place.course,
            }
            calls.append(_call(registry, "search_course_content", arguments))
    return calls


def _lesson_title(
    library: Library, course_title: str, number: int | None
) -> str | None:
    course = library.outline(course_title)
    if course is None:
        return None
    for lesson in course.lessons:
        if lesson.number == number:
            return lesson.title
    return None


def _call(registry: Registry, name: str, arguments: dict[str, str | int]) -> RunCall:
    tool = registry.offered(name)
    if tool is None:
        raise LookupError(f"there is no tool {name}")
    returned = asyncio.run(_awaited(tool.run(**arguments)))
    return RunCall(name=name, arguments=arguments, output=to_output(name, returned))


async def _awaited(running: Awaitable[object]) -> object:
    return await running


def _answering_sentences(
    question: SampleQuestion, passages: Sequence[Passage]
) -> tuple[str, ...]:
    """Returns, for each part of a right answer, the first sentence of the right lessons that holds it."""
    places = {(place.course, place.lesson) for place in question.answered_by}
    sentences = []
    for passage in passages:
        if (passage.course, passage.lesson) in places:
            sentences += [
                passage.sentence(number).strip()
                for number in range(len(passage.starts))
            ]
    # A dict, because one sentence may hold several of the parts.
    found: dict[str, None] = {}
    for part in question.needed:
        for sentence in sentences:
            if any(stands_in(phrase, sentence) for phrase in part):
                found[sentence] = None
                break
    return tuple(found)


def _passages(calls: Sequence[RunCall]) -> list[Passage]:
    passages: list[Passage] = []
    for call in calls:
        passages += call.output.passages
    return passages


class HotpotQuestion(msgspec.Struct):
    """A question of HotpotQA, and the sentences that answer it as title and number."""

    question: str
    supporting_facts: list[tuple[str, int]]


def hotpotqa_runs(folder: Path, work: Path, embedder: Embedder) -> list[Run]:
    """Makes the runs; the index is made in `work` the first time, and reused."""
    corpus = msgspec.json.decode((folder / HOTPOTQA_CORPUS).read_bytes(), type=Corpus)
    questions = msgspec.json.decode(
        (folder / HOTPOTQA_QUESTIONS).read_bytes(), type=list[HotpotQuestion]
    )
    courses = work / "courses"
    courses.mkdir(parents=True, exist_ok=True)
    for title, sentences in corpus.items():
        write_course(courses, title, sentences)
    index_paths([courses], work / "data", embedder)
    library = Library.open(work / "data", embedder)
    try:
        return [_hotpotqa_run(question, corpus, library) for question in questions]
    finally:
        library.close()


def write_course(courses: Path, title: str, sentences: Sequence[str]) -> None:
    """Writes one passage as a course of one lesson, if that was not done before."""
    path = courses / f"{hashlib.sha256(title.encode()).hexdigest()[:16]}.txt"
    if not path.exists():
        text = " ".join("".join(sentences).split())
        path.write_text(
            f"Course Title: {title}\n\nLesson 1: {title}\n{text}\n", encoding="utf-8"
        )


def _hotpotqa_run(question: HotpotQuestion, corpus: Corpus, library: Library) -> Run:
    first = _search(library, question.question)
    second = []
    for title in _titles_to_ask_for(question, first):
        second.append(_search(library, f"{title} {question.question}"))
    return Run(
        question=question.question,
        rounds=((first,), tuple(second)),
        gold=_supporting_sentences(question, corpus, _passages([first, *second])),
    )


def _titles_to_ask_for(question: HotpotQuestion, first: RunCall) -> list[str]:
    """Returns the supporting titles that the first search did not find."""
    found = {passage.course for passage in first.output.passages}
    # A dict, because several facts may be in one passage.
    titles: dict[str, None] = {}
    missing: dict[str, None] = {}
    for title, _ in question.supporting_facts:
        titles[title] = None
        if title not in found:
            missing[title] = None
    if missing:
        return list(missing)
    # If it found all of them the second round repeats the last one: every run has two rounds.
    return list(titles)[-1:]


def _search(library: Library, query: str) -> RunCall:
    passages = library.search(query, limit=PASSAGES)
    text = "\n\n".join(
        f"[{passage.source}]\n{passage.text.text}" for passage in passages
    )
    return RunCall(
        name="search_course_content",
        arguments={"query": query},
        output=ToolOutput(text=text, passages=tuple(passages)),
    )


def _supporting_sentences(
    question: HotpotQuestion, corpus: Corpus, passages: Sequence[Passage]
) -> tuple[str, ...]:
    """Returns the supporting sentences that the tools returned."""
    # Joined by a line feed, so that no sentence is found across two passages.
    whole = "\n".join(" ".join(passage.text.text.split()) for passage in passages)
    returned = []
    for title, number in question.supporting_facts:
        sentences = corpus.get(title, [])
        # The data names a few sentences that do not exist.
        if number >= len(sentences):
            continue
        sentence = " ".join(sentences[number].split())
        if sentence in whole:
            returned.append(sentence)
    return tuple(returned)
