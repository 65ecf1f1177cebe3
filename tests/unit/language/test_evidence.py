"""What the words of a question weigh."""

from __future__ import annotations

from antiphon.language.evidence import (
    telling_words,
)

QUESTION = "Can you explain what happens when the bounded queue overflows?"


def test_the_words_that_say_what_a_question_is_about_keep_their_order() -> None:
    assert telling_words(QUESTION) == ["bounded", "queue", "overflows"]
    assert telling_words(QUESTION, weigh=len, most=2) == ["bounded", "overflows"]
