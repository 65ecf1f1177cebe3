"""Sentences are cut where they end, and nothing of the text is lost."""

from __future__ import annotations

from antiphon.language.sentences import sentence_starts, sentences


def test_marks_that_close_a_sentence_belong_to_it() -> None:
    text = "First. **It is a fault.** *It stays.* _So it does._ **Bold again.**"

    assert sentences(text) == [
        "First. ",
        "**It is a fault.** ",
        "*It stays.* ",
        "_So it does._ ",
        "**Bold again.**",
    ]


def test_every_text_has_one_sentence_at_least() -> None:
    assert sentence_starts("") == (0,)
    assert sentence_starts("** ") == (0,)
    assert sentences("One. **") == ["One. **"]
