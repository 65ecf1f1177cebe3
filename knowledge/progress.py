"""What an indexing run tells while it works, and what it says at the end."""

from __future__ import annotations

from typing import Literal

from antiphon.vocabulary.values import Value


class IndexProgress(Value, frozen=True, kw_only=True):
    """How far the run is.

    Attributes:
        stage: `documents` (reading and embedding) or `vectors` (building the vector index).
        done: Documents or vectors done, of `total`.
        path: The document in hand.
        chunks_done: Its chunks embedded so far, of `chunks`.
    """

    stage: Literal["documents", "vectors"]
    done: int
    total: int
    path: str = ""
    chunks_done: int = 0
    chunks: int = 0


class IndexSummary(Value, frozen=True, kw_only=True):
    """What a run did.

    Attributes:
        added: Documents that are new; `changed`, `unchanged` and `removed` likewise count documents.
        failed: Paths that could not be indexed, with the reason; what was indexed of them before stays.
        chunks: Passages in the index now.
        generation: Its number; the same as before where nothing changed.
    """

    added: int
    unchanged: int
    changed: int
    removed: int
    failed: tuple[tuple[str, str], ...]
    chunks: int
    generation: int
    seconds: float
