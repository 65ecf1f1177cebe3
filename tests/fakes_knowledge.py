"""Replacements for what tests of the index can do without: a model's weights, and a separate reading process."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence

import msgspec

from antiphon.knowledge.finding import plan_here
from antiphon.knowledge.layout import Layout, PlannedCourse
from antiphon.knowledge.loading import load_changed
from antiphon.knowledge.reading_process import ReadDocument
from antiphon.knowledge.values import Document, KnownDocument
from antiphon.language.words import terms

_TOKEN = re.compile(r"\w+|[^\w\s]")


class HashingEmbedder:
    """Gives similar vectors to texts that share stemmed words, and always the same vector to the same text."""

    name = "hashing"
    dimensions = 64
    max_tokens = 254

    def __init__(
        self,
        name: str = "hashing",
        before: Callable[[Sequence[str]], None] = lambda _: None,
    ) -> None:
        self.name = name
        self.embedded: list[str] = []
        self._before = before

    def count_tokens(self, text: str) -> int:
        return len(_TOKEN.findall(text))

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self._before(texts)
        self.embedded += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        sums = [0.0] * self.dimensions
        sums[0] = 0.01
        for term in terms(text):
            digest = hashlib.sha256(term.encode()).digest()
            sums[digest[0] % self.dimensions] += 1.0 if digest[1] % 2 else -1.0
        length = sum(value * value for value in sums) ** 0.5
        return [value / length for value in sums]


class ReadHere:
    """Reads documents in this process, for tests without hostile files."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.documents: dict[str, Document] = {}

    def plan(self, root: str, files: Sequence[str]) -> Layout:
        return plan_here(root, files)

    def read(
        self, path: str, known_hash: str | None, course: PlannedCourse | None = None
    ) -> ReadDocument:
        self.asked.append(path)
        loaded = load_changed(path, known_hash, course)
        document = loaded.document
        if document is None:
            return ReadDocument(None, loaded.unread)
        self.documents[path] = document
        known = KnownDocument(
            content_hash=document.content_hash,
            title=document.title,
            stamp=document.stamp,
        )
        return ReadDocument(known, loaded.unread)

    def is_named(self, path: str) -> bool:
        return self.documents[path].is_named

    def rename(self, path: str, title: str) -> None:
        self.documents[path] = msgspec.structs.replace(
            self.documents[path], title=title
        )

    def document(self, path: str) -> Document:
        return self.documents[path]
