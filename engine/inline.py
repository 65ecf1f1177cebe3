"""Sources as numbered plain text, and the citations read back out of a reply: for servers without `search_result`.

Each source is shown as `[3] Course - Lesson 2`, each of its sentences below as `[3.1] …`. The reply names them as
`[3.1]` or `[3.1-2]`; the marks are taken out of the text and become the same citations that other servers send.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count

import msgspec
from msgspec.structs import replace

from antiphon.engine.fold import Reply
from antiphon.language.words import terms
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Message, ReplyCitation, StoredText

Sources = tuple[tuple[str, ...], ...]
"""The sentences of each source, in the order in which a request numbers them."""

_ONE = r"\d{1,4}(?:\.\d{1,4})?(?:\s*[-\u2013]\s*\d{1,4}(?:\.\d{1,4})?)?"
_MARKER = re.compile(rf"[ \t]*\[({_ONE}(?:\s*[,;]\s*{_ONE})*)\]")
_REFERENCE = re.compile(r"(\d+)(?:\.(\d+))?(?:\s*[-\u2013]\s*(?:(\d+)\.)?(\d+))?")
_SENTENCE_END = re.compile(r"[.!?][\"')\u201d]*\s+|\n+")


def numbered(messages: Sequence[Message]) -> tuple[tuple[Message, ...], Sources]:
    """The messages with every search result as numbered text, and the sentences by number."""
    numbers = count(1)
    sources: list[tuple[str, ...]] = []

    def shown(block: Json) -> Json:
        if block.get("type") == "search_result":
            sentences = tuple(str(part.get("text", "")) for part in block["content"])
            sources.append(sentences)
            return _as_text(block, sentences, next(numbers))
        if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
            return block | {"content": [shown(part) for part in block["content"]]}
        return block

    def told(kept: StoredText) -> StoredText:
        if '"search_result"' not in kept.text:
            return kept
        return StoredText(msgspec.json.encode(shown(msgspec.json.decode(kept.text))).decode())

    return tuple(replace(m, content=tuple(map(told, m.content))) for m in messages), tuple(sources)


def read_citations(reply: Reply, sources: Sources) -> Reply:
    """The reply without its marks, and with the citations that they stand for."""
    text = reply.text.text
    clean: list[str] = []
    citations: list[ReplyCitation] = []
    length = read = 0
    claim = (0, 0)
    for marker in _MARKER.finditer(text):
        references = list(_references(marker[1], len(sources)))
        if not references or _is_subscript(text, marker):
            continue
        clean.append(text[read : marker.start()])
        length += len(clean[-1])
        if clean[-1].strip():
            claim = _claim("".join(clean), claim[1])
        citations += [_cite(claim, "".join(clean)[slice(*claim)], reference, sources) for reference in references]
        read = marker.end()
    clean.append(text[read:])
    return replace(reply, text=StoredText("".join(clean)), citations=(*reply.citations, *citations))


def _is_subscript(text: str, marker: re.Match[str]) -> bool:
    """Whether it stands in code rather than behind a claim, as in `rows[1]`."""
    before = text[marker.start() - 1] if marker.start() else " "
    return text[marker.start()] == "[" and (before.isalnum() or before == "_") and "." not in marker[1]


def _as_text(block: Json, sentences: Sequence[str], number: int) -> Json:
    source, title = str(block.get("source", "")), str(block.get("title", ""))
    head = f"[{number}] {source}" + (f": {title}" if title not in ("", source) else "")
    lines = [f"[{number}.{at}] {' '.join(sentence.split())}" for at, sentence in enumerate(sentences, start=1)]
    marked = {name: value for name, value in block.items() if name == "cache_control"}
    return {"type": "text", "text": "\n".join([head, *lines])} | marked


def _references(written: str, sources: int) -> Iterator[tuple[int, int | None, int | None]]:
    """Source, first and end block of each reference that names a source; blocks None where only the source is named."""
    for part in re.split(r"[,;]", written):
        found = _REFERENCE.fullmatch(part.strip())
        if found is None or not 0 < int(found[1]) <= sources:
            continue
        source = int(found[1]) - 1
        if found[2] is None:
            last = int(found[4]) if found[4] and not found[3] else int(found[1])
            yield from ((each, None, None) for each in range(source, min(max(last, source + 1), sources)))
        else:
            first = int(found[2])
            same = found[3] is None or found[3] == found[1]
            yield source, first - 1, max(int(found[4]), first) if found[4] and same else first


def _claim(text: str, after: int) -> tuple[int, int]:
    """Where the sentence that ends `text` begins and ends; never before `after`, where the last claim ended."""
    end = len(text.rstrip())
    begun = [found.end() for found in _SENTENCE_END.finditer(text, after, end)]
    start = begun[-1] if begun else after
    return start + len(text[start:end]) - len(text[start:end].lstrip()), end


def _cite(
    claim: tuple[int, int], words: str, reference: tuple[int, int | None, int | None], sources: Sources
) -> ReplyCitation:
    source, first, end = reference
    blocks = sources[source]
    if first is None or end is None:
        first = _nearest(words, blocks)
        end = first + 1
    return ReplyCitation(
        start=claim[0],
        end=claim[1],
        source=source,
        first_block=first,
        end_block=end,
        cited_text="".join(blocks[first:end]),
    )


def _nearest(words: str, blocks: Sequence[str]) -> int:
    """The sentence that shares the most terms with the claim."""
    wanted = frozenset(terms(words))
    return max(range(len(blocks)), key=lambda at: len(wanted & frozenset(terms(blocks[at]))), default=0)
