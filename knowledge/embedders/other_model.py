"""Any model of sentence-transformers, such as one for many languages, from a folder or the local cache."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import torch
from sentence_transformers import SentenceTransformer
from transformers.utils.logging import disable_progress_bar

from antiphon.vocabulary.errors import ConfigurationError

_BATCH = 8
# What a model that states no limit is given, less its opening and closing token.
_WINDOW = 512
_SPECIAL_TOKENS = 2


class OtherModelEmbedder:
    """An `Embedder` on one torch thread."""

    def __init__(self, name: str, model: SentenceTransformer) -> None:
        self.name = name
        self.dimensions = int(model.get_embedding_dimension())
        self.max_tokens = (model.max_seq_length or _WINDOW) - _SPECIAL_TOKENS
        self._model = model
        self._lock = threading.Lock()

    def count_tokens(self, text: str) -> int:
        return len(self._model.tokenizer.tokenize(text))

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if not texts:
            return []
        with self._lock:
            found = self._model.encode(
                list(texts),
                batch_size=_BATCH,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
        vectors: list[list[float]] = found.tolist()
        return vectors


def load(name: str, model: str) -> OtherModelEmbedder:
    """Loads a model that lies on this machine.

    Raises:
        ConfigurationError: There is none of that name, or it is no such model.
    """
    torch.set_num_threads(1)
    disable_progress_bar()  # type: ignore[no-untyped-call]  # transformers types only part of itself
    try:
        loaded = SentenceTransformer(model, device="cpu", local_files_only=True)
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"the embedding model {model!r} (ANTIPHON_EMBEDDING_MODEL) is not on this machine, or is no model of "
            f"sentence-transformers: name its folder, or fetch it into the local cache first with `hf download {model}`"
        ) from error
    return OtherModelEmbedder(name, loaded)
