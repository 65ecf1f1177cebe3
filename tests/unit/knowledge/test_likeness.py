"""Likeness of meaning, each text embedded once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from antiphon.knowledge.likeness import VectorCache, likeness
from antiphon.knowledge.vectors import Vector
from tests.fakes_knowledge import HashingEmbedder


def test_the_text_that_speaks_of_it_is_the_likest() -> None:
    texts = ["Cats sleep.", "The breaker trips. ", "Dogs bark."]

    cosines = likeness(
        VectorCache(HashingEmbedder()), "The breaker trips.", texts, None
    )

    assert cosines[1] == pytest.approx(1.0)
    assert max(cosines) == cosines[1]


def test_no_text_is_embedded_twice() -> None:
    embedder = HashingEmbedder()
    cache = VectorCache(embedder)

    likeness(cache, "what", ["one", "two", "one "], None)
    likeness(cache, "what", ["two", "three"], None)

    assert sorted(embedder.embedded) == ["one", "three", "two", "what"]


def test_what_is_known_elsewhere_is_looked_up() -> None:
    embedder = HashingEmbedder()
    known = np.eye(1, embedder.dimensions, dtype=np.float32)[0]
    asked: list[str] = []

    def look_up(texts: Sequence[str]) -> Mapping[str, Vector]:
        asked.extend(texts)
        return {"one": known}

    rows = VectorCache(embedder).vectors(["one", "two"], look_up)

    assert asked == ["one", "two"]
    assert embedder.embedded == ["two"]
    assert rows[0].tolist() == known.tolist()


def test_only_so_many_vectors_are_kept() -> None:
    embedder = HashingEmbedder()
    cache = VectorCache(embedder, size=2)

    for text in ("one", "two", "three", "one"):
        cache.vector(text)

    assert embedder.embedded == ["one", "two", "three", "one"]


def test_no_text_is_like_anything() -> None:
    assert likeness(VectorCache(HashingEmbedder()), "what", [], None) == []
