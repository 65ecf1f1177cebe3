"""How long a text is, for budgets: estimated without any model's tokenizer."""

from __future__ import annotations

BYTES_A_TOKEN = 4


def tokens_of(text: str) -> int:
    """Estimated tokens: a quarter of the UTF-8 bytes.

    In English that is the usual four characters a token; scripts that take more tokens a character also take
    more bytes, so no language is underrated much.
    """
    return (len(text.encode(errors="replace")) + BYTES_A_TOKEN - 1) // BYTES_A_TOKEN
