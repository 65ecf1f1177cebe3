"""Runs models of sentence-transformers, on one core for each calling thread."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import torch
from sentence_transformers import SentenceTransformer
from transformers.utils.logging import disable_progress_bar

from antiphon.knowledge.embedders.batches import embed_by_length

# Texts a run: sentences of equal length together take a quarter less CPU than one by one.
_BATCH = 8


class SentenceEncoder:
    """Turns texts into vectors of unit length; for many threads, each of which takes one core."""

    def __init__(self, model: SentenceTransformer) -> None:
        self.model = model
        self._lock = threading.Lock()

    @classmethod
    def load(cls, model: str) -> SentenceEncoder:
        """Loads a model from this machine.

        Raises:
            OSError: It is missing.
            ValueError: It is no model.
        """
        # Otherwise torch wakes all cores for each text, and the threads of queries wait for one another.
        torch.set_num_threads(1)
        # The progress bar would appear on the error output of every command.
        disable_progress_bar()  # type: ignore[no-untyped-call]  # transformers types only part of itself
        loaded = SentenceTransformer(model, device="cpu", local_files_only=True)
        return cls(loaded.eval())

    def count_tokens(self, text: str) -> int:
        with self._lock:
            return len(self.model.tokenizer.tokenize(text))

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Returns the texts' vectors, in their order."""
        return embed_by_length(texts, len, self._run, _BATCH)

    def _run(self, texts: Sequence[str]) -> list[list[float]]:
        # The tokenizer holds state for padding and truncation, so one thread at a time may use it, unlike the model.
        with self._lock:
            features = self.model.preprocess(list(texts))
        with torch.inference_mode():
            found = self.model(features)["sentence_embedding"]
            unit = torch.nn.functional.normalize(found)
        rows: list[list[float]] = unit.tolist()
        return rows
