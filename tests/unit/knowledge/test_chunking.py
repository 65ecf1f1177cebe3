"""Chunks: whole sentences, small enough, and exactly what the text says."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

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


def test_sentences_stay_whole() -> None:
    text = " ".join(f"This is sentence number {n} of the text." for n in range(200))

    chunks = chunks_of(text)

    assert len(chunks) > 5
    assert all(
        chunk.text.startswith("This is") and chunk.text.endswith("text.")
        for chunk in chunks
    )
    assert " ".join(chunk.text for chunk in chunks) == text


def test_titles_are_embedded_for_themselves_and_not_cited() -> None:
    (chunk,) = chunks_of("It is short.", title="Practical Search", lesson="Ranking")

    assert titles("Practical Search", "Ranking") == "Practical Search - Ranking"
    assert (chunk.sentences, chunk.text) == (["It is short."], "It is short.")


def test_the_starts_are_those_of_the_sentences_and_lines() -> None:
    (chunk,) = chunks_of("One. Two.\n- three\n\nFour.")

    spans = zip(chunk.starts, [*chunk.starts[1:], None], strict=True)
    assert [chunk.text[start:end] for start, end in spans] == [
        "One. ",
        "Two.\n",
        "- three\n\n",
        "Four.",
    ]


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


def test_a_chunk_ends_where_the_next_begins() -> None:
    text = "This is one of many sentences.\n\n  And one more. " * 60

    chunks = chunks_of(text)

    assert len(chunks) > 1
    # The same text twice in one lesson is kept once, and then there is a gap.
    for chunk, following in pairwise(chunks):
        assert chunk.stop <= following.start
        assert not text[chunk.start + len(chunk.text) : chunk.stop].strip()


def test_the_same_text_in_two_lessons_has_two_ids_and_in_one_lesson_one() -> None:
    assert chunks_of("Same.", lesson="A")[0].id != chunks_of("Same.", lesson="B")[0].id
    assert chunks_of("Same.", lesson="A")[0].id == chunks_of("Same.", lesson="A")[0].id


@settings(max_examples=80, deadline=None)
@given(
    st.text(st.sampled_from("ab é.!?\n-(\"'漢한1"), max_size=3_000),
    st.text(max_size=400),
)
def test_every_chunk_is_in_the_text_and_none_is_too_long_for_the_embedder(
    text: str, title: str
) -> None:
    text = text.strip()

    chunks = chunks_of(text, title=title)

    assert all(
        text[chunk.start : chunk.start + len(chunk.text)] == chunk.text
        for chunk in chunks
    )
    for chunk in chunks:
        for sentence, tokens in zip(chunk.sentences, chunk.tokens, strict=True):
            assert EMBEDDER.count_tokens(sentence) <= tokens <= EMBEDDER.max_tokens
    assert EMBEDDER.count_tokens(titles(title, "Lesson")) <= EMBEDDER.max_tokens
    assert all(
        chunk.starts[0] == 0 and list(chunk.starts) == sorted(set(chunk.starts))
        for chunk in chunks
    )
