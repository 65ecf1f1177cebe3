"""Bytes as editors really write them."""

from __future__ import annotations

import pytest

from antiphon.knowledge.decoding import NotTextError, decode


def test_a_byte_order_mark_and_windows_line_ends_leave_no_trace() -> None:
    assert decode(b"\xef\xbb\xbfCourse Title: A\r\nText\rmore") == "Course Title: A\nText\nmore"


def test_windows_1252_bytes_are_read_as_the_characters_they_were_typed_as() -> None:
    assert decode(b"It\x92s a \x93caf\xe9\x94 \x96 yes") == "It’s a “café” – yes"  # noqa: RUF001 - typed so


def test_a_stray_windows_byte_does_not_spoil_the_utf_8_around_it() -> None:
    assert decode("Zürich, ".encode() + b"it\x92s") == "Zürich, it’s"  # noqa: RUF001 - typed so


def test_a_byte_that_no_encoding_knows_becomes_the_replacement_character() -> None:
    assert decode(b"a\x81b") == "a\ufffdb"


def test_utf_16_is_read_by_its_mark() -> None:
    assert decode("Course Title: Ü".encode("utf-16")) == "Course Title: Ü"


def test_unseen_and_direction_turning_characters_are_taken_out() -> None:
    assert decode("a\x1b[31mb\u202ec\u200bd\u00a0e".encode()) == "a[31mbcd e"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "NUL"),
        (bytes(range(1, 32)) * 20, "control characters"),
        (b"\xff\xfea", "UTF-16"),
    ],
)
def test_bytes_that_are_no_text_are_refused_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(NotTextError, match=reason):
        decode(data)
