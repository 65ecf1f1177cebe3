"""Makes a text short without breaking a sentence where that can be helped."""

from __future__ import annotations

from antiphon.language.sentences import sentences

ELLIPSIS = "…"


def shorten(text: str, most_chars: int) -> str:
    """The leading sentences of `text` that fit into `most_chars`, on one line; else its first words.

    What is left out shows as an ellipsis. Only a bounded part of a huge text is looked at.
    """
    bounded = text[: 2 * most_chars + 2]
    line = " ".join(bounded.split())
    if len(line) <= most_chars and len(bounded) == len(text):
        return line
    kept = _whole_sentences(line, most_chars - 2)
    return f"{kept} {ELLIPSIS}" if kept else _whole_words(line, most_chars - 1) + ELLIPSIS


def _whole_sentences(line: str, most_chars: int) -> str:
    length = 0
    for sentence in sentences(line):
        if length + len(sentence.rstrip()) > most_chars:
            break
        length += len(sentence)
    return line[:length].rstrip()


def _whole_words(line: str, most_chars: int) -> str:
    cut = line[:most_chars]
    return cut.rsplit(" ", 1)[0] if " " in cut else cut
