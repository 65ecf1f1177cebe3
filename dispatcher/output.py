"""Bounds tool output: as a line in a message, as a tool's words, as passages that an answer can cite."""

from __future__ import annotations

import bisect
import hashlib
import math
from collections.abc import Sequence

import msgspec
from pydantic_core import to_json

from antiphon.language.sentences import sentence_starts
from antiphon.language.unseen import without_unseen
from antiphon.vocabulary.outside import web_link
from antiphon.vocabulary.ports import ToolOutput
from antiphon.vocabulary.values import Passage, Place, StoredText

MAX_TEXT = 20_000
"""Characters of a tool's words."""
MAX_PASSAGES = 20
MAX_PASSAGE = 8_000
"""Characters of one passage."""
MAX_LABEL = 300
"""Characters of a passage's source, course, title and place."""
MAX_PLACES = 200
"""Places of one passage in its file."""
NOTHING = "The tool returned nothing."


def to_output(tool: str, returned: object) -> ToolOutput:
    """Turns a tool's return value into bounded words and passages.

    A `ToolOutput` only gets its bounds. A string, or any value that can be written as JSON, becomes the words and one
    passage that an answer can cite, sentence by sentence or, for JSON, line by line.

    Raises:
        PydanticSerializationError: The value cannot be written as JSON.
    """
    if isinstance(returned, ToolOutput):
        return bounded(returned)
    if returned is None:
        return ToolOutput(text=NOTHING)
    if isinstance(returned, str):
        passage = quotable(tool, returned)
    else:
        passage = quotable(tool, to_json(returned, indent=2).decode())
    text = passage.text.text
    if not text.strip():
        return ToolOutput(text=NOTHING)
    return bounded(ToolOutput(text=text, passages=(passage,)))


def quotable(
    source: str, text: str, *, title: str | None = None, link: str | None = None
) -> Passage:
    """Makes a citable passage of a tool's words, divided into sentences or, for indented JSON, into lines.

    Args:
        source: The origin that a reader sees.
        link: Its web address, or None.
    """
    text = clean(text)
    starts_of = line_starts if text.startswith(("{\n", "[\n")) else sentence_starts
    return Passage(
        id=content_id(clean(source), text),
        source=source,
        text=StoredText(text),
        # One character more than is kept shows whether the last sentence ends at the bound.
        starts=starts_of(text[: MAX_PASSAGE + 1]),
        title=title,
        link=link,
        kind="text",
    )


def clean(text: str) -> str:
    """Removes invisible characters, and replaces lone surrogates, which UTF-8 can neither record nor send."""
    text = without_unseen(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def line(text: str, limit: int) -> str:
    """Returns `text` on one line, cut after `limit` characters."""
    if len(text) > limit:
        text = f"{text[:limit]}…"
    return clean(" ".join(text.split()))


def content_id(source: str, text: str) -> str:
    """Returns a passage's id, which is the same for the same text from the same source."""
    return hashlib.sha256(f"{source}\0{text}".encode()).hexdigest()[:32]


def line_starts(text: str) -> tuple[int, ...]:
    """Returns the offsets at which the lines of `text` begin, the first being 0."""
    starts = [0]
    for at, character in enumerate(text):
        if character == "\n" and at + 1 < len(text):
            starts.append(at + 1)
    return tuple(starts)


def bounded(output: ToolOutput) -> ToolOutput:
    """Cuts all that is too large in a tool's output, and notes the cuts in its words."""
    # Blank passages can be neither ranked nor cited, and the API refuses empty blocks.
    given = [passage for passage in output.passages if passage.text.text.strip()]
    passages = [_bounded_passage(passage) for passage in given[:MAX_PASSAGES]]
    text = clean(output.text[:MAX_TEXT])
    notes = _cuts(given, output.text)
    if notes:
        text = f"{text}\n[cut: {', '.join(notes)}]"
    return ToolOutput(text=text, passages=tuple(passages))


def _cuts(given: Sequence[Passage], text: str) -> list[str]:
    """Describes each cut, so that the model does not take the rest for the whole."""
    notes = []
    if len(given) > MAX_PASSAGES:
        notes.append(f"{len(given) - MAX_PASSAGES} more passages")
    cut_passages = 0
    for passage in given[:MAX_PASSAGES]:
        if len(passage.text.text) > MAX_PASSAGE:
            cut_passages += 1
    if cut_passages:
        notes.append(f"the ends of {cut_passages} long passages")
    if len(text) > MAX_TEXT:
        notes.append(f"{len(text) - MAX_TEXT:,} more characters")
    return notes


def _bounded_passage(passage: Passage) -> Passage:
    given = passage.text.text
    # Cut before cleaning: a hostile text may have gigabytes.
    beginning = clean(given[: MAX_PASSAGE + 1])
    starts = passage.starts
    # If cleaning removed something, the tool's own offsets no longer fit.
    is_shorter = len(beginning) < len(given[: MAX_PASSAGE + 1])
    if is_shorter or not _are_starts(starts, given):
        starts = sentence_starts(beginning)
    text, starts = _cut(beginning, starts)
    source = line(passage.source, MAX_LABEL)
    passage_id = line(passage.id, MAX_LABEL)
    stored = passage.text
    if text != given:
        # A changed text is another passage: it must not share the id of the whole.
        passage_id = content_id(source, text)
        stored = StoredText(text)
    # JSON has neither infinity nor NaN, and passages are sorted by score.
    score = passage.score if math.isfinite(passage.score) else 0.0
    return msgspec.structs.replace(
        passage,
        id=passage_id,
        text=stored,
        starts=starts,
        source=source,
        course=_label(passage.course),
        title=_label(passage.title),
        link=web_link(passage.link),
        place=_label(passage.place),
        places=_bounded_places(passage, len(text)),
        score=score,
    )


def _bounded_places(passage: Passage, length: int) -> tuple[Place, ...]:
    """Returns the places that begin within a passage of this length, with their names cut to the bound of labels."""
    places = []
    for place in passage.places[:MAX_PLACES]:
        if 0 <= place.start < length:
            name = line(place.name, MAX_LABEL)
            places.append(msgspec.structs.replace(place, name=name))
    return tuple(places)


def _are_starts(starts: tuple[int, ...], text: str) -> bool:
    """Returns True if a tool's own sentence starts rise from 0 and are within the text."""
    if not starts or starts[0] != 0 or starts[-1] >= len(text):
        return False
    # Equal to its sorted set: each start is larger than the one before.
    return list(starts) == sorted(set(starts))


def _cut(text: str, starts: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """Cuts to MAX_PASSAGE characters, at the end of a sentence unless the first one alone is longer."""
    if len(text) <= MAX_PASSAGE:
        return text, starts
    # The last sentence start within the bound is the end of the last whole sentence.
    within = starts[: bisect.bisect_right(starts, MAX_PASSAGE)]
    if len(within) == 1:
        return text[:MAX_PASSAGE], within
    return text[: within[-1]], within[:-1]


def _label(text: str | None) -> str | None:
    return line(text, MAX_LABEL) if text is not None else None
