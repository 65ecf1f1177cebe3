"""Finds phrases in an answer like a reader, who ignores white space, emphasis, capitals and kinds of quotes."""

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


# Cached, because a run looks for every phrase in the same few dozen lessons.
@lru_cache(maxsize=1_024)
def plain(text: str) -> str:
    """Returns the text with white space, quotation marks, dashes and capitals in one form, without emphasis."""
    composed = unicodedata.normalize("NFKC", text).translate(_PLAIN)
    return " ".join(composed.casefold().split())


def stands_in(phrase: str, text: str) -> bool:
    """Returns True if the phrase is in the text as whole words; an empty phrase never is."""
    wanted = plain(phrase)
    if not wanted:
        return False
    # "7" must not match in "17", "7.5" or "7,000".
    pattern = rf"(?<!\w)(?<!\d[.,]){re.escape(wanted)}(?!\w)(?![.,]\d)"
    return re.search(pattern, plain(text)) is not None


def words(text: str) -> list[str]:
    """Returns the words of the text in the form of `plain`."""
    return re.findall(r"\w+", plain(text))
