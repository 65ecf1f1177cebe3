"""Finds all fields in which two plain values differ, and for long texts the words that differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

import msgspec

from antiphon.vocabulary.values import Value

SHOWN_CHARS = 80
"""Characters of each of two values in a sentence, so that both fit on a line."""
MOST_FIELDS = 40
"""Fields of one event that are listed one by one; any further ones count as one."""
MOST_WORDS = 3_000
"""Most words between the first and the last difference to compare one by one, which takes quadratic time."""
CONTEXT = 4
"""Words shown on each side of a difference."""
CONTEXT_CHARS = 20
"""Characters of each of these words."""
MOST_PLACES = 6
"""The most differing places of a text to show."""


class FieldChange(Value, frozen=True, kw_only=True):
    """One field in which two events differ.

    Attributes:
        path: Such as `messages[0].content[2]`.
        left: What the left one holds there, shortened; empty if it holds nothing.
        right: The same for the right one.
        words: Of two long texts, the words that differ: `… kept [-gone-] {+come+} kept …`; else empty.
    """

    path: str
    left: str
    right: str
    words: str = ""

    def __str__(self) -> str:
        if self.words:
            return f"{self.path}: {self.words}"
        return f"{self.path}: {self.left} | {self.right}"


def differing_fields(left: object, right: object) -> tuple[FieldChange, ...]:
    """Returns the fields in which two plain values differ, in their order."""
    found: list[FieldChange] = []
    for path, was, now in _differing(left, right, ""):
        if len(found) == MOST_FIELDS:
            found.append(FieldChange(path="…", left="more", right="more"))
            break
        found.append(_change(path.removeprefix("."), was, now))
    return tuple(found)


def _differing(
    left: object, right: object, path: str
) -> Iterator[tuple[str, object, object]]:
    if left == right:
        return
    if isinstance(left, dict) and isinstance(right, dict):
        # In the order of the fields, the left value's first.
        for name in left | right:
            yield from _differing(left.get(name), right.get(name), f"{path}.{name}")
    elif isinstance(left, list) and isinstance(right, list):
        yield from _differing_items(left, right, path)
    else:
        yield path, left, right


def _differing_items(
    left: list[object], right: list[object], path: str
) -> Iterator[tuple[str, object, object]]:
    """Compares items in pairs only if as many went as came, so that an inserted item does not shift the others."""
    for change, start, end, other_start, other_end in _matcher(
        [_key(item) for item in left], [_key(item) for item in right]
    ).get_opcodes():
        if change == "equal":
            continue
        gone, came = left[start:end], right[other_start:other_end]
        if len(gone) != len(came):
            yield f"{path}[{start}]", gone or None, came or None
            continue
        for number, (was, now) in enumerate(zip(gone, came, strict=True), start=start):
            yield from _differing(was, now, f"{path}[{number}]")


def _key(item: object) -> str:
    return msgspec.json.encode(item, order="deterministic").decode()


def _change(path: str, was: object, now: object) -> FieldChange:
    left, right = _in_words(was), _in_words(now)
    words = ""
    if left.split() == right.split():
        # Only white space differs, which a line would not show, but JSON does.
        left, right = json_of(was), json_of(now)
    elif max(len(left), len(right)) > SHOWN_CHARS:
        words = differing_words(left, right)
    left, right = excerpts(left, right, SHOWN_CHARS)
    return FieldChange(path=path, left=left, right=right, words=words)


def excerpts(left: str, right: str, most: int) -> tuple[str, str]:
    """Returns two texts, or the parts of longer ones from shortly before their difference, equal only if the texts are.

    Args:
        most: Characters of each.
    """
    is_cut = max(len(left), len(right)) > most
    start = max(0, _common(left, right) - most // 3) if is_cut else 0
    return _excerpt(left, start, most), _excerpt(right, start, most)


def _excerpt(text: str, start: int, most: int) -> str:
    if start:
        text = f"…{text[start + 1 :]}"
    if len(text) <= most:
        return text
    return f"{text[: most - 1]}…"


def json_of(value: object) -> str:
    """Returns a plain value as JSON."""
    return msgspec.json.encode(value).decode()


def _in_words(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, dict | list):
        return json_of(value)
    return str(value)


def differing_words(left: str, right: str) -> str:
    """Returns the words in which two texts differ, each with a few words around it."""
    ours, theirs = left.split(), right.split()
    start = _common(ours, theirs)
    end = _common(ours[start:][::-1], theirs[start:][::-1])
    middle = ours[start : len(ours) - end]
    other = theirs[start : len(theirs) - end]
    before = _context(ours[max(0, start - CONTEXT) : start])
    after = _context(ours[len(ours) - end :][:CONTEXT])
    places = [_marked(middle[:MOST_WORDS], other[:MOST_WORDS])]
    # Texts with little in common come one after the other, because word by word they would be unreadable.
    if len(middle) <= MOST_WORDS and len(other) <= MOST_WORDS:
        places = _places(middle, other)
    shown = " … ".join(places[:MOST_PLACES])
    if len(places) > MOST_PLACES:
        shown += f" … and {len(places) - MOST_PLACES} more places"
    opening = "… " if start > CONTEXT else ""
    closing = " …" if end > CONTEXT else ""
    return opening + " ".join([*before, shown, *after]) + closing


def _common(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """Counts the words, or the characters of texts, that both have in common at the beginning."""
    count = 0
    for word, other in zip(ours, theirs, strict=False):
        if word != other:
            break
        count += 1
    return count


def _places(ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    places: list[str] = []
    for group in _matcher(ours, theirs).get_grouped_opcodes(CONTEXT):
        words: list[str] = []
        for change, start, end, other_start, other_end in group:
            if change == "equal":
                words += _context(ours[start:end])
            else:
                words.append(_marked(ours[start:end], theirs[other_start:other_end]))
        places.append(" ".join(words))
    return places


def _marked(gone: Sequence[str], came: Sequence[str]) -> str:
    """Marks words as `git diff --word-diff` does."""
    marked: list[str] = []
    was, now = excerpts(" ".join(gone), " ".join(came), SHOWN_CHARS)
    if gone:
        marked.append(f"[-{was}-]")
    if came:
        marked.append(f"{{+{now}+}}")
    return " ".join(marked)


def _matcher(ours: Sequence[str], theirs: Sequence[str]) -> SequenceMatcher[str]:
    # `autojunk` would ignore frequent words.
    return SequenceMatcher(None, ours, theirs, autojunk=False)


def _context(words: Sequence[str]) -> list[str]:
    """Shortens the words around a difference, because a text without blanks is one long word."""
    return [_excerpt(word, 0, CONTEXT_CHARS) for word in words]
