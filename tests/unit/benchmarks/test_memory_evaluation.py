"""The counting of `make eval-memory`, whose modes all see the same facts."""

from __future__ import annotations

from antiphon.synthesizer.blocks import text_block
from antiphon.vocabulary.ports import ToolOutput
from antiphon.vocabulary.values import Message, QuerySettings
from benchmarks.memory.counting import costs, sentences_kept
from benchmarks.memory.report import compare, shortfalls
from benchmarks.memory.runs import Run, RunCall, contexts_of
from tests.unit.synthesizer.stories import passage

GOLD = "The append log of Orion gives two guarantees to its readers."
FIRST = passage(f"{GOLD} Meals are served at noon. Rain falls in the hills.")
SECOND = passage("Orion also keeps an index. Nobody rides the old horse.", lesson=2)


def _made(*passages: object) -> RunCall:
    found = [each for each in (FIRST, SECOND) if each in passages]
    words = "\n\n".join(f"[{each.source}]\n{each.text.text}" for each in found)
    return RunCall(
        name="search",
        arguments={"query": "orion"},
        output=ToolOutput(text=words, passages=tuple(found)),
    )


RUN = Run(
    question="Which guarantees does the append log of Orion give?",
    rounds=((_made(FIRST),), (_made(FIRST, SECOND),)),
    gold=(GOLD,),
)


def test_every_mode_sees_the_same_facts_and_a_transcript_keeps_all_of_them() -> None:
    transcript = contexts_of(RUN, QuerySettings(context="transcript")).briefings
    briefing = contexts_of(RUN, QuerySettings()).briefings

    assert len(transcript) == len(briefing) == 3
    assert transcript[-1].facts == briefing[-1].facts == ("f1", "f2")
    assert (
        sentences_kept(RUN.gold, transcript[-1].messages)
        == sentences_kept(RUN.gold, briefing[-1].messages)
        == 1
    )


def test_a_sentence_counts_as_kept_only_word_for_word() -> None:
    (last,) = [contexts_of(RUN, QuerySettings()).briefings[-1].messages]

    assert sentences_kept([GOLD.replace("two", "three")], last) == 0


def test_what_two_calls_share_from_their_beginning_is_priced_at_a_tenth() -> None:
    one, two, three = (
        text_block("a" * 400),
        text_block("b" * 400),
        text_block("c" * 400),
    )
    first, second = (
        [Message(role="user", content=(one, two))],
        [Message(role="user", content=(one, three, two))],
    )

    assert [(cost.tokens, round(cost.priced)) for cost in costs([first, second])] == [
        (200, 200),
        (300, 210),
    ]


def test_a_missed_target_is_said() -> None:
    comparison = compare("tiny", [RUN])

    modes = [figures.mode for figures in comparison.modes]
    assert modes == [
        "transcript",
        "briefing",
        "briefing, half budget",
        "half budget and a summary",
    ]
    assert all(
        sentence.startswith("tiny, briefing") for sentence in shortfalls(comparison)
    )
