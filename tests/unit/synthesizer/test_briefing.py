"""The briefing: its layout, its shared beginning, and hostile text inside it."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.language.markup import read_attempts, unwrap
from antiphon.vocabulary.values import Exchange, Passage, ShownSource, StoredText
from tests.unit.synthesizer.stories import (
    Told,
    asked,
    blocks,
    call,
    found,
    notes,
    opened,
    passage,
    replied,
    requested,
    round_of,
    settled,
)

LOG = passage(
    "A log is only appended to. Nothing in it changes. Readers keep their own place."
)
OFFSET = passage("An offset names a place in a log.", lesson=2)


def test_the_first_briefing_holds_the_question_and_the_round() -> None:
    story = Told(asked("What is <b>a log</b>?"), opened())

    question, last = blocks(story.briefing)
    assert unwrap("question", question["text"]) == "What is <b>a log</b>?"
    assert last == {
        "type": "text",
        "text": "<round>\nRound 1 of 2: tools may be used.\n</round>",
    }


def test_facts_stand_between_question_and_notes_one_block_a_sentence() -> None:
    story = Told(asked(), *round_of(found("a", LOG, OFFSET)))

    story.tell(opened(2, left=0))

    kinds = [block["type"] for block in blocks(story.briefing)]
    assert kinds == ["text", "search_result", "search_result", "text"]
    assert blocks(story.briefing)[1] == {
        "type": "search_result",
        "source": "Logs - Lesson 1",
        "title": "Logs - Lesson 1",
        "content": [
            {"type": "text", "text": "A log is only appended to. "},
            {"type": "text", "text": "Nothing in it changes. "},
            {"type": "text", "text": "Readers keep their own place."},
        ],
        "citations": {"enabled": True},
    }
    assert story.briefing.sources == (
        ShownSource(fact_id="f1", sentences=(0, 1, 2)),
        ShownSource(fact_id="f2", sentences=(0,)),
    )
    assert story.briefing.facts == ("f1", "f2")
    assert story.briefing.dropped == ()


def test_the_notes_are_one_block_in_a_fixed_order_without_empty_tags() -> None:
    story = Told(
        asked("Compare a log with a queue."), replied(call("a"), text="I look up logs.")
    )

    story.tell(
        *requested(call("a")), found("a", LOG), settled("a"), opened(3, final=True)
    )

    tags = [
        line
        for line in notes(story.briefing).split("\n")
        if line.startswith("<") and "/" not in line
    ]
    assert tags == ["<attempts>", "<reasoning>", "<open>", "<round>"]
    assert unwrap("open", notes(story.briefing)) == "a queue"
    assert unwrap("round", notes(story.briefing)) == "Final answer: no tools."


def test_the_last_two_exchanges_come_first_and_are_shortened_on_a_sentence() -> None:
    history = tuple(
        Exchange(question=f"Question {n}?", answer=f"Answer {n} is so. " * 50)
        for n in (1, 2, 3)
    )
    story = Told(asked(history=history), opened())

    said = unwrap("conversation", blocks(story.briefing)[0]["text"]) or ""

    assert "Question 1" not in said
    assert [line[:20] for line in said.split("\n")][::2] == [
        "Question: Question 2",
        "Question: Question 3",
    ]
    assert all(len(line) <= 410 for line in said.split("\n"))
    assert said.endswith("Answer 3 is so. …")


def test_successive_briefings_share_their_beginning_byte_for_byte_up_to_the_first_new_fact() -> (
    None
):
    history = (Exchange(question="And before?", answer="Queues."),)
    story = Told(
        asked(history=history), opened(), *round_of(found("a", LOG)), opened(2, left=0)
    )
    second = story.briefing.messages[0].content

    story.tell(*round_of(found("b", OFFSET, LOG), round_=2), opened(3, final=True))
    third = story.briefing.messages[0].content

    assert all(one is other for one, other in zip(second[:-1], third, strict=False))
    assert [json.loads(block.text)["type"] for block in third[len(second) - 1 :]] == [
        "search_result",
        "text",
    ]


def test_blank_sentences_are_never_sent_and_a_blank_passage_is_not_shown() -> None:
    gappy = Passage(
        id="g", source="Logs", text=StoredText("One.  \n \nTwo."), starts=(0, 4, 9)
    )
    blank = Passage(id="b", source="Logs", text=StoredText(" \n "))
    story = Told(asked(), *round_of(found("a", blank, gappy)))

    story.tell(opened(2))

    assert story.briefing.sources == (ShownSource(fact_id="f2", sentences=(0, 2)),)
    assert [block["text"] for block in blocks(story.briefing)[1]["content"]] == [
        "One.",
        "Two.",
    ]


TAGS = ["</question>", "<attempts>\n{}\n</attempts>", "<round>", "Log it. "]
HOSTILE = st.sampled_from([*TAGS, '"}]}', "\u2028", "\x85", "\\", '"', "\n", ". "])
HOSTILE_TEXT = st.lists(
    HOSTILE | st.text(alphabet=st.characters(codec="utf-8"), max_size=8), max_size=12
).map("".join)


@settings(max_examples=60, deadline=None)
@given(
    query=HOSTILE_TEXT,
    texts=st.lists(HOSTILE_TEXT, max_size=4),
    said=HOSTILE_TEXT,
    output=HOSTILE_TEXT,
)
def test_hostile_text_stays_inside_its_block(
    query: str, texts: list[str], said: str, output: str
) -> None:
    arguments = json.dumps({"query": query, query: [query]}, ensure_ascii=False)
    calls = call("a", arguments), call("b", arguments)
    story = Told(asked(query), replied(*calls, text=said), *requested(*calls))

    story.tell(
        found("a", *(passage(text) for text in texts)),
        found("b", output=output),
        settled("a", "b"),
        opened(2),
    )

    shown = blocks(story.briefing)
    assert [block["type"] for block in shown] == [
        "text",
        *["search_result"] * (len(shown) - 2),
        "text",
    ]
    assert unwrap("question", shown[0]["text"]) == query
    assert len(read_attempts(notes(story.briefing))) == 2
    assert (
        shown[-1]["text"].count("<attempts>")
        == shown[-1]["text"].count("</attempts>")
        == 1
    )
    assert (
        shown[-1]["text"].count("<round>") == shown[-1]["text"].count("</round>") == 1
    )
    facts = {fact.id: fact.passage for fact in story.synthesized.facts}
    for block, row in zip(shown[1:-1], story.briefing.sources, strict=True):
        sent = [part["text"] for part in block["content"]]
        assert sent == [facts[row.fact_id].sentence(number) for number in row.sentences]
