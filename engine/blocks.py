"""One content block of a reply, assembled from its start and its deltas."""

from __future__ import annotations

from typing import Annotated

import msgspec

from antiphon.engine.wire_json import (
    as_object,
    is_first_half,
    read_leniently,
    valid_text,
)
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.tool_calls import MAX_NESTING
from antiphon.vocabulary.typed import prepared
from antiphon.vocabulary.values import ReplyCitation, StoredText, ToolCall

# The API's own names have at most 64 characters; compatible servers make up ids of any length, which go into events.
MAX_NAME = 200
"""Characters of a tool's name and of a call's id."""
REPLACEMENT = "\ufffd"
_Index = Annotated[int, msgspec.Meta(ge=0)]


class _SearchResultLocation(msgspec.Struct, tag="search_result_location"):
    """A citation as the Messages API streams it; citations of other kinds do not refer to our sources."""

    search_result_index: _Index
    start_block_index: _Index
    end_block_index: _Index
    cited_text: str


class Block:
    """A block while it grows. A block of an unknown kind stays as it began."""

    __slots__ = ("_appended", "_first_halves", "citations", "kind", "start", "stopped")

    def __init__(self, start: Json) -> None:
        self.start = start
        self.kind = start.get("type")
        self.stopped = False
        self.citations: list[Json] = []
        given = start.get("citations")
        if isinstance(given, list):
            self.citations = [
                citation for citation in given if isinstance(citation, dict)
            ]
        self._appended: dict[str, list[str]] = {}
        self._first_halves: dict[str, str] = {}

    def append(self, field: str, piece: object) -> str:
        """Appends a piece to a field; returns the piece with whole characters only."""
        if not isinstance(piece, str):
            raise ModelError(
                "malformed", f"the reply holds a delta whose `{field}` is no text"
            )
        # Fast path: nearly all deltas are ASCII.
        if not piece.isascii() or field in self._first_halves:
            piece = self._with_whole_characters(field, piece)
        self._appended.setdefault(field, []).append(piece)
        return piece

    def _with_whole_characters(self, field: str, piece: str) -> str:
        """Completes the piece's first character; keeps a last half character for the next piece."""
        piece = self._first_halves.pop(field, "") + piece
        if piece and is_first_half(piece[-1]):
            self._first_halves[field] = piece[-1]
            piece = piece[:-1]
        return valid_text(piece)

    def field(self, name: str) -> str:
        """Returns a text field: its text in the start, and all pieces."""
        pieces = []
        begun = self.start.get(name)
        if isinstance(begun, str):
            pieces.append(begun)
        pieces += self._appended.get(name, ())
        if name in self._first_halves:
            pieces.append(
                REPLACEMENT
            )  # The other half of the last character never came.
        return "".join(pieces)

    @property
    def arguments(self) -> str:
        """The JSON of the tool input as the model wrote it; `{}` if it wrote none."""
        pieces = self._appended.get("partial_json")
        if pieces:
            return _bounded(_readable_json("".join(pieces).strip())) or "{}"
        given = self.start.get("input")
        if isinstance(given, dict):
            return msgspec.json.encode(given).decode()
        return "{}"

    @property
    def is_readable(self) -> bool:
        """True if the tool input is a JSON object, which it is not if the reply was cut off within it."""
        return as_object(self.arguments) is not None

    def tool_call(self) -> ToolCall | None:
        """Returns the tool call that the block requests, or None if it is of another kind."""
        if self.kind != "tool_use":
            return None
        call_id = self.start.get("id")
        name = self.start.get("name")
        if not (
            isinstance(call_id, str)
            and isinstance(name, str)
            and 0 < len(call_id) <= MAX_NAME
        ):
            raise ModelError(
                "malformed", "the reply asks for a tool without a usable id and name"
            )
        return ToolCall(id=call_id, name=name[:MAX_NAME], arguments=self.arguments)

    def json(self) -> StoredText:
        """Returns the whole block, as in a reply that is not streamed."""
        # Signatures of thinking blocks and unknown fields must go back to the server unchanged.
        whole = dict(self.start)
        for name in self._appended:
            if name != "partial_json":
                whole[name] = self.field(name)
        if "input" in whole or "partial_json" in self._appended:
            # Empty if the reply was cut off: a block's `input` must be an object.
            whole["input"] = as_object(self.arguments) or {}
        if self.citations:
            whole["citations"] = self.citations
        return StoredText(msgspec.json.encode(whole).decode())

    def citations_from(self, start: int) -> list[ReplyCitation]:
        """Returns the citations of search results, for a block whose text begins at `start` of the reply's text."""
        end = start + len(self.field("text"))
        found = []
        for citation in self.citations:
            try:
                location = msgspec.convert(citation, prepared(_SearchResultLocation))
            except msgspec.ValidationError:
                continue
            found.append(
                ReplyCitation(
                    start=start,
                    end=end,
                    source=location.search_result_index,
                    first_block=location.start_block_index,
                    end_block=location.end_block_index,
                    cited_text=location.cited_text,
                )
            )
        return found


def _bounded(arguments: str) -> str:
    """Cuts off arguments that are nested too deep, so that all later readers find them unreadable."""
    if arguments.count("[") + arguments.count("{") <= MAX_NESTING:
        return arguments
    if as_object(arguments) is not None:
        return arguments
    return arguments[:MAX_NAME]


def _readable_json(arguments: str) -> str:
    """Repairs escapes that spell half a character; returns arguments that are not JSON unchanged."""
    if "\\u" not in arguments.lower() or as_object(arguments) is not None:
        return arguments
    try:
        return msgspec.json.encode(read_leniently(arguments.encode())).decode()
    except (ValueError, RecursionError):
        return arguments
