"""Indexes texts, asks questions of them through the service, and notes what was cited and how well it fits."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from antiphon import service
from antiphon.cli.phrases import stands_in
from antiphon.cli.questions import UNANSWERABLE
from antiphon.cli.questions import read_questions as read_sample_questions
from antiphon.engine.offline.catalogue import catalogue_of
from antiphon.engine.offline.excerpts import Found, look
from antiphon.engine.offline.reading import read_task
from antiphon.engine.offline.task import Task
from antiphon.knowledge import Library, index_paths
from antiphon.language.evidence import Measures
from antiphon.language.fit import Fit
from antiphon.vocabulary.events import (
    BriefingPrepared,
    Event,
    Recorded,
)
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Value

State = Literal["answered", "far", "near", "unanswerable"]
PLAIN_KINDS = frozenset(
    ("fact", "definition", "how", "why", "number", "yes_no", "false_premise")
)
"""Sample questions of these kinds are answered by what is chosen from one search."""
HALF_OF_GOLD = 0.5
"""An excerpt is cited where half of its characters are."""
AROUND_CHARS = 100
"""What goes with an excerpt that is taken out of its text, on either side."""
_TAG = re.compile(r"<[a-z]+>")
_FEWEST_CHARS = 20
"""Shorter pieces than this meet by chance."""


class Place(Value, frozen=True, kw_only=True):
    """Where an excerpt stands in its text, in characters; the end is exclusive."""

    content: str
    start_index: int
    end_index: int


class Asked(Value, frozen=True, kw_only=True):
    """One question of the set, and the excerpts of its text that answer it.

    Attributes:
        corpus: The text; of a sample question, who wrote it.
        state: Its text is in the index; or only others are; or its text without what answers it, so that what is
            nearest is no answer; or it was written to have no answer.
        needed: Phrases of the text that answer a sample question; any of them will do.
    """

    question: str
    corpus: str
    places: tuple[Place, ...] = ()
    state: State = "answered"
    needed: tuple[str, ...] = ()

    @property
    def gold(self) -> list[str]:
        return [place.content for place in self.places]


class Measured(Value, frozen=True, kw_only=True):
    """How well chosen excerpts fit a question, and whether they answer it."""

    fit: Fit
    right: bool


class Row(Value, frozen=True, kw_only=True):
    """One question, asked of an index.

    Attributes:
        retrieved: The passages found hold what answers it.
        cited: What the answer shows answers it.
        refused: The answer cites nothing.
        by_meaning: What is chosen by meaning and words, whether it was shown or not.
        by_words: What is chosen by words alone.
        is_of_text: It was made from a text; a person wrote the others.
    """

    question: str
    corpus: str
    state: State
    retrieved: bool
    cited: bool
    refused: bool
    confidence: str
    chars: int
    by_meaning: Measured
    by_words: Measured
    is_of_text: bool = True


def read_questions(path: Path, corpora: Sequence[str]) -> list[Asked]:
    """Reads the questions about these texts."""
    questions: list[Asked] = []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["corpus_id"] in corpora:
                places = msgspec.json.decode(row["references"], type=tuple[Place, ...])
                questions.append(
                    Asked(
                        question=row["question"],
                        corpus=row["corpus_id"],
                        places=places,
                    )
                )
    return questions


def read_samples(paths: Sequence[Path]) -> list[Asked]:
    """Reads the sample questions that one search answers, or none; their writer is the first letter of their id."""
    asked: list[Asked] = []
    for path in paths:
        lines = path.read_text(encoding="utf-8").splitlines()
        for each in read_sample_questions(lines, path.name):
            state: State = "answered"
            if each.kind == UNANSWERABLE:
                state = "unanswerable"
            elif each.kind not in PLAIN_KINDS:
                continue
            asked.append(
                Asked(
                    question=each.question,
                    corpus=each.id[0],
                    state=state,
                    needed=tuple(each.phrases),
                )
            )
    return asked


def take_out(asked: Sequence[Asked], text: str) -> tuple[str, list[Asked]]:
    """Takes what answers every second question out of the text, and returns it with those questions, now near."""
    gone = list(asked[1::2])
    cut: set[int] = set()
    for each in gone:
        for place in each.places:
            first = max(0, place.start_index - AROUND_CHARS)
            cut.update(range(first, place.end_index + AROUND_CHARS))
    left = [character for at, character in enumerate(text) if at not in cut]
    near = [msgspec.structs.replace(each, state="near") for each in gone]
    return "".join(left), near


def index(data_dir: Path, paths: Sequence[Path], embedder: str) -> service.Settings:
    """Indexes the files, where they are not indexed yet, and returns the settings to ask with."""
    settings = service.load_settings(
        data_dir=data_dir, embedder=embedder, reasoner="offline"
    )
    index_paths(paths, data_dir, service.embedder_of(settings), only=True)
    return settings


async def ask_all(settings: service.Settings, questions: Iterable[Asked]) -> list[Row]:
    """Asks each question of the service."""
    embedder = service.embedder_of(settings)
    library = Library.open(settings.data_dir, embedder)
    measures = Measures(library.weight, library.likeness)
    catalogue = catalogue_of(library.courses(), library.likeness)
    antiphon = await service.Antiphon.open(settings)
    rows: list[Row] = []
    try:
        for asked in questions:
            outcome = await antiphon.ask(service.Question(query=asked.question))
            trace = await antiphon.store.read(outcome.query_id)
            task = _last_task(trace)._replace(catalogue=catalogue)
            rows.append(_row(asked, outcome, task, measures))
    finally:
        await antiphon.close()
        library.close()
    return rows


def _row(
    asked: Asked,
    outcome: service.Outcome,
    task: Task,
    measures: Measures,
) -> Row:
    inquiry = task.inquiry
    passages = task.passages_of(inquiry.course, inquiry.lesson)
    response = outcome.response
    cited = [citation.cited_text for citation in response.citations]
    whole = ["".join(source.blocks) for source in task.passages]
    by_words = Measures(measures.weigh)
    return Row(
        question=asked.question,
        corpus=asked.corpus,
        state=asked.state,
        retrieved=holds_answer(asked, whole),
        cited=holds_answer(asked, cited),
        refused=not cited,
        confidence=response.confidence,
        chars=len(response.answer),
        by_meaning=_measured(asked, look(passages, inquiry.focus, measures)),
        by_words=_measured(asked, look(passages, inquiry.focus, by_words)),
        is_of_text=bool(asked.places),
    )


def _last_task(trace: Sequence[Recorded[Event]]) -> Task:
    """Returns the last request that the reasoner was sent, as it reads it."""
    content: list[Json] = []
    for recorded in trace:
        if isinstance(recorded.event, BriefingPrepared):
            content = []
            for block in recorded.event.messages[0].content:
                content.append(msgspec.json.decode(block.text))
    return read_task({"messages": [{"role": "user", "content": content}]})


def _measured(asked: Asked, found: Found) -> Measured:
    right = holds_answer(asked, _texts(found))
    return Measured(fit=found.extraction.fit, right=right)


def _texts(found: Found) -> list[str]:
    texts: list[str] = []
    for excerpt in found.extraction.excerpts:
        blocks = found.sources[excerpt.passage].blocks
        texts.append("".join(blocks[excerpt.first : excerpt.end]))
    return texts


def holds_answer(asked: Asked, texts: Sequence[str]) -> bool:
    """Returns True if half of an excerpt that answers, or a phrase, stands in the texts; what is near is no answer."""
    if asked.state != "answered":
        return False
    if any(stands_in(phrase, text) for phrase in asked.needed for text in texts):
        return True
    squeezed = [_squeezed(text) for text in texts]
    for gold in asked.gold:
        wanted = _squeezed(gold)
        if any(
            _shared(wanted, text) >= HALF_OF_GOLD * len(wanted) for text in squeezed
        ):
            return True
    return False


def _squeezed(text: str) -> str:
    # A Markdown reader leaves out what is written like a tag, such as the <unk> of these articles.
    return "".join(_TAG.sub("", text).split())


def _shared(wanted: str, text: str) -> int:
    """Returns how many characters of `wanted` stand in the text: all of them, all of its own, or those at a border."""
    if wanted in text:
        return len(wanted)
    if text in wanted:
        return len(text)
    for length in range(min(len(wanted), len(text)), _FEWEST_CHARS, -1):
        if wanted[:length] == text[-length:] or wanted[-length:] == text[:length]:
            return length
    return 0
