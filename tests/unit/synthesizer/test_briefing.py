"""The briefing: its layout, the order of its passages, its conversation, and hostile text inside it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.language.lengths import tokens_of
from antiphon.language.markup import read_attempts, unwrap
from antiphon.vocabulary.events import RULES
from antiphon.vocabulary.values import Exchange, Passage, ShownSource, StoredText
from tests.unit.synthesizer.stories import (
    Told,
    asked,
    blocks,
    call,
    found,
    kinds,
    notes,
    opened,
    passage,
    replied,
    requested,
    round_of,
    settled,
    shown_conversation,
    shown_question,
    sources,
)

LOG = passage(
    "A log is only appended to. Nothing in it changes. Readers keep their own place."
)
OFFSET = passage("An offset names a place in a log.", lesson=2)
BEFORE = (Exchange(question="And before?", answer="Queues."),)


def test_the_first_briefing_holds_the_question_and_the_round() -> None:
    story = Told(asked("What is <b>a log</b>?"), opened())

    first, last = blocks(story.briefing)
    assert first == {
        "type": "text",
        "text": "<round>\nRound 1 of 2: tools may be used.\n</round>",
    }
    assert unwrap("question", last["text"]) == "What is <b>a log</b>?"


def test_facts_come_first_one_block_a_sentence_and_the_notes_behind_them() -> None:
    story = Told(asked(), *round_of(found("a", LOG, OFFSET)))

    story.tell(opened(2, left=0))

    assert kinds(story.briefing) == [
        "search_result",
        "search_result",
        "notes",
        "question",
    ]
    assert blocks(story.briefing)[0] == {
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


def test_passages_stand_best_first_and_the_notes_number_them_so() -> None:
    # Scores are comparable within one call only, so each is a share of the best score of its call.
    first = found(
        "a",
        passage("A log is long.", score=0.2),
        passage("A queue is short.", lesson=2, score=0.8),
    )
    second = found(
        "b",
        passage("Topics have names.", lesson=3, score=30.0),
        passage("Tails are read live.", lesson=4, score=15.0),
    )
    story = Told(asked(), *round_of(first, second))

    story.tell(opened(2, left=0))

    # Of two that are as good the one found earlier comes first.
    assert story.briefing.facts == ("f2", "f3", "f4", "f1")
    assert [block["content"][0]["text"] for block in sources(story.briefing)] == [
        "A queue is short.",
        "Topics have names.",
        "Tails are read live.",
        "A log is long.",
    ]
    attempts = read_attempts(notes(story.briefing))
    assert [attempt.facts for attempt in attempts] == [(4, 1), (2, 3)]


def test_the_question_is_the_last_block_and_the_conversation_the_one_before_it() -> (
    None
):
    story = Told(asked(history=BEFORE), *round_of(found("a", LOG)), opened(2, left=0))

    assert kinds(story.briefing) == [
        "search_result",
        "notes",
        "conversation",
        "question",
    ]


def test_in_an_old_trace_the_question_comes_first_and_facts_in_order_of_discovery() -> (
    None
):
    worse, better = passage("A log is long.", score=0.2), OFFSET
    story = Told(
        asked(history=BEFORE, rules=1),
        *round_of(found("a", worse, better)),
        opened(2, left=0),
    )

    assert kinds(story.briefing) == [
        "conversation",
        "question",
        "search_result",
        "search_result",
        "notes",
    ]
    assert story.briefing.facts == ("f1", "f2")
    (attempt,) = read_attempts(notes(story.briefing))
    assert attempt.facts == (1, 2)


def test_earlier_exchanges_take_one_line_each_and_the_last_one_stands_as_it_was() -> (
    None
):
    history = (
        Exchange(question="What is\na log?", answer="A list.\n- It grows.\n" * 20),
        Exchange(question="And a queue? " * 20, answer="It hands on."),
        Exchange(
            question="Which\nparts?", answer="Two:\n- A head.\n- A tail, at last.\n"
        ),
    )
    story = Told(asked(history=history), opened())

    lines = (unwrap("conversation", shown_conversation(story.briefing)) or "").split(
        "\n"
    )

    first, second, *last = lines
    assert first.startswith("Question: What is a log? (Answered: A list. - It grows. ")
    assert first.endswith(" …)")
    assert second.startswith("Question: And a queue? And a queue? ")
    assert second.endswith(" … (Answered: It hands on.)")
    assert max(len(first), len(second)) <= 270
    assert last == [
        "Question: Which parts?",
        "Answer: Two:",
        "- A head.",
        "- A tail, at last.",
    ]


def test_the_last_answer_is_cut_at_300_tokens_at_a_line() -> None:
    lines = [f"- Part {n:03} of the log is kept for ever." for n in range(60)]
    history = (Exchange(question="Which parts?", answer="\n".join(lines)),)
    story = Told(asked(history=history), opened())

    said = unwrap("conversation", shown_conversation(story.briefing)) or ""

    *kept, end = said.removeprefix("Question: Which parts?\nAnswer: ").split("\n")
    assert end == "…"
    assert kept == lines[: len(kept)]
    assert 280 < tokens_of("\n".join(kept)) <= 300


def test_an_old_trace_shows_the_last_two_exchanges_shortened_on_a_sentence() -> None:
    history = tuple(
        Exchange(question=f"Question {n}?", answer=f"Answer {n} is so. " * 50)
        for n in (1, 2, 3)
    )
    story = Told(asked(history=history, rules=1), opened())

    said = unwrap("conversation", shown_conversation(story.briefing)) or ""

    assert "Question 1" not in said
    assert [line[:20] for line in said.split("\n")][::2] == [
        "Question: Question 2",
        "Question: Question 3",
    ]
    assert all(len(line) <= 410 for line in said.split("\n"))
    assert said.endswith("Answer 3 is so. …")


@pytest.mark.parametrize("rules", [1, RULES])
def test_what_successive_briefings_both_show_is_the_very_same_bytes(rules: int) -> None:
    story = Told(
        asked(history=BEFORE, rules=rules),
        *round_of(found("a", LOG)),
        opened(2, left=0),
    )
    second = story.briefing

    story.tell(*round_of(found("b", OFFSET, LOG), round_=2), opened(3, final=True))

    for kind in ("search_result", "conversation", "question"):
        before = second.messages[0].content[kinds(second).index(kind)]
        now = story.briefing.messages[0].content[kinds(story.briefing).index(kind)]
        assert now is before


def test_successive_briefings_of_an_old_trace_share_their_beginning_up_to_the_first_new_fact() -> (
    None
):
    story = Told(
        asked(history=BEFORE, rules=1),
        opened(),
        *round_of(found("a", LOG)),
        opened(2, left=0),
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
    (source,) = sources(story.briefing)
    assert [block["text"] for block in source["content"]] == ["One.", "Two."]


TAGS = ["</question>", "<attempts>\n{}\n</attempts>", "<round>", "Log it. "]
HOSTILE = st.sampled_from([*TAGS, '"}]}', "\u2028", "\x85", "\\", '"', "\n", ". "])
HOSTILE_TEXT = st.lists(
    HOSTILE | st.text(alphabet=st.characters(codec="utf-8"), max_size=8), max_size=12
).map("".join)


@settings(max_examples=60, deadline=None)
@given(
    query=HOSTILE_TEXT,
    texts=st.lists(st.tuples(HOSTILE_TEXT, st.floats(-1.0, 9.0)), max_size=4),
    said=HOSTILE_TEXT,
    output=HOSTILE_TEXT,
)
def test_hostile_text_stays_inside_its_block(
    query: str, texts: list[tuple[str, float]], said: str, output: str
) -> None:
    arguments = json.dumps({"query": query, query: [query]}, ensure_ascii=False)
    calls = call("a", arguments), call("b", arguments)
    history = (Exchange(question=query, answer=said),) * 2
    story = Told(
        asked(query, history=history),
        replied(*calls, text=said, thought=said),
        *requested(*calls),
    )

    story.tell(
        found("a", *(passage(text, score=score) for text, score in texts)),
        found("b", output=output),
        settled("a", "b"),
        opened(2),
    )

    shown = sources(story.briefing)
    assert kinds(story.briefing) == [
        *["search_result"] * len(shown),
        "notes",
        "conversation",
        "question",
    ]
    assert unwrap("question", shown_question(story.briefing)) == query
    assert shown_conversation(story.briefing).count("</conversation>") == 1
    assert "</question>" not in shown_conversation(story.briefing)
    text = notes(story.briefing)
    assert len(read_attempts(text)) == 2
    assert text.count("<attempts>") == text.count("</attempts>") == 1
    assert text.count("<round>") == text.count("</round>") == 1
    facts = {fact.id: fact.passage for fact in story.synthesized.facts}
    for block, row in zip(shown, story.briefing.sources, strict=True):
        sent = [part["text"] for part in block["content"]]
        assert sent == [facts[row.fact_id].sentence(number) for number in row.sentences]
