"""Reads front matter: the fields that describe a Markdown file, in YAML, TOML or JSON."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from antiphon.knowledge.readers.content import BLANK, Line
from antiphon.knowledge.readers.yaml_values import parsed

_LONGEST = 20_000
_FENCED = re.compile(
    r"\s{0,99}(---|\+\+\+)[ \t]{0,9}\n(.{0,20000}?)(?:(?<=\n)|\n)(?:\1|\.\.\.)[ \t]{0,9}(?:\n|$)",
    re.DOTALL,
)
_FIELD = re.compile(
    r"([A-Za-z][\w -]{0,40}?)\s{0,9}[:=]\s{1,9}(\S.{0,1000})$", re.MULTILINE
)
# In the order on the page.
_TEXTS = (
    "subtitle",
    "description",
    "summary",
    "excerpt",
    "question",
    "questions",
    "objectives",
    "keypoints",
)
_WORDS = ("tags", "keywords")
_MOST_ITEMS = 100


class FrontMatter(NamedTuple):
    """The fields by lower-case name, and the text after them."""

    values: Mapping[str, object]
    rest: str


def split_front_matter(text: str) -> FrontMatter:
    """Splits a file's front matter from its text; without front matter there are no fields."""
    found = _FENCED.match(text)
    if found is not None:
        read = _toml if found[1] == "+++" else parsed
        return FrontMatter(_named(read(found[2]), found[2]), text[found.end() :])
    start = text.lstrip()
    if start.startswith("{\n"):
        try:
            values, end = json.JSONDecoder().raw_decode(start[:_LONGEST])
        except (ValueError, RecursionError):
            return FrontMatter({}, text)
        return FrontMatter(_named(values, ""), start[end:])
    return FrontMatter({}, text)


def lines_of(values: Mapping[str, object]) -> Iterator[Line]:
    """Yields the fields with text for people, as paragraphs and lists."""
    for name in _TEXTS:
        yield from _lines(values.get(name))
    for name in _WORDS:
        words = _texts(values.get(name))
        if words:
            yield Line(f"{name.capitalize()}: {', '.join(words)}")
            yield BLANK


def texts_in(text: str, names: Sequence[str]) -> list[str]:
    """Returns the texts of some of the fields in lines of YAML."""
    values = _named(parsed(text), text) if text.strip() else {}
    return [each for name in names for each in _texts(values.get(name))]


def _lines(value: object) -> Iterator[Line]:
    mark = "- " if isinstance(value, list) else ""
    texts = _texts(value)
    for text in texts:
        yield Line(f"{mark}{text}")
    if texts:
        yield BLANK


def _texts(value: object) -> list[str]:
    """Returns a text, or the texts of a list, each on one line; nothing for any other value."""
    values = value if isinstance(value, list) else [value]
    return [
        " ".join(each.split())
        for each in values[:_MOST_ITEMS]
        if isinstance(each, str) and each.strip()
    ]


def _toml(text: str) -> object:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _named(values: object, text: str) -> dict[str, object]:
    """Returns the fields; if the whole is malformed, those on a line of their own."""
    if not isinstance(values, dict):
        values = {name: _value(value) for name, value in _FIELD.findall(text)}
    named = {str(name).lower(): value for name, value in values.items()}
    title = named.get("title")
    if type(title) in (int, float):
        named["title"] = str(title)
    return named


def _value(text: str) -> object:
    """Reads one field alone; takes a malformed line, or one with more than a field, as text."""
    value = parsed(text)
    return text.strip() if value is None or isinstance(value, dict) else value
