"""Phrases of an answer: compared as a reader would, whatever white space, quotation marks, emphasis and capitals."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_PLAIN = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2010": "-",
        "\u2011": "-",
        "\u2013": "-",
        "\u2014": "-",
        # Marks of Markdown: an answer may set the sentence that carries it in bold.
        "*": "",
        "`": "",
    }
)


# Every phrase of a run is looked for in the same few dozen lessons.
@lru_cache(maxsize=1_024)
def plain(text: str) -> str:
    """Returns the text in one form of white space, quotation marks, dashes and capitals, without emphasis."""
    composed = unicodedata.normalize("NFKC", text).translate(_PLAIN)
    return " ".join(composed.casefold().split())


def stands_in(phrase: str, text: str) -> bool:
    """Returns True if the phrase is in the text as whole words; an empty phrase never is."""
    wanted = plain(phrase)
    if not wanted:
        return False
    # "7" is not part of "17", nor of "7.5" or "7,000".
    pattern = rf"(?<!\w)(?<!\d[.,]){re.escape(wanted)}(?!\w)(?![.,]\d)"
    return re.search(pattern, plain(text)) is not None


def words(text: str) -> list[str]:
    """Returns the words of the text, made alike as `plain` does."""
    return re.findall(r"\w+", plain(text))
