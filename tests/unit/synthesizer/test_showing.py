"""Sentences that a briefing left out are shown in it after all."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from antiphon.synthesizer import show_sentences
from antiphon.synthesizer.blocks import source_block, text_block, with_sentences
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import BriefingPrepared
from antiphon.vocabulary.values import (
    Dropped,
    Fact,
    Message,
    Passage,
    ShownSource,
    StoredText,
)


def fact(fact_id: str) -> Fact:
    text = "One is here. Two is here. Three is here."
    passage = Passage(
        id=fact_id, source=f"Of {fact_id}", text=StoredText(text), starts=(0, 13, 26)
    )
    return Fact(id=fact_id, passage=passage, tool_call_id="t1", round=1)


F1, F2, F3 = fact("f1"), fact("f2"), fact("f3")


def briefing(*, question_last: bool = True) -> BriefingPrepared:
    """Shows the first sentence of f1, and all of f3; the question is last, or first as in an old trace."""
    first = source_block(F1)
    first = with_sentences(first, first.sentences[:1])
    question, notes = text_block("The question"), text_block("Notes")
    content = (first.json, source_block(F3).json, notes, question)
    if not question_last:
        content = (question, first.json, source_block(F3).json, notes)
    return BriefingPrepared(
        call_id="call-2",
        round=2,
        messages=(Message(role="user", content=content),),
        sources=(
            ShownSource(fact_id="f1", sentences=(0,)),
            ShownSource(fact_id="f3", sentences=(0, 1, 2)),
        ),
        facts=("f1", "f3"),
        tokens=100,
        dropped=(
            Dropped(
                what="f1", why="old", tokens=8, sentences=(1, 2), scores=(0.2, 0.1)
            ),
            Dropped(what="f2", why="old", tokens=12),
        ),
    )


def texts(found: BriefingPrepared) -> list[list[str]]:
    """The sentences of each source."""
    shown = []
    for text in found.messages[0].content:
        block = json.loads(text.text)
        if block["type"] == "search_result":
            shown.append([each["text"] for each in block["content"]])
    return shown


def kinds(found: BriefingPrepared) -> list[str]:
    return [json.loads(block.text)["type"] for block in found.messages[0].content]


def test_a_sentence_joins_those_of_its_fact_that_are_shown() -> None:
    found = show_sentences(briefing(), F1, [2])

    assert texts(found)[0] == ["One is here. ", "Three is here."]
    assert found.sources[0].sentences == (0, 2)
    assert found.dropped[0].sentences == (1,)
    assert found.dropped[0].scores == (0.2,)
    assert found.tokens > 100


@pytest.mark.parametrize(
    ("question_last", "layout"),
    [
        (True, [*["search_result"] * 3, "text", "text"]),
        (False, ["text", *["search_result"] * 3, "text"]),
    ],
)
def test_a_fact_that_was_left_out_comes_last_so_that_all_others_keep_their_numbers(
    layout: list[str], *, question_last: bool
) -> None:
    found = show_sentences(briefing(question_last=question_last), F2, [1])

    assert kinds(found) == layout
    assert texts(found) == [
        ["One is here. "],
        ["One is here. ", "Two is here. ", "Three is here."],
        ["Two is here. "],
    ]
    assert found.facts == ("f1", "f3", "f2")
    assert [row.what for row in found.dropped] == ["f1"]


def test_a_sentence_that_the_fact_does_not_have_is_refused() -> None:
    with pytest.raises(BadInputError):
        show_sentences(briefing(), F2, [3])


def test_a_transcript_is_refused() -> None:
    whole = briefing()
    # Its sources stand within results of tools.
    message = replace(whole.messages[0], content=whole.messages[0].content[-1:] * 4)

    with pytest.raises(BadInputError):
        show_sentences(replace(whole, messages=(message,)), F2, [0])
