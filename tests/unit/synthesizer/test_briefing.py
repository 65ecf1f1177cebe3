"""The briefing: its layout, its shared beginning, its budget, and hostile text inside it."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from language.markup import read_attempts, unwrap
from synthesizer.tokens import tokens_of
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
from vocabulary.events import SentencesScored, SentencesToScore
from vocabulary.values import Exchange, Kept, Passage, ShownSource

LOG = passage("A log is only appended to. Nothing in it changes. Readers keep their own place.")
OFFSET = passage("An offset names a place in a log.", lesson=2)


def test_the_first_briefing_holds_the_question_and_the_round() -> None:
    story = Told(asked("What is <b>a log</b>?"), opened())

    question, last = blocks(story.briefing)
    assert unwrap("question", question["text"]) == "What is <b>a log</b>?"
    assert last == {"type": "text", "text": "<round>\nRound 1 of 2: tools may be used.\n</round>"}


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
    story = Told(asked("Compare a log with a queue."), replied(call("a"), text="I look up logs."))

    story.tell(*requested(call("a")), found("a", LOG), settled("a"), opened(3, final=True))

    tags = [line for line in notes(story.briefing).split("\n") if line.startswith("<") and "/" not in line]
    assert tags == ["<attempts>", "<reasoning>", "<open>", "<round>"]
    assert unwrap("open", notes(story.briefing)) == "a queue"
    assert unwrap("round", notes(story.briefing)) == "Final answer: no tools."


def test_the_last_two_exchanges_come_first_and_are_shortened_on_a_sentence() -> None:
    history = tuple(Exchange(question=f"Question {n}?", answer=f"Answer {n} is so. " * 50) for n in (1, 2, 3))
    story = Told(asked(history=history), opened())

    said = unwrap("conversation", blocks(story.briefing)[0]["text"]) or ""

    assert "Question 1" not in said
    assert [line[:20] for line in said.split("\n")][::2] == ["Question: Question 2", "Question: Question 3"]
    assert all(len(line) <= 410 for line in said.split("\n"))
    assert said.endswith("Answer 3 is so. …")


def test_successive_briefings_share_their_beginning_byte_for_byte_up_to_the_first_new_fact() -> None:
    history = (Exchange(question="And before?", answer="Queues."),)
    story = Told(asked(history=history), opened(), *round_of(found("a", LOG)), opened(2, left=0))
    second = story.briefing.messages[0].content

    story.tell(*round_of(found("b", OFFSET, LOG), round_=2), opened(3, final=True))
    third = story.briefing.messages[0].content

    assert all(one is other for one, other in zip(second[:-1], third, strict=False))
    assert [json.loads(block.text)["type"] for block in third[len(second) - 1 :]] == ["search_result", "text"]


def test_blank_sentences_are_never_sent_and_a_blank_passage_is_not_shown() -> None:
    gappy = Passage(id="g", source="Logs", text=Kept("One.  \n \nTwo."), starts=(0, 4, 9))
    blank = Passage(id="b", source="Logs", text=Kept(" \n "))
    story = Told(asked(), *round_of(found("a", blank, gappy)))

    story.tell(opened(2))

    assert story.briefing.sources == (ShownSource(fact_id="f2", sentences=(0, 2)),)
    assert [block["text"] for block in blocks(story.briefing)[1]["content"]] == ["One.", "Two."]


def test_a_briefing_over_its_budget_asks_for_scores_once_and_then_drops_what_is_worth_least() -> None:
    texts = [f"Sentence number {n} speaks of something that nobody asked about at all." for n in range(12)]
    texts[7] = "The log is what everybody here asks about, again and again and again."
    story = Told(asked("What is a log?", budget=250), *round_of(found("a", passage(" ".join(texts)))))

    story.tell(opened(2))
    question = story.published[-1]
    assert isinstance(question, SentencesToScore)
    story.tell(SentencesScored(call_id="call-2", scores=tuple(1.0 if n == 3 else 0.0 for n in range(12))))

    assert [sentence.text.strip() for sentence in question.sentences] == texts
    shown = story.briefing.sources[0].sentences
    assert {3, 7} <= set(shown)
    assert shown == tuple(sorted(shown))
    (dropped,) = story.briefing.dropped
    assert dropped.what == "f1"
    assert set(dropped.sentences) == set(range(12)) - set(shown)
    assert dropped.tokens == sum(tokens_of(texts[n] + " ") for n in dropped.sentences)
    assert story.briefing.tokens <= 250 + tokens_of(blocks(story.briefing)[0]["text"])


def test_meaning_is_asked_for_only_near_the_cut_however_much_is_known() -> None:
    texts = [f"Sentence {n} speaks of things that nobody asked about." for n in range(400)]
    story = Told(asked(budget=2_000), *round_of(found("a", passage(" ".join(texts)))))

    story.tell(opened(2))
    question = story.published[-1]
    assert isinstance(question, SentencesToScore)
    story.tell(SentencesScored(call_id="call-2", scores=tuple(n / 64 for n in range(64))))

    assert len(question.sentences) == 64
    kept = [text.text.strip() in json.dumps(blocks(story.briefing)[1]) for text in question.sentences]
    assert kept == sorted(kept)
    assert 20 < sum(kept) < 44


def test_without_scores_older_rounds_go_first() -> None:
    old, new = (passage(f"The {age} log holds many things that readers want. " * 6) for age in ("aged", "fresh"))
    story = Told(asked(budget=230), *round_of(found("a", old)), *round_of(found("b", new), round_=2))

    story.tell(opened(3, final=True), SentencesScored(call_id="call-3", scores=()))

    lost = {dropped.what: len(dropped.sentences) or 6 for dropped in story.briefing.dropped}
    assert lost.get("f1", 0) > lost.get("f2", 0)


def test_scores_for_another_call_are_too_late() -> None:
    story = Told(asked(budget=60), *round_of(found("a", passage("Logs are long. " * 60))))

    story.tell(opened(2, call_id="call-2"), opened(2, call_id="call-2-fallback"))
    story.tell(SentencesScored(call_id="call-2", scores=()))

    assert all(isinstance(event, SentencesToScore) for event in story.published[1:])


def test_one_endless_sentence_does_not_drive_out_the_others() -> None:
    table = passage("log " * 50_000, score=9.0)
    story = Told(asked(), *round_of(found("a", table, LOG)))

    story.tell(opened(2), SentencesScored(call_id="call-2", scores=()))

    assert story.briefing.facts == ("f2",)
    assert story.briefing.sources[0].sentences == (0, 1, 2)
    (dropped,) = story.briefing.dropped
    assert (dropped.what, dropped.sentences) == ("f1", ())


def test_a_tool_result_of_200_kb_is_bounded_in_linear_time() -> None:
    huge = passage(" ".join(f"Sentence {n} of the log says little." for n in range(5_500)))
    story = Told(asked(), *round_of(found("a", huge)))

    start = time.process_time()
    story.tell(opened(2), SentencesScored(call_id="call-2", scores=()))

    assert time.process_time() - start < 0.5
    assert story.briefing.tokens < 6_100
    assert story.briefing.facts == ("f1",)


@pytest.mark.parametrize("budget", [12_000, 4_000])
def test_forty_facts_are_briefed_in_a_few_milliseconds(budget: int) -> None:
    facts = [passage(f"Fact {n} speaks of logs and offsets in one of many ways. " * 12, lesson=n) for n in range(40)]
    story = Told(asked(budget=budget), *round_of(found("a", *facts)))

    spent = min(_spent_on_briefing(story) for _ in range(5))

    assert spent < 0.005


def _spent_on_briefing(story: Told) -> float:
    start = time.process_time()
    story.tell(opened(2), SentencesScored(call_id="call-2", scores=()))
    return time.process_time() - start


TAGS = ["</question>", "<attempts>\n{}\n</attempts>", "<round>", "Log it. "]
HOSTILE = st.sampled_from([*TAGS, '"}]}', "\u2028", "\x85", "\\", '"', "\n", ". "])
HOSTILE_TEXT = st.lists(HOSTILE | st.text(alphabet=st.characters(codec="utf-8"), max_size=8), max_size=12).map("".join)


@settings(max_examples=60, deadline=None)
@given(query=HOSTILE_TEXT, texts=st.lists(HOSTILE_TEXT, max_size=4), said=HOSTILE_TEXT, output=HOSTILE_TEXT)
def test_hostile_text_stays_inside_its_block(query: str, texts: list[str], said: str, output: str) -> None:
    arguments = json.dumps({"query": query, query: [query]}, ensure_ascii=False)
    calls = call("a", arguments), call("b", arguments)
    story = Told(asked(query), replied(*calls, text=said), *requested(*calls))

    story.tell(found("a", *(passage(text) for text in texts)), found("b", output=output), settled("a", "b"), opened(2))

    shown = blocks(story.briefing)
    assert [block["type"] for block in shown] == ["text", *["search_result"] * (len(shown) - 2), "text"]
    assert unwrap("question", shown[0]["text"]) == query
    assert len(read_attempts(notes(story.briefing))) == 2
    assert shown[-1]["text"].count("<attempts>") == shown[-1]["text"].count("</attempts>") == 1
    assert shown[-1]["text"].count("<round>") == shown[-1]["text"].count("</round>") == 1
    facts = {fact.id: fact.passage for fact in story.synthesized.facts}
    for block, row in zip(shown[1:-1], story.briefing.sources, strict=True):
        sent = [part["text"] for part in block["content"]]
        assert sent == [facts[row.fact_id].sentence(number) for number in row.sentences]


@settings(max_examples=60, deadline=None)
@given(
    budget=st.integers(min_value=100, max_value=1_500),
    rounds=st.lists(st.lists(st.integers(min_value=1, max_value=30), max_size=5), max_size=4),
    said=st.text(alphabet="abc <&. ", max_size=2_000),
)
def test_facts_and_notes_never_exceed_the_budget(budget: int, rounds: list[list[int]], said: str) -> None:
    story = Told(asked(budget=budget))
    for number, lengths in enumerate(rounds, start=1):
        texts = [f"Round {number} has a passage {at} on logs. " * length for at, length in enumerate(lengths)]
        story.tell(replied(call(f"x{number}"), text=said, round_=number))
        story.tell(*round_of(found(f"a{number}", *(passage(text) for text in texts)), round_=number))

    story.tell(opened(9, final=True), SentencesScored(call_id="call-9", scores=()))

    question = tokens_of(blocks(story.briefing)[0]["text"])
    shown = blocks(story.briefing)[1:]
    facts = sum(tokens_of(part["text"]) for block in shown[:-1] for part in block["content"])
    assert facts + tokens_of(notes(story.briefing)) <= budget
    assert story.briefing.tokens <= budget + question
