"""hotpotqa_100 as two-round runs: each passage a course of one lesson, the second search by a supporting title.

HotpotQA: Yang et al. 2018, https://hotpotqa.github.io, CC BY-SA 4.0. The data stays where it is and is not copied.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from antiphon.knowledge import Library, index_paths
from antiphon.vocabulary.ports import Embedder, ToolOutput
from antiphon.vocabulary.values import Passage
from benchmarks.memory.runs import Made, Run

QUESTIONS = "hotpotqa_train.json"
CORPUS = "hotpotqa_train_corpus.json"
PASSAGES = 5


class _Question(msgspec.Struct):
    question: str
    supporting_facts: list[tuple[str, int]]


def hotpotqa_runs(folder: Path, work: Path, embedder: Embedder) -> list[Run]:
    """The runs; the index is made in `work` the first time, and used again."""
    corpus = msgspec.json.decode((folder / CORPUS).read_bytes(), type=dict[str, list[str]])
    questions = msgspec.json.decode((folder / QUESTIONS).read_bytes(), type=list[_Question])
    courses = work / "courses"
    courses.mkdir(parents=True, exist_ok=True)
    for title, sentences in corpus.items():
        _write(courses, title, sentences)
    index_paths([courses], work / "data", embedder)
    library = Library.open(work / "data", embedder)
    try:
        return [_run(question, corpus, library) for question in questions]
    finally:
        library.close()


def _write(courses: Path, title: str, sentences: list[str]) -> None:
    path = courses / f"{hashlib.sha256(title.encode()).hexdigest()[:16]}.txt"
    if not path.exists():
        text = " ".join("".join(sentences).split())
        path.write_text(f"Course Title: {title}\n\nLesson 1: {title}\n{text}\n", encoding="utf-8")


def _run(question: _Question, corpus: dict[str, list[str]], library: Library) -> Run:
    titles = list(dict.fromkeys(title for title, _ in question.supporting_facts))
    first = _search(library, question.question)
    had = {passage.course for passage in first.output.passages}
    missing = [title for title in titles if title not in had] or titles[-1:]
    second = tuple(_search(library, f"{title} {question.question}") for title in missing)
    found = [passage for made in (first, *second) for passage in made.output.passages]
    return Run(
        question=question.question,
        rounds=((first,), second),
        gold=tuple(_returned(question, corpus, found)),
    )


def _search(library: Library, query: str) -> Made:
    found = library.search(query, limit=PASSAGES)
    words = "\n\n".join(f"[{passage.source}]\n{passage.text.text}" for passage in found)
    return Made(
        name="search_course_content",
        arguments={"query": query},
        output=ToolOutput(text=words, passages=tuple(found)),
    )


def _returned(question: _Question, corpus: dict[str, list[str]], found: list[Passage]) -> Iterator[str]:
    """The supporting sentences that the tools returned."""
    texts = [" ".join(passage.text.text.split()) for passage in found]
    for title, number in question.supporting_facts:
        sentences = corpus.get(title, [])
        if number < len(sentences):
            sentence = " ".join(sentences[number].split())
            if any(sentence in text for text in texts):
                yield sentence
