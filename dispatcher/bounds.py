"""How much of a hostile text is let through: as a line in a message, as a tool's words, as a passage."""

from __future__ import annotations

import hashlib
import itertools
import math
import re

import msgspec

from antiphon.language.sentences import sentence_starts
from antiphon.vocabulary.ports import ToolOutput
from antiphon.vocabulary.values import Passage, StoredText

MAX_TEXT = 20_000
"""Characters of a tool's words."""
MAX_PASSAGES = 20
MAX_PASSAGE = 8_000
"""Characters of one passage."""
MAX_LABEL = 300
"""Characters of a passage's source, course and title."""
MAX_LINK = 2_000


def clean(text: str) -> str:
    """`text` with lone surrogates replaced: they cannot be written as UTF-8, so neither recorded nor sent."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def line(text: str, limit: int) -> str:
    """`text` on one line, cut after `limit` characters."""
    short = text if len(text) <= limit else f"{text[:limit]}…"
    return clean(" ".join(short.split()))


def content_id(source: str, text: str) -> str:
    """A passage's id: the same text of the same source has the same one."""
    return hashlib.sha256(f"{source}\0{text}".encode()).hexdigest()[:32]


def bounded(output: ToolOutput) -> ToolOutput:
    """`output` with everything too large cut, and the words saying so."""
    said = [p for p in output.passages if p.text.text.strip()]
    passages = tuple(_bounded_passage(p) for p in said[:MAX_PASSAGES])
    cut = sum(len(p.text.text) > MAX_PASSAGE for p in said[:MAX_PASSAGES])
    notes = [f"{len(said) - MAX_PASSAGES} more passages"] if len(said) > MAX_PASSAGES else []
    notes += [f"the ends of {cut} long passages"] if cut else []
    notes += [f"{len(output.text) - MAX_TEXT:,} more characters"] if len(output.text) > MAX_TEXT else []
    text = clean(output.text[:MAX_TEXT])
    return ToolOutput(text=f"{text}\n[cut: {', '.join(notes)}]" if notes else text, passages=passages)


def _bounded_passage(passage: Passage) -> Passage:
    raw = passage.text.text
    starts = passage.starts if _are_starts(passage.starts, raw) else sentence_starts(clean(raw[: MAX_PASSAGE + 1]))
    text, starts = _cut(clean(raw[: MAX_PASSAGE + 1]), starts)
    source = line(passage.source, MAX_LABEL)
    return msgspec.structs.replace(
        passage,
        id=line(passage.id, MAX_LABEL) if text == raw else content_id(source, text),
        text=passage.text if text == raw else StoredText(text),
        starts=starts,
        source=source,
        course=_label(passage.course),
        title=_label(passage.title),
        link=_link(passage.link),
        score=passage.score if math.isfinite(passage.score) else 0.0,
    )


def _are_starts(starts: tuple[int, ...], text: str) -> bool:
    rising = all(first < second for first, second in itertools.pairwise(starts))
    return bool(starts) and starts[0] == 0 and rising and starts[-1] < len(text)


def _cut(text: str, starts: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """At most MAX_PASSAGE characters, whole sentences where the first sentence is not longer than that."""
    if len(text) <= MAX_PASSAGE:
        return text, starts
    within = tuple(start for start in starts if start <= MAX_PASSAGE)
    return (text[: within[-1]], within[:-1]) if len(within) > 1 else (text[:MAX_PASSAGE], within)


def _label(text: str | None) -> str | None:
    return None if text is None else line(text, MAX_LABEL)


def _link(link: str | None) -> str | None:
    """The link where it is an ordinary web address: it is shown in pages, where `javascript:` would run."""
    fits = link is not None and len(link) <= MAX_LINK and re.fullmatch(r"(?i:https?)://[^\s\"'<>\ud800-\udfff]+", link)
    return link if fits else None
