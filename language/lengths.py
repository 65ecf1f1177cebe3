"""Measures texts in tokens, and shortens them, between sentences if possible."""

from __future__ import annotations

from antiphon.language.sentences import sentences

BYTES_A_TOKEN = 4
ELLIPSIS = "…"


def tokens_of(text: str) -> int:
    """Estimates the tokens of a text as a quarter of its UTF-8 bytes, without any model's tokenizer.

    In English that is the usual four characters a token; scripts that take more tokens a character also take more
    bytes, so the estimate is not far too low for any language.
    """
    # Most texts are ASCII, which Python knows without scanning them.
    size_bytes = len(text) if text.isascii() else len(text.encode(errors="replace"))
    return (size_bytes + BYTES_A_TOKEN - 1) // BYTES_A_TOKEN


def shorten(text: str, most_chars: int) -> str:
    """Returns the leading sentences of `text` that fit into `most_chars`, on one line; else its first words.

    An ellipsis marks the cut.
    """
    # A text may be huge, and only twice the wanted length can matter, so the rest is not split.
    bounded = text[: 2 * most_chars + 2]
    line = " ".join(bounded.split())
    if len(line) <= most_chars and len(bounded) == len(text):
        return line
    length = 0
    for sentence in sentences(line):
        # Two characters are reserved for the ellipsis and the space before it.
        if length + len(sentence.rstrip()) > most_chars - 2:
            break
        length += len(sentence)
    whole_sentences = line[:length].rstrip()
    if whole_sentences:
        return f"{whole_sentences} {ELLIPSIS}"
    words = line[: most_chars - 1].rsplit(" ", 1)[0]
    return words + ELLIPSIS


def first_lines(text: str, most_tokens: int) -> str:
    """Returns the leading lines of `text` that fit into `most_tokens`, so that lists stay lists; at least some words.

    An ellipsis marks the cut.
    """
    text = text.strip()
    if tokens_of(text) <= most_tokens:
        return text
    kept: list[str] = []
    left = most_tokens
    for line in text.splitlines():
        left -= tokens_of(line + "\n")
        if left < 0:
            break
        kept.append(line)
    if not kept:
        return _first_words(text, most_tokens)
    return "\n".join([*kept, ELLIPSIS])


def _first_words(text: str, most_tokens: int) -> str:
    chars = most_tokens * BYTES_A_TOKEN
    words = shorten(text, chars)
    while tokens_of(words) > most_tokens:
        # Other scripts than Latin take more bytes a character, so the cut may have to be shorter.
        chars = chars * 4 // 5
        words = shorten(text, chars)
    return words
