"""Writes and reads the few tags of a briefing.

The synthesizer writes them; Claude and the offline reasoner read them. Text from outside is escaped, so that a document
or a question cannot open or close one of our tags.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeVar, get_args

import msgspec

from antiphon.vocabulary.typed import prepared

Tag = Literal[
    "courses",
    "conversation",
    "question",
    "attempts",
    "reasoning",
    "summary",
    "open",
    "review",
    "round",
    "material",
]

_OUR_TAG = re.compile(rf"<(?=\s*/?\s*(?:{'|'.join(get_args(Tag))})\b)", re.IGNORECASE)
S = TypeVar("S", bound=msgspec.Struct)


class NoteLine(NamedTuple):
    """One line within a tag, and the round that it is about."""

    round: int
    text: str


class Attempt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One tool call as a briefing notes it.

    Attributes:
        outcome: `found`, `nothing`, `failed` or `repeated`.
        facts: Numbers, from 1, of its sources in this request.
        detail: The error, or the substitute that answered; empty if there is nothing to say.
    """

    round: int
    tool: str
    arguments: dict[str, object]
    outcome: Literal["found", "nothing", "failed", "repeated"]
    facts: tuple[int, ...] = ()
    detail: str = ""

    def line(self) -> NoteLine:
        """Returns the attempt as one line of JSON."""
        return NoteLine(self.round, msgspec.json.encode(self).decode())


def wrap(tag: Tag, text: str) -> str:
    """Returns `text`, escaped, between the opening and the closing tag."""
    return f"<{tag}>\n{html.escape(text, quote=False)}\n</{tag}>"


def without_tags(text: str) -> str:
    """Escapes only what looks like one of our tags: for text from outside that is next to our tags."""
    return _OUR_TAG.sub("&lt;", text)


def unwrap(tag: Tag, text: str) -> str | None:
    """Returns the content of the first `tag` in `text`, unescaped; None if there is none."""
    found = re.search(rf"<{tag}>\n(.*?)\n</{tag}>", text, re.DOTALL)
    if found is None:
        return None
    return html.unescape(found.group(1))


def write_review(note: str) -> str:
    """Writes the words of reviewers who rejected the draft before this round; empty if there are none."""
    if not note:
        return ""
    return wrap(
        "review",
        f"Your last draft was not accepted as the answer. Its reviewers say:\n{note}",
    )


def write_attempts(attempts: Sequence[Attempt]) -> str:
    """Writes the attempts as JSON lines in their tag."""
    return wrap("attempts", "\n".join([attempt.line().text for attempt in attempts]))


def read_attempts(text: str) -> tuple[Attempt, ...]:
    """Reads the attempts written in `text`; none if the tag is missing."""
    return _read_lines("attempts", text, Attempt)


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """Some words of one source, for a summary."""

    source: str
    said: str


def write_material(material: Sequence[Material]) -> str:
    """Writes the material as JSON lines in its tag."""
    lines = [msgspec.json.encode(each).decode() for each in material]
    return wrap("material", "\n".join(lines))


def read_material(text: str) -> tuple[Material, ...]:
    """Reads the material that `text` begins with; none if it is something else."""
    if not text.startswith("<material>\n"):
        return ()
    return _read_lines("material", text, Material)


def _read_lines(tag: Tag, text: str, line_type: type[S]) -> tuple[S, ...]:
    """Reads the JSON lines within the first `tag` of `text`; skips blank lines."""
    body = unwrap(tag, text)
    if body is None:
        return ()
    lines = [line for line in body.split("\n") if line.strip()]
    return tuple(
        [msgspec.json.decode(line, type=prepared(line_type)) for line in lines]
    )
