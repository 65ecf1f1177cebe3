"""An answer while it is written: text blocks, the cited ones with true citations."""

from __future__ import annotations

from antiphon.engine.offline.task import Source
from antiphon.vocabulary.ports import Json


class Draft:
    """Collects what is said and what is cited, in order."""

    def __init__(self) -> None:
        self.blocks: list[Json] = []

    def say(self, text: str) -> None:
        """Adds words of our own."""
        if not text:
            return
        last = self.blocks[-1] if self.blocks else None
        if last is not None and "citations" not in last:
            last["text"] += text
        else:
            self.blocks.append({"type": "text", "text": text})

    def paragraph(self, opening: str = "") -> None:
        """Begins a new paragraph, where something stands already, with `opening`."""
        self.say(("\n\n" if self.blocks else "") + opening)

    def cite(self, source: Source, first: int, end: int, text: str | None = None) -> None:
        """Adds what blocks `first` to `end` (exclusive) of a source say; `text` says it in other words."""
        cited = "".join(source.blocks[first:end])
        shown = text if text is not None else " ".join(cited.split())
        if source.number is None:
            self.say(shown)
            return
        citation = {
            "type": "search_result_location",
            "search_result_index": source.number,
            "start_block_index": first,
            "end_block_index": end,
            "cited_text": cited,
            "source": source.source,
            "title": source.title,
        }
        self.blocks.append({"type": "text", "text": shown, "citations": [citation]})
