"""Any model of sentence-transformers, such as a multilingual one, from a folder or the local cache."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.knowledge.embedders.sentence_encoder import SentenceEncoder
from antiphon.vocabulary.errors import ConfigurationError

# The window of a model that states none, less its opening and closing token.
_WINDOW = 512
_SPECIAL_TOKENS = 2


class OtherModelEmbedder:
    """An `Embedder` on torch."""

    def __init__(self, name: str, encoder: SentenceEncoder) -> None:
        model = encoder.model
        self.name = name
        self.dimensions = int(model.get_embedding_dimension())
        self.max_tokens = (model.max_seq_length or _WINDOW) - _SPECIAL_TOKENS
        self._encoder = encoder

    def count_tokens(self, text: str) -> int:
        return self._encoder.count_tokens(text)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return self._encoder.embed(texts)


def load(name: str, model: str) -> OtherModelEmbedder:
    """Loads a model from this machine.

    Raises:
        ConfigurationError: There is no model of that name, or it is not of that kind.
    """
    try:
        encoder = SentenceEncoder.load(model)
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"the embedding model {model!r} (ANTIPHON_EMBEDDING_MODEL) is not on this machine, or is no model of "
            f"sentence-transformers: name its folder, or fetch it into the local cache first with `hf download {model}`"
        ) from error
    return OtherModelEmbedder(name, encoder)
