"""The tokenizer of all-MiniLM-L6-v2, the same for every backend that runs it."""

from __future__ import annotations

from pathlib import Path

from tokenizers import BertWordPieceTokenizer

DIMENSIONS = 384
# The tokenizer shipped with the model cuts at 128 tokens; the model reads 256.
_WINDOW = 256
# The model's window, less its opening and closing token.
MAX_TOKENS = _WINDOW - 2

# BERT's uncased vocabulary (Apache-2.0, https://github.com/google-research/bert), which the model was trained with.
# It is included here because the package with the model's own tokenizer requires sentence-transformers and torch.
VOCABULARY = Path(__file__).with_name("minilm-vocab.txt")


class MiniLmTokens:
    """The model's own tokenizer."""

    def __init__(self) -> None:
        self._tokenizer = BertWordPieceTokenizer(str(VOCABULARY), lowercase=True)
        self._opening = self._tokenizer.token_to_id("[CLS]")
        self._closing = self._tokenizer.token_to_id("[SEP]")

    def count(self, text: str) -> int:
        """Counts the tokens of `text`, none cut off, special tokens left out."""
        return len(self._words(text))

    def ids(self, text: str) -> list[int]:
        """Returns the tokens of a text for the model, cut at its window."""
        # Cut here, because a tokenizer that cuts would also stop counting there, and a second one takes 6 MB.
        return [self._opening, *self._words(text)[:MAX_TOKENS], self._closing]

    def _words(self, text: str) -> list[int]:
        words: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return words
