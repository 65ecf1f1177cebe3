"""The open question sets as folders of courses, and the coverage of a search on them."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from antiphon.vocabulary.values import Passage, Value

CHUNKING_EVALUATION = "chunking_evaluation"
HOTPOTQA = "hotpotqa_100"


class Range(Value, frozen=True, kw_only=True):
    """Characters of a corpus, from `start` up to `end`."""

    start: int
    end: int


class ExcerptQuestion(Value, frozen=True, kw_only=True):
    """A question and the characters of one corpus that answer it."""

    text: str
    corpus: str
    excerpts: tuple[Range, ...]


class HopQuestion(Value, frozen=True, kw_only=True):
    """A question and the titles of the passages that its answer needs."""

    text: str
    titles: frozenset[str]


def corpora(data: Path) -> dict[str, str]:
    """Returns the corpora of chunking_evaluation by name."""
    files = sorted((data / CHUNKING_EVALUATION / "corpora").glob("*.md"))
    return {file.stem: file.read_text() for file in files}


def excerpt_questions(data: Path) -> list[ExcerptQuestion]:
    """Reads the questions of chunking_evaluation."""
    questions = []
    with (data / CHUNKING_EVALUATION / "questions_df.csv").open() as file:
        for row in csv.DictReader(file):
            excerpts = []
            for found in json.loads(row["references"]):
                excerpts.append(
                    Range(start=found["start_index"], end=found["end_index"])
                )
            question = ExcerptQuestion(
                text=row["question"],
                corpus=row["corpus_id"],
                excerpts=tuple(excerpts),
            )
            questions.append(question)
    return questions


def write_corpora(texts: Mapping[str, str], folder: Path) -> None:
    """Writes each corpus as a file to index, named after it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(f"Course Title: {name}\n\n{text}")


def hop_passages(data: Path) -> dict[str, str]:
    """Returns the passages of hotpotqa_100 by title."""
    found: dict[str, list[str]] = json.loads(
        (data / HOTPOTQA / "hotpotqa_train_corpus.json").read_text()
    )
    return {title: "".join(sentences) for title, sentences in found.items()}


def hop_questions(data: Path) -> list[HopQuestion]:
    """Reads the questions of hotpotqa_100."""
    rows: list[dict[str, Any]] = json.loads(
        (data / HOTPOTQA / "hotpotqa_train.json").read_text()
    )
    questions = []
    for row in rows:
        titles = frozenset(title for title, _ in row["supporting_facts"])
        questions.append(HopQuestion(text=row["question"], titles=titles))
    return questions


def write_passages(texts: Mapping[str, str], folder: Path) -> None:
    """Writes each passage as a separate course."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, (title, text) in enumerate(texts.items()):
        path = folder / f"{number:04}.txt"
        path.write_text(f"Course Title: {title}\n\n{text.strip()}\n")


class Places:
    """Finds a passage's characters in the original corpus, before indexing.

    Loading joins wrapped lines and the like, which changes only white space: so this compares the other characters.
    """

    def __init__(self, text: str) -> None:
        self._offsets = [
            place for place, letter in enumerate(text) if not letter.isspace()
        ]
        self._solid = "".join(text[place] for place in self._offsets)

    def ranges(self, passage: Passage) -> list[Range]:
        """Returns the place of the passage; if it is not found, a range outside the corpus, which lowers precision."""
        solid = "".join(passage.text.text.split())
        first = self._solid.find(solid)
        if first < 0:
            return [Range(start=-len(passage.text.text), end=0)]
        start = self._offsets[first]
        return [Range(start=start, end=self._offsets[first + len(solid) - 1] + 1)]


class Coverage(Value, frozen=True, kw_only=True):
    """One question's figures, as chunking_evaluation defines them; `characters` counts the retrieved ones."""

    recall: float
    precision: float
    iou: float
    characters: int


def coverage(
    question: ExcerptQuestion,
    passages: Sequence[Passage],
    places: Mapping[str, Places],
) -> Coverage:
    """Compares the retrieved ranges with those that answer."""
    retrieved = 0
    covered: set[int] = set()
    wanted: set[int] = set()
    for excerpt in question.excerpts:
        wanted.update(range(excerpt.start, excerpt.end))
    for passage in passages:
        retrieved += len(passage.text.text)
        if passage.course != question.corpus:
            continue
        for found in places[question.corpus].ranges(passage):
            covered.update(wanted.intersection(range(found.start, found.end)))
    return Coverage(
        recall=len(covered) / len(wanted),
        precision=len(covered) / max(retrieved, 1),
        iou=len(covered) / (retrieved + len(wanted) - len(covered)),
        characters=retrieved,
    )
