"""The scorer: sentences ranked by meaning where that can be had, and no scores where it cannot."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest

from synthesizer import SentenceScorer
from vocabulary.errors import KnowledgeError
from vocabulary.events import AnyEvent, Recorded, SentencesScored, SentencesToScore
from vocabulary.ports import Embedder
from vocabulary.values import Kept


class LetterEmbedder:
    """Embeds a text by whether it speaks of logs or of anything else."""

    name = "letters"
    dimensions = 2
    max_tokens = 10

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0, 0.0] if "log" in text else [0.0, 1.0] for text in texts]

    def count_tokens(self, text: str) -> int:
        return len(text)


class BrokenEmbedder(LetterEmbedder):
    """Fails as `error` says."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        raise self._error


async def scores_of(embedder: Embedder | None, *sentences: str) -> SentencesScored:
    published: list[AnyEvent] = []
    running: list[asyncio.Task[None]] = []

    def spawn(work: Coroutine[Any, Any, None], /, *, background: bool = False) -> Callable[[], object]:
        running.append(asyncio.create_task(work))
        return running[-1].cancel

    scorer = SentenceScorer(published.append, spawn, embedder)
    asked = SentencesToScore(call_id="c", query="a log", sentences=tuple(map(Kept, sentences)))
    scorer.on_sentences_to_score(Recorded(query_id="q", seq=1, cause=0, at=0.0, event=asked))
    await asyncio.gather(*running)
    (said,) = published
    assert isinstance(said, SentencesScored)
    return said


async def test_each_sentence_gets_its_likeness_to_the_question_in_order() -> None:
    said = await scores_of(LetterEmbedder(), "bread", "the log")

    assert said == SentencesScored(call_id="c", scores=(0.0, 1.0))


@pytest.mark.parametrize("error", [KnowledgeError("the model is gone"), RuntimeError("out of memory")])
async def test_an_embedder_that_fails_gives_no_scores(error: Exception) -> None:
    assert (await scores_of(BrokenEmbedder(error), "the log")).scores == ()


async def test_without_an_embedder_there_are_no_scores() -> None:
    assert (await scores_of(None, "the log")).scores == ()


async def test_too_many_sentences_are_not_scored() -> None:
    assert (await scores_of(LetterEmbedder(), *["the log"] * 401)).scores == ()
