"""Tokens as all-MiniLM-L6-v2 counts them, the same for every backend that runs it."""

from __future__ import annotations

from pathlib import Path

from tokenizers import BertWordPieceTokenizer, Encoding

DIMENSIONS = 384
# As shipped with the model its tokenizer cuts at 128 tokens; the model reads 256.
_WINDOW = 256
# The model's window, less its opening and closing token.
MAX_TOKENS = _WINDOW - 2

# BERT's uncased vocabulary (Apache-2.0, https://github.com/google-research/bert), which the model was trained with.
# It stands here because the package that carries the model's own tokenizer brings sentence-transformers and torch.
VOCABULARY = Path(__file__).with_name("minilm-vocab.txt")


class MiniLmTokens:
    """The model's own tokenizer."""

    def __init__(self) -> None:
        self._counting = BertWordPieceTokenizer(str(VOCABULARY), lowercase=True)
        self._feeding = BertWordPieceTokenizer(str(VOCABULARY), lowercase=True)
        self._feeding.enable_truncation(_WINDOW)

    def count(self, text: str) -> int:
        """Counts the tokens of `text`, none cut off, special tokens left out."""
        return len(self._counting.encode(text, add_special_tokens=False).ids)

    def encode(self, text: str) -> Encoding:
        """Encodes a text as the model is fed it, cut at its window."""
        encoding: Encoding = self._feeding.encode(text)
        return encoding
