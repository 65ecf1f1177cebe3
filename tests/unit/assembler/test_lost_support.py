"""Sentences of an answer whose support its call was not shown."""

from __future__ import annotations

from antiphon.assembler.lost_support import lost_support
from antiphon.vocabulary.events import BriefingPrepared
from antiphon.vocabulary.values import Citation, Dropped, Fact, ShownSource
from tests.unit.synthesizer.stories import Told, asked, found, opened, passage, round_of

TEXT = "A log is only appended to. The harbour crane lifts forty tons of steel each morning."
FACT = Fact(id="f1", passage=passage(TEXT), tool_call_id="a", round=1)
CLAIM = "Each morning the harbour crane lifts forty tons of steel."


def _briefing(dropped: tuple[Dropped, ...], shown: tuple[int, ...]) -> BriefingPrepared:
    return BriefingPrepared(
        call_id="c",
        round=2,
        messages=(),
        sources=(ShownSource(fact_id="f1", sentences=shown),) if shown else (),
        facts=("f1",),
        tokens=1,
        dropped=dropped,
    )


GONE = Dropped(what="f1", why="", tokens=1, sentences=(1,), rule="decay")


def test_a_sentence_that_only_dropped_material_supports_is_counted() -> None:
    assert lost_support(CLAIM, (), _briefing((GONE,), (0,)), (FACT,)) == 1


def test_what_was_dropped_whole_counts_too() -> None:
    whole = Dropped(what="f1", why="", tokens=1)

    assert lost_support(CLAIM, (), _briefing((whole,), ()), (FACT,)) == 1


def test_a_sentence_that_was_shown_or_cites_or_says_something_else_is_not_counted() -> (
    None
):
    cited = Citation(start=0, end=len(CLAIM), cited_text="x", source="s", fact="f1")

    assert lost_support(CLAIM, (), _briefing((GONE,), (0, 1)), (FACT,)) == 0
    assert lost_support(CLAIM, (cited,), _briefing((GONE,), (0,)), (FACT,)) == 0
    assert (
        lost_support(
            "Queues hand messages to many busy consumers.",
            (),
            _briefing((GONE,), (0,)),
            (FACT,),
        )
        == 0
    )


def test_what_another_fact_says_is_not_lost() -> None:
    repeated = Dropped(what="f1", why="", tokens=1, rule="repeated")

    assert lost_support(CLAIM, (), _briefing((repeated,), ()), (FACT,)) == 0


def test_a_real_briefing_over_its_budget_is_understood() -> None:
    long = passage("The log is read by many readers of the log. " * 12 + TEXT)
    story = Told(
        asked("What is a log?", budget=120), *round_of(found("a", long)), opened(2)
    )

    assert lost_support(CLAIM, (), story.briefing, story.synthesized.facts) == 1
