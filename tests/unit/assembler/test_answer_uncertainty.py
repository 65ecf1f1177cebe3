"""Uncertainty: every loss shows and names its event; without a loss there is no hedge."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.assembler import DOUBTS
from antiphon.assembler.uncertainty import confidence, indicator
from antiphon.vocabulary.events import (
    RULES,
    BreakerTripped,
    DraftReviewed,
    Event,
    HandlerFailed,
    ReasoningFailed,
    ReasoningRetried,
    RecordingFailed,
    RecoveryStarted,
    ResponseAssembled,
    SummaryCompleted,
    ToolFailed,
    ToolSubstituted,
)
from antiphon.vocabulary.values import QuerySettings, StoredText, Usage
from tests.unit.assembler.scenario import (
    answer,
    asked,
    assembled,
    briefed,
    cites,
    fact,
    kinds,
    looked_up,
    replied,
    started,
    synthesized,
)

LOG = fact("f1", "A log is only appended to.")
CITED = replied("Logs grow.", cites(0, 10, 0, (0, 1), "A log is only appended to."))


def after(*events: Event) -> ResponseAssembled:
    """A cited answer, with `events` on the way to it; the first of them has the seq 3."""
    rest = synthesized(LOG), briefed(("f1", (0,))), started("claude"), CITED, answer()
    return assembled(asked(), looked_up("a"), *events, *rest)


def failed(failure: Any = "timeout", id_: str = "a") -> ToolFailed:
    return ToolFailed(
        tool_call_id=id_, name="search_course_content", failure=failure, detail="secret"
    )


def tripped(limit: str) -> BreakerTripped:
    return BreakerTripped(limit=limit, detail="enough")  # type: ignore[arg-type]


def summed_up(text: str) -> SummaryCompleted:
    return SummaryCompleted(
        call_id="s", for_call="call-2", content=(), text=StoredText(text), stop_reason="end_turn",
        usage=Usage(input_tokens=5), wasted=Usage(input_tokens=2), model="m", message_id="m",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "doubts"), [("Logs grow.", []), (" ", ["summary_missing"])]
)
def test_a_summary_is_paid_for_and_is_missed_only_where_it_says_nothing(
    text: str, doubts: list[str]
) -> None:
    said = after(summed_up(text))

    assert kinds(said) == doubts
    assert said.summary_usage.input_tokens == 7


SUBSTITUTED = ToolSubstituted(
    tool_call_id="a",
    failed="search",
    substitute="outline",
    arguments="{}",
    why="timeout",
)
RETRIED = ReasoningRetried(
    call_id="call-2", attempt=1, wait_s=1.0, why="overloaded", detail="secret"
)


@pytest.mark.parametrize(
    ("trouble", "kind", "effect"),
    [
        (failed(), "tool_failed", "medium"),
        (SUBSTITUTED, "tool_substituted", "medium"),
        (tripped("rounds"), "round_limit", "medium"),
        (tripped("tool_calls"), "tool_call_limit", "medium"),
        (tripped("deadline"), "deadline", "medium"),
        (tripped("tokens"), "budget", "medium"),
        (tripped("cost"), "budget", "medium"),
        (tripped("provider_open"), "fallback_reasoner", "medium"),
        (RETRIED, "reasoning_retried", "high"),
        (
            ReasoningFailed(call_id="c", failure="overloaded", detail="secret"),
            "reasoning_retried",
            "high",
        ),
        (
            RecoveryStarted(level="round", why="an empty reply", event_seq=2),
            "reasoning_retried",
            "high",
        ),
        (
            RecoveryStarted(level="session", why="it failed", event_seq=2),
            "degraded_single_round",
            "medium",
        ),
        (
            RecoveryStarted(level="response", why="it failed", event_seq=2),
            "fallback_reasoner",
            "medium",
        ),
        (
            HandlerFailed(handler="A.b", error="secret", event_seq=2),
            "component_failed",
            "medium",
        ),
        (RecordingFailed(detail="secret"), "trace_incomplete", "high"),
    ],
)
def test_each_trouble_shows_and_names_its_event(
    trouble: Event, kind: str, effect: str
) -> None:
    said = after(trouble)

    assert [(doubt.kind, doubt.event_seq) for doubt in said.indicators] == [(kind, 3)]
    assert said.confidence == effect
    assert "secret" not in said.indicators[0].detail


@pytest.mark.parametrize(
    "no_loss",
    [
        failed("not_found"),
        failed("abandoned", id_="never confirmed"),
        tripped("repeated_call"),
        tripped("no_progress"),
        RecoveryStarted(level="tool", why="a substitute follows", event_seq=2),
    ],
)
def test_what_cost_the_answer_nothing_is_no_reason_for_doubt(no_loss: Event) -> None:
    said = after(no_loss)

    assert (said.indicators, said.confidence) == ((), "high")


def test_the_same_doubt_is_said_once_and_names_its_first_event() -> None:
    said = after(RETRIED, RETRIED, tripped("deadline"), tripped("deadline"))

    assert [(doubt.kind, doubt.event_seq) for doubt in said.indicators] == [
        ("reasoning_retried", 3),
        ("deadline", 5),
    ]


def test_a_briefing_that_left_something_out_is_said_without_harm_to_confidence() -> (
    None
):
    said = assembled(
        asked(), synthesized(LOG), briefed(("f1", (0,)), dropped=3), CITED, answer()
    )

    assert (kinds(said), said.confidence) == (["context_compressed"], "high")
    assert said.indicators[0].event_seq == 3


def test_a_part_of_the_question_that_nothing_serves_is_weak_evidence() -> None:
    said = assembled(
        asked(),
        synthesized(LOG, open_parts=("a queue",)),
        briefed(("f1", (0,))),
        CITED,
        answer(),
    )

    (doubt,) = said.indicators
    assert (doubt.kind, doubt.detail, doubt.event_seq) == (
        "weak_evidence",
        "Nothing was found on: a queue.",
        2,
    )


@pytest.mark.parametrize(
    "text",
    [
        "This is not in these courses.",
        "I couldn't find anything on that.",
        "The courses do not cover sourdough.",
        "No relevant material was found.",
        "None of these lessons speaks of it.",
        "No lesson covers that.",
        "There is no information on that in the courses.",
        "No passages were found, sadly.",
    ],
)
def test_a_reply_that_says_nothing_was_found_is_no_uncited_claim(text: str) -> None:
    said = assembled(
        asked(), synthesized(LOG), briefed(("f1", (0,))), replied(text), answer()
    )

    assert (kinds(said), said.confidence) == (["no_evidence"], "low")


@pytest.mark.parametrize(
    "text",
    [
        "There is no lesson text beyond this: logs grow by appending.",
        "Logs grow by appending, so no information is lost.",
        "It makes no material difference how logs grow.",
        "A log needs no course materials to grow.",
    ],
)
def test_an_answer_that_denies_something_else_is_not_said_to_rest_on_nothing(
    text: str,
) -> None:
    said = assembled(
        asked(), synthesized(LOG), briefed(("f1", (0,))), replied(text), answer()
    )

    assert (kinds(said), said.confidence) == (["uncited_claim"], "medium")


def test_an_answer_after_a_search_that_found_nothing_rests_on_nothing() -> None:
    said = assembled(
        asked(),
        looked_up("a"),
        synthesized(),
        briefed(),
        replied("A log is a file."),
        answer(),
    )

    assert kinds(said) == ["no_evidence"]


def test_an_answer_without_any_search_is_general_knowledge() -> None:
    said = assembled(asked(), briefed(), replied("A log is a file."), answer())

    assert (kinds(said), said.confidence) == (["general_knowledge"], "medium")


@pytest.mark.parametrize("stop_reason", ["max_tokens", "model_context_window_exceeded"])
def test_an_answer_that_breaks_off_is_said_to(stop_reason: str) -> None:
    cut_off = replied("Logs grow.", *CITED.citations, stop_reason=stop_reason)

    said = assembled(
        asked(), synthesized(LOG), briefed(("f1", (0,))), cut_off, answer()
    )

    assert kinds(said) == ["truncated"]


def test_an_unknown_stop_reason_is_an_end_like_any_other() -> None:
    odd = replied("Logs grow.", *CITED.citations, stop_reason="out_of_coffee")

    said = assembled(asked(), synthesized(LOG), briefed(("f1", (0,))), odd, answer())

    assert said.indicators == ()


def test_the_worst_effect_decides_on_confidence() -> None:
    doubts = [
        indicator(kind, 1, rules=RULES, **dict.fromkeys(WORDS, "x")) for kind in DOUBTS
    ]

    assert confidence(doubts) == "low"
    assert (
        confidence(doubt for doubt in doubts if DOUBTS[doubt.kind].effect != "low")
        == "medium"
    )
    assert confidence(()) == "high"


def test_words_from_outside_are_cut_to_a_line() -> None:
    said = indicator(
        "tool_failed", 1, tool="a\nb" * 500, reason="{tool} took too long."
    )

    assert "\n" not in said.detail
    assert len(said.detail) < 300
    assert said.detail.endswith("returned nothing: {tool} took too long.")


WORDS = (
    *("wanted", "tool", "reason", "substitute", "why", "count", "reasoner", "parts"),
    *("claim", "words", "source", "question", "cited", "other", "other_source"),
)


def test_a_draft_that_a_reviewer_rejected_is_not_verified_and_names_the_review() -> (
    None
):
    said = assembled(
        asked(reviewers=("verifier", "lawyer")),
        replied("A log is a file."),
        DraftReviewed(
            call_id="call-2",
            reviewer="verifier",
            accepted=False,
            why="No source says so.",
        ),
        DraftReviewed(call_id="call-2", reviewer="lawyer", accepted=True),
        answer(),
    )

    (doubt,) = (doubt for doubt in said.indicators if doubt.kind == "not_verified")
    assert (doubt.detail, doubt.event_seq) == (
        "The answer is not verified: No source says so.",
        3,
    )
    assert said.confidence == "medium"


def test_a_reviewer_who_never_judged_the_draft_is_named() -> None:
    earlier = DraftReviewed(call_id="call-1", reviewer="verifier", accepted=True)

    said = assembled(
        asked(reviewers=("verifier",)), earlier, replied("A log is a file."), answer()
    )

    (doubt,) = (doubt for doubt in said.indicators if doubt.kind == "not_verified")
    assert (doubt.detail, doubt.event_seq) == (
        "The answer is not verified: verifier did not judge it.",
        3,
    )


def test_an_accepted_draft_has_no_doubt_of_its_earlier_rejection() -> None:
    said = assembled(
        asked(reviewers=("verifier",)),
        DraftReviewed(
            call_id="call-1",
            reviewer="verifier",
            accepted=False,
            why="No source says so.",
        ),
        replied("A log is a file."),
        DraftReviewed(call_id="call-2", reviewer="verifier", accepted=True),
        answer(),
    )

    assert "not_verified" not in kinds(said)


@pytest.mark.parametrize(
    ("wanted", "settings", "speaker", "doubted"),
    [
        ("claude", QuerySettings(model="claude"), "claude", False),
        ("claude", QuerySettings(model="claude"), "offline", True),
        ("offline", QuerySettings(model="claude"), "claude", True),
        ("offline", QuerySettings(model="claude"), "offline", False),
        ("claude", QuerySettings(model="claude", final_model="haiku"), "haiku", False),
        ("claude", QuerySettings(model="claude", other_model="opus"), "opus", False),
        ("claude", QuerySettings(model="opus"), "opus", True),
        ("", QuerySettings(), "offline", False),
    ],
)
def test_an_answer_by_another_reasoner_than_the_question_was_put_to_says_so(
    wanted: str, settings: QuerySettings, speaker: str, doubted: bool
) -> None:
    said = assembled(
        asked(reasoner=wanted, settings=settings),
        looked_up("a"),
        synthesized(LOG),
        briefed(("f1", (0,))),
        started(speaker),
        CITED,
        answer(),
    )

    assert ("another_reasoner" in kinds(said)) is doubted
    assert said.confidence == ("medium" if doubted else "high")


@pytest.mark.parametrize(
    ("stop_reason", "kind"),
    [("not_searched", "not_searched"), ("nothing_found", "no_evidence")],
)
def test_a_reply_marked_as_no_answer_is_never_above_low_whatever_its_words(
    stop_reason: str, kind: str
) -> None:
    said = assembled(
        asked(),
        started("offline"),
        replied("Gibt es nicht.", stop_reason=stop_reason),
        answer(),
    )

    assert (kinds(said), said.confidence) == ([kind], "low")
