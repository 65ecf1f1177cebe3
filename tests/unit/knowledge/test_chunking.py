"""Chunks: whole sentences, small enough, and exactly what the text says."""

from __future__ import annotations

from antiphon.knowledge.chunking import (
    CHUNK_TOKENS,
    Chunk,
    chunk_section,
    titles_of,
)
from antiphon.knowledge.values import Document, Section
from tests.fakes_knowledge import HashingEmbedder

EMBEDDER = HashingEmbedder()


def chunks_of(text: str, title: str = "Course", lesson: str = "Lesson") -> list[Chunk]:
    section = Section(number=1, title=lesson, text=text)
    document = Document(
        path="/a.txt", content_hash="h", title=title, sections=(section,)
    )
    return chunk_section(document, section, EMBEDDER)


def titles(course: str, lesson: str) -> str:
    section = Section(number=1, title=lesson, text="")
    document = Document(path="/a.txt", content_hash="h", title=course, sections=())
    return titles_of(document, section, EMBEDDER)


def test_a_sentence_longer_than_a_chunk_is_cut_between_words() -> None:
    words = [f"word{n}" for n in range(900)]

    chunks = chunks_of(" ".join(words))

    assert len(chunks) > 900 // CHUNK_TOKENS
    assert [word for chunk in chunks for word in chunk.text.split()] == words


def test_a_word_without_end_is_cut_too() -> None:
    text = "".join(chr(97 + n * n % 26) for n in range(27_000))

    chunks = chunks_of(text)

    assert max(len(chunk.text) for chunk in chunks) <= CHUNK_TOKENS * 10 + 10
    assert all(chunk.text in text for chunk in chunks)


def test_of_a_title_without_end_the_beginning_is_embedded() -> None:
    found = titles("many words " * 300, "Lesson")

    assert 40 < EMBEDDER.count_tokens(found) < 50


def test_the_same_text_in_two_lessons_has_two_ids_and_in_one_lesson_one() -> None:
    assert chunks_of("Same.", lesson="A")[0].id != chunks_of("Same.", lesson="B")[0].id
    assert chunks_of("Same.", lesson="A")[0].id == chunks_of("Same.", lesson="A")[0].id
