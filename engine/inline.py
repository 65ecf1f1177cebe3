"""Writes sources as numbered plain text, and reads the citations in a reply, for servers without `search_result`.

A source reads `[3] Course - Lesson 2`, and its sentences below `[3.1] …`. The reply cites them as `[3.1]` or
`[3.1-2]`; these marks are removed from the text and become the same citations that other servers send.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from antiphon.engine.reply import Reply
from antiphon.language.markup import without_tags
from antiphon.language.words import terms
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Message, ReplyCitation, StoredText

Sources = tuple[tuple[str, ...], ...]
"""The sentences of each source, in the order of their numbers in the request."""

_REFERENCE_PATTERN = r"\d{1,4}(?:\.\d{1,4})?(?:\s*[-\u2013]\s*\d{1,4}(?:\.\d{1,4})?)?"
_MARKER = re.compile(
    rf"(?<![ \t])[ \t]*\[({_REFERENCE_PATTERN}(?:\s*[,;]\s*{_REFERENCE_PATTERN})*)\]"
)
"""All references in one pair of brackets, with the blanks before it, which are removed too."""
_REFERENCE = re.compile(
    r"(?P<source>\d+)(?:\.(?P<block>\d+))?(?:\s*[-\u2013]\s*(?:(?P<last_source>\d+)\.)?(?P<last>\d+))?"
)
"""`3`, `3.1`, `3-4` (sources 3 and 4), `3.1-2` or `3.1-3.2`."""
_SENTENCE_END = re.compile(r"[.!?][\"')\u201d]*\s+|\n+")


class _Reference(NamedTuple):
    """A source, counted from 0, and the blocks of it that are cited; no blocks if only the source is."""

    source: int
    blocks: range | None = None


class _Claim(NamedTuple):
    """The span of the clean text that a marker follows, in characters."""

    start: int = 0
    end: int = 0


def numbered(messages: Sequence[Message]) -> tuple[tuple[Message, ...], Sources]:
    """Returns the messages with every search result as numbered text, and the sentences by number."""
    sources: list[tuple[str, ...]] = []
    result = []
    for message in messages:
        content = []
        for stored in message.content:
            # Most blocks contain none, which this check finds without decoding them.
            if '"search_result"' in stored.text:
                block = _with_numbers(msgspec.json.decode(stored.text), sources)
                stored = StoredText(msgspec.json.encode(block).decode())
            content.append(stored)
        result.append(replace(message, content=tuple(content)))
    return tuple(result), tuple(sources)


def _with_numbers(block: Json, sources: list[tuple[str, ...]]) -> Json:
    """Turns a search result, or those in a tool result, into numbered text; adds its sentences to `sources`."""
    kind = block.get("type")
    if kind == "search_result":
        sentences = tuple([str(part.get("text", "")) for part in block["content"]])
        sources.append(sentences)
        return _as_text(block, sentences, len(sources))
    content = block.get("content")
    if kind == "tool_result" and isinstance(content, list):
        return block | {"content": [_with_numbers(part, sources) for part in content]}
    return block


def _as_text(block: Json, sentences: Sequence[str], number: int) -> Json:
    source = _one_line(str(block.get("source", "")))
    title = _one_line(str(block.get("title", "")))
    head = f"[{number}] {source}"
    if title not in ("", source):
        head += f": {title}"
    lines = [head]
    for sentence_number, sentence in enumerate(sentences, start=1):
        lines.append(f"[{number}.{sentence_number}] {_one_line(sentence)}")
    text: Json = {"type": "text", "text": "\n".join(lines)}
    if "cache_control" in block:
        text["cache_control"] = block["cache_control"]
    return text


def _one_line(text: str) -> str:
    """Returns text from outside on one line, without anything that could pass for a tag of ours."""
    return without_tags(" ".join(text.split()))


def read_citations(reply: Reply, sources: Sources) -> Reply:
    """Removes the marks from a reply's text, and adds the citations that they mean."""
    text = reply.text.text
    clean = ""
    citations = list(reply.citations)
    claim = _Claim()
    read_to = 0
    for marker in _MARKER.finditer(text):
        references = _references(marker[1], len(sources))
        if not references or _is_subscript(text, marker):
            continue  # Brackets that are not a mark stay in the text.
        piece = text[read_to : marker.start()]
        clean += piece
        # Two markers in a row belong to the same claim.
        if piece.strip():
            claim = _last_sentence(clean, claim.end)
        for reference in references:
            citations.append(_citation(claim, clean, reference, sources))
        read_to = marker.end()
    clean += text[read_to:]
    return replace(reply, text=StoredText(clean), citations=tuple(citations))


def _is_subscript(text: str, marker: re.Match[str]) -> bool:
    """Returns True for a marker in code rather than behind a claim, as in `rows[1]`."""
    if marker.start() == 0 or text[marker.start()] != "[" or "." in marker[1]:
        return False
    before = text[marker.start() - 1]
    return before.isalnum() or before == "_"


def _references(written: str, source_count: int) -> list[_Reference]:
    """Reads the references of one marker; leaves out those that name no source."""
    references: list[_Reference] = []
    for part in re.split(r"[,;]", written):
        found = _REFERENCE.fullmatch(part.strip())
        if found is None or not 0 < int(found["source"]) <= source_count:
            continue
        if found["block"] is None:
            references += _whole_sources(found, source_count)
        else:
            references.append(
                _Reference(int(found["source"]) - 1, _named_blocks(found))
            )
    return references


def _whole_sources(found: re.Match[str], source_count: int) -> list[_Reference]:
    """Reads `3` as one source and `3-4` as two; `3-4.1` counts as `3`."""
    first = int(found["source"])
    is_span = found["last"] and not found["last_source"]
    last = max(int(found["last"]), first) if is_span else first
    return [
        _Reference(number - 1) for number in range(first, min(last, source_count) + 1)
    ]


def _named_blocks(found: re.Match[str]) -> range:
    """Reads `3.1` as one block, `3.1-2` and `3.1-3.2` as two; of a span into another source only the start counts."""
    first = int(found["block"])
    is_span = found["last"] and found["last_source"] in (None, found["source"])
    last = max(int(found["last"]), first) if is_span else first
    return range(first - 1, last)


def _last_sentence(text: str, after: int) -> _Claim:
    """Finds the last sentence of `text`, which begins no earlier than `after`, the end of the previous claim."""
    end = len(text.rstrip())
    start = after
    for sentence_end in _SENTENCE_END.finditer(text, after, end):
        start = sentence_end.end()
    blanks = len(text[start:end]) - len(text[start:end].lstrip())
    return _Claim(start + blanks, end)


def _citation(
    claim: _Claim, text: str, reference: _Reference, sources: Sources
) -> ReplyCitation:
    sentences = sources[reference.source]
    blocks = reference.blocks
    if blocks is None:
        nearest = _nearest(text[claim.start : claim.end], sentences)
        blocks = range(nearest, nearest + 1)
    return ReplyCitation(
        start=claim.start,
        end=claim.end,
        source=reference.source,
        first_block=blocks.start,
        end_block=blocks.stop,
        cited_text="".join(sentences[blocks.start : blocks.stop]),
    )


def _nearest(claim: str, sentences: Sequence[str]) -> int:
    """Finds the sentence that shares the most terms with the claim; of equals the first."""
    wanted = frozenset(terms(claim))
    nearest = 0
    most_shared = -1
    for number, sentence in enumerate(sentences):
        shared = len(wanted & frozenset(terms(sentence)))
        if shared > most_shared:
            nearest = number
            most_shared = shared
    return nearest
