"""One content block of a reply, put together from its start and its deltas."""

from __future__ import annotations

import msgspec

from antiphon.engine.mending import is_first_half, mended, read_leniently
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import ReplyCitation, StoredText, ToolCall

MAX_NAME = 200


class Block:
    """A block while it grows. Kinds that we do not know are kept as they began."""

    __slots__ = ("_appended", "_half", "citations", "kind", "start", "stopped")

    def __init__(self, start: Json) -> None:
        self.start = start
        self.kind = start.get("type")
        self.stopped = False
        self.citations: list[Json] = [c for c in _items(start.get("citations")) if isinstance(c, dict)]
        self._appended: dict[str, list[str]] = {}
        self._half: dict[str, str] = {}

    def append(self, field: str, piece: object) -> str:
        """Adds a piece to a field that comes in pieces; returns the piece."""
        if not isinstance(piece, str):
            raise ModelError("malformed", f"the reply holds a delta whose `{field}` is no text")
        if not piece.isascii() or field in self._half:
            piece = self._whole(field, piece)
        self._appended.setdefault(field, []).append(piece)
        return piece

    def field(self, name: str) -> str:
        """A text field: what the start gave, and all pieces."""
        begun = self.start.get(name)
        lost = "\ufffd" if name in self._half else ""
        return "".join([begun if isinstance(begun, str) else "", *self._appended.get(name, ()), lost])

    @property
    def arguments(self) -> str:
        """The tool input's JSON as the model wrote it; `{}` where it wrote none."""
        if pieces := self._appended.get("partial_json"):
            return _mended_json("".join(pieces).strip()) or "{}"
        given = self.start.get("input")
        return msgspec.json.encode(given).decode() if isinstance(given, dict) else "{}"

    @property
    def is_readable(self) -> bool:
        """Whether the tool input is a JSON object; it is none where the reply was cut off in it."""
        return _object(self.arguments) is not None

    def tool_call(self) -> ToolCall | None:
        """The tool call that the block asks for, or None where it is of another kind."""
        if self.kind != "tool_use":
            return None
        call_id, name = self.start.get("id"), self.start.get("name")
        if not (isinstance(call_id, str) and isinstance(name, str) and 0 < len(call_id) <= MAX_NAME):
            raise ModelError("malformed", "the reply asks for a tool without a usable id and name")
        return ToolCall(id=call_id, name=name[:MAX_NAME], arguments=self.arguments)

    def json(self) -> StoredText:
        """The whole block, as it would stand in a reply that is not streamed."""
        whole = dict(self.start)
        for name in self._appended:
            if name != "partial_json":
                whole[name] = self.field(name)
        if "input" in whole or "partial_json" in self._appended:
            # Empty where it was cut off: a block's `input` must be an object.
            whole["input"] = _object(self.arguments) or {}
        if self.citations:
            whole["citations"] = self.citations
        return StoredText(msgspec.json.encode(whole).decode())

    def _whole(self, field: str, piece: str) -> str:
        """The piece with its first character completed; a last one of which half is missing waits for the next."""
        piece = self._half.pop(field, "") + piece
        if piece and is_first_half(piece[-1]):
            self._half[field], piece = piece[-1], piece[:-1]
        return mended(piece)

    def cited(self, start: int) -> list[ReplyCitation]:
        """The citations of search results, for a block whose text begins at `start` of the reply's text."""
        end = start + len(self.field("text"))
        return [found for c in self.citations if (found := _citation(c, start, end)) is not None]


def _citation(citation: Json, start: int, end: int) -> ReplyCitation | None:
    if citation.get("type") != "search_result_location":
        return None
    numbers = [citation.get(name) for name in ("search_result_index", "start_block_index", "end_block_index")]
    source, first, last = (n if isinstance(n, int) and n >= 0 else -1 for n in numbers)
    text = citation.get("cited_text")
    if -1 in (source, first, last) or not isinstance(text, str):
        return None
    return ReplyCitation(start=start, end=end, source=source, first_block=first, end_block=last, cited_text=text)


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _object(arguments: str) -> Json | None:
    """The arguments as an object; None where they are none."""
    try:
        value = msgspec.json.decode(arguments)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _mended_json(arguments: str) -> str:
    """The arguments, with escapes that spell half a character made readable; as they are where they are no JSON."""
    if "\\u" not in arguments.lower() or _object(arguments) is not None:
        return arguments
    try:
        return msgspec.json.encode(read_leniently(arguments.encode())).decode()
    except (ValueError, RecursionError):
        return arguments
