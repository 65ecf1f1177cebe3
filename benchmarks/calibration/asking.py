"""Indexes texts, asks questions of them through the service, and notes what was cited and how well it fits."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from antiphon import service
from antiphon.engine.offline.excerpts import Found, look
from antiphon.engine.offline.intents import understand
from antiphon.engine.offline.reading import read_task
from antiphon.engine.offline.task import Source, Task
from antiphon.knowledge import Library, index_paths
from antiphon.language.evidence import Measures
from antiphon.vocabulary.events import (
    BriefingPrepared,
    Event,
    Recorded,
)
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Value

HALF_OF_GOLD = 0.5
"""An excerpt is cited where half of its characters are."""
_TAG = re.compile(r"<[a-z]+>")
_FEWEST_CHARS = 20
"""Shorter pieces than this meet by chance."""


class Asked(Value, frozen=True, kw_only=True):
    """One question of the set, and the excerpts of its text that answer it."""

    question: str
    corpus: str
    gold: tuple[str, ...]


class Measured(Value, frozen=True, kw_only=True):
    """How well chosen excerpts fit a question (`language.extract.Fit`), and whether they answer it."""

    likeness: float
    share: float
    evidence: float
    chance: float
    right: bool


class Row(Value, frozen=True, kw_only=True):
    """One question, asked of an index.

    Attributes:
        answerable: The text that it is about is in the index.
        retrieved: The passages found hold what answers it.
        cited: What the answer shows answers it.
        refused: The answer cites nothing.
        by_meaning: What is chosen by meaning and words, whether it was shown or not.
        by_words: What is chosen by words alone.
        left: The same as both, where all that answers was taken away: what is left is near, and no answer. None where
            nothing is left, or nothing was there.
    """

    question: str
    corpus: str
    answerable: bool
    retrieved: bool
    cited: bool
    refused: bool
    confidence: str
    chars: int
    by_meaning: Measured
    by_words: Measured
    left: tuple[Measured, Measured] | None


class _Reference(msgspec.Struct):
    content: str


def read_questions(path: Path, corpora: Sequence[str]) -> list[Asked]:
    """Reads the questions about these texts."""
    questions: list[Asked] = []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["corpus_id"] in corpora:
                references = msgspec.json.decode(
                    row["references"], type=list[_Reference]
                )
                gold = tuple([reference.content for reference in references])
                questions.append(
                    Asked(question=row["question"], corpus=row["corpus_id"], gold=gold)
                )
    return questions


def index(data_dir: Path, paths: Sequence[Path], embedder: str) -> service.Settings:
    """Indexes the files, where they are not indexed yet, and returns the settings to ask with."""
    settings = service.load_settings(
        data_dir=data_dir, embedder=embedder, reasoner="offline"
    )
    index_paths(paths, data_dir, service.embedder_of(settings), only=True)
    return settings


async def ask_all(
    settings: service.Settings, questions: Iterable[Asked], own: Sequence[str]
) -> list[Row]:
    """Asks each question of the service.

    Args:
        own: The texts that are in the index; questions about others are answered by nothing.
    """
    embedder = service.embedder_of(settings)
    library = Library.open(settings.data_dir, embedder)
    measures = Measures(library.weight, library.likeness)
    antiphon = await service.Antiphon.open(settings)
    rows: list[Row] = []
    try:
        for asked in questions:
            outcome = await antiphon.ask(service.Question(query=asked.question))
            trace = await antiphon.store.read(outcome.query_id)
            rows.append(_row(asked, asked.corpus in own, outcome, trace, measures))
    finally:
        await antiphon.close()
        library.close()
    return rows


def _row(
    asked: Asked,
    answerable: bool,
    outcome: service.Outcome,
    trace: Sequence[Recorded[Event]],
    measures: Measures,
) -> Row:
    task = _last_task(trace)
    focus = understand(task.question, task.earlier).focus
    response = outcome.response
    cited = [citation.cited_text for citation in response.citations]
    whole = ["".join(source.blocks) for source in task.passages]
    by_meaning, by_words = _measured(asked, focus, task.passages, measures)
    left = None
    without = [each for each in task.passages if not _touches_gold(asked, each)]
    if answerable and without:
        left = _measured(asked, focus, without, measures)
    return Row(
        question=asked.question,
        corpus=asked.corpus,
        answerable=answerable,
        retrieved=answerable and _holds_gold(asked, whole),
        cited=answerable and _holds_gold(asked, cited),
        refused=not cited,
        confidence=response.confidence,
        chars=len(response.answer),
        by_meaning=by_meaning,
        by_words=by_words,
        left=left,
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


def _measured(
    asked: Asked, focus: str, passages: Sequence[Source], measures: Measures
) -> tuple[Measured, Measured]:
    """Measures what is chosen of the passages, by meaning and words and by words alone, however sure it is."""
    by_meaning = look(passages, focus, measures)
    by_words = look(passages, focus, Measures(measures.weigh))
    return _as_measured(asked, by_meaning), _as_measured(asked, by_words)


def _as_measured(asked: Asked, found: Found) -> Measured:
    fit = found.extraction.fit
    return Measured(
        likeness=fit.likeness or 0.0,
        share=fit.share,
        evidence=fit.evidence,
        chance=fit.chance,
        right=_holds_gold(asked, _texts(found)),
    )


def _touches_gold(asked: Asked, source: Source) -> bool:
    text = _squeezed("".join(source.blocks))
    return any(_shared(_squeezed(gold), text) for gold in asked.gold)


def _texts(found: Found) -> list[str]:
    texts: list[str] = []
    for excerpt in found.extraction.excerpts:
        blocks = found.sources[excerpt.passage].blocks
        texts.append("".join(blocks[excerpt.first : excerpt.end]))
    return texts


def _holds_gold(asked: Asked, texts: Sequence[str]) -> bool:
    """Returns True if half of an excerpt that answers stands in the texts."""
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
