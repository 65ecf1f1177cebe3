"""Chunks made from the vectors of their sentences, block by block."""

from __future__ import annotations

import numpy as np
import pytest

from antiphon.knowledge import building
from antiphon.knowledge.chunking import chunk_section
from antiphon.knowledge.values import Document, Section
from antiphon.knowledge.vectors import SmallVectors
from tests.fakes_knowledge import HashingEmbedder


def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = HashingEmbedder()
    text = " ".join(
        f"Sentence {n} speaks of thing {n % 37} at length." for n in range(700)
    )
    section = Section(number=None, title="", text=text)
    document = Document(path="/a", content_hash="h", title="A", sections=(section,))
    chunks = chunk_section(document, section, embedder)
    vectors = {}
    for chunk in chunks:
        for sentence in chunk.sentences:
            row = np.array(embedder.embed([sentence]), dtype=np.float32)
            vectors[sentence] = SmallVectors.of(row).encode()
    title = np.array(embedder.embed(["A"])[0], dtype=np.float32)

    whole = building._embedded_chunks(chunks, vectors, title)
    monkeypatch.setattr(building, "_BLOCK", 3)
    blocks = building._embedded_chunks(chunks, vectors, title)

    assert len(whole) == len(chunks) > 9
    for one, other in zip(whole, blocks, strict=True):
        assert one.lengths == pytest.approx(other.lengths, rel=1e-5)
        assert one.vector == pytest.approx(other.vector, abs=1e-6)
