"""Joining wrapped lines."""

from __future__ import annotations

from antiphon.knowledge.paragraphs import join_lines


def joined(text: str) -> str:
    return join_lines(text.split("\n"))


def test_list_items_keep_their_lines_and_take_their_wrapped_ends() -> None:
    assert (
        joined("Two things:\n- one that\n  goes on\n- two\n\nAfter.")
        == "Two things:\n- one that goes on\n- two\n\nAfter."
    )


def test_code_stays_as_it_is() -> None:
    assert joined("Run:\n```\na = 1\n    b = 2\n```\nDone.") == "Run:\n```\na = 1\n    b = 2\n```\nDone."


def test_headings_and_tables_are_not_run_into_the_text() -> None:
    assert joined("# Title\nText\nmore\n| a | b |\n| 1 | 2 |") == "# Title\nText more\n| a | b |\n| 1 | 2 |"


def test_blank_lines_are_one_between_paragraphs_and_none_at_the_ends() -> None:
    assert joined("\n\n a \n \n\n\n b\n\n") == "a\n\nb"
