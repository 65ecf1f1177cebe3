"""Every reason for doubt, in one table: its wording, and its effect on the answer's confidence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from antiphon.assembler.wording import one_line
from antiphon.vocabulary.events import RULES, Confidence
from antiphon.vocabulary.values import Indicator

Effect = Literal["none", "medium", "low"]


class Doubt(NamedTuple):
    """One row: the sentence for the reader, and the best confidence that an answer can still have."""

    wording: str
    effect: Effect


DOUBTS: dict[str, Doubt] = {
    "tool_failed": Doubt("The tool {tool} returned nothing: {reason}.", "medium"),
    "tool_substituted": Doubt(
        "The tool {tool} failed; {substitute} was used in its place.", "medium"
    ),
    "partial_evidence": Doubt(
        "The answer uses only what had been found by then: {why}.", "low"
    ),
    "context_compressed": Doubt(
        "Not everything that was found fitted into the last call; {count} item(s) were left out.",
        "none",
    ),
    "summary_missing": Doubt(
        "The findings of earlier rounds were not summarised, so only their best sentences were kept: {reason}.",
        "none",
    ),
    "fact_lost": Doubt(
        "{count} sentence(s) of the answer are supported only by material that its last call was not shown.",
        "medium",
    ),
    "round_limit": Doubt(
        "More tool calls were needed than the limit on rounds allows.", "medium"
    ),
    "tool_call_limit": Doubt(
        "More tool calls were needed in one round than are allowed.", "medium"
    ),
    "deadline": Doubt("Time ran out before everything could be looked up.", "medium"),
    "budget": Doubt(
        "The budget ran out before everything could be looked up.", "medium"
    ),
    "reasoning_retried": Doubt("A call to the model failed: {reason}.", "none"),
    "degraded_single_round": Doubt(
        "After a failure, the question was answered in a single call.", "medium"
    ),
    "fallback_reasoner": Doubt(
        "The model was unavailable, so {reasoner} answered.", "medium"
    ),
    "another_reasoner": Doubt("{reasoner} answered instead of {wanted}.", "medium"),
    "no_evidence": Doubt(
        "Nothing was found in the courses that the answer could rest on.", "low"
    ),
    "not_searched": Doubt(
        "Nothing could be looked up in the courses, so this is not an answer.", "low"
    ),
    "general_knowledge": Doubt(
        "The question was answered without searching the courses.", "medium"
    ),
    "closest_found": Doubt(
        "This is the closest match that was found; it may not answer the question.",
        "low",
    ),
    "loose_fit": Doubt(
        "This fits the question but may not be the whole answer.", "medium"
    ),
    "part_missing": Doubt("A part of the question is not answered.", "medium"),
    "weak_evidence": Doubt("Nothing was found on: {parts}.", "medium"),
    "uncited_claim": Doubt(
        "Course material was found, but the answer cites none of it.", "medium"
    ),
    "unresolved_citation": Doubt(
        "{count} citation(s) of the reply matched nothing that was found and were dropped.",
        "medium",
    ),
    "unsupported_citation": Doubt(
        "“{claim}” is not supported by what it cites: {why}.", "medium"
    ),
    "unsupported_claim": Doubt(
        "“{claim}” cites nothing, and nothing that was found supports it: {why}.",
        "medium",
    ),
    "instruction_in_source": Doubt(
        "A source contains instructions to the model, which may have followed them: “{words}” ({source}).",
        "medium",
    ),
    "advertisement": Doubt(
        "The answer follows an advertisement in a source: “{words}” ({source}).",
        "medium",
    ),
    "contradiction": Doubt(
        "Two sources contradict each other: “{cited}” ({source}) and “{other}” ({other_source}).",
        "medium",
    ),
    "foreign_link": Doubt(
        "The answer contained {count} link(s) to pages that no source mentions; they were removed.",
        "medium",
    ),
    "earlier_topic": Doubt(
        "The answer may be about an earlier question of the conversation: “{question}”.",
        "medium",
    ),
    "truncated": Doubt(
        "The answer reached its maximum length and is cut off.", "medium"
    ),
    "not_verified": Doubt("The answer is not verified: {why}.", "medium"),
    "refused": Doubt("The model declined to answer.", "low"),
    "component_failed": Doubt(
        "A part of the service failed on the way, and the query went on without it.",
        "medium",
    ),
    "history_missing": Doubt(
        "What was said before in this conversation could not be read.", "medium"
    ),
    "trace_incomplete": Doubt("The record of this query is incomplete.", "none"),
}

REWORDED = 5
"""The first version of the rules with these wordings."""
_EARLIER = {
    "tool_failed": "The tool {tool} brought nothing: {reason}.",
    "partial_evidence": "The answer is put together from what was found until then: {why}.",
    "context_compressed": "Not everything found fitted into the last call; {count} item(s) were cut.",
    "summary_missing": "What earlier rounds found was to be summarised, and only its best sentences were kept: "
    "{reason}.",
    "round_limit": "More tool calls were wanted than the limit on rounds allows.",
    "tool_call_limit": "More tool calls were wanted in one round than are allowed.",
    "degraded_single_round": "After a failure the answer was worked out in a single call.",
    "fallback_reasoner": "The model was away; {reasoner} answered in its place.",
    "another_reasoner": "The question was put to {wanted}; {reasoner} answered it.",
    "not_searched": "Nothing could be looked up in the courses, so this is no answer.",
    "general_knowledge": "The answer was given without looking into the courses.",
    "closest_found": "What is shown is the closest that was found; it may not answer the question.",
    "loose_fit": "What is shown fits the question, but may not be all of the answer.",
    "unresolved_citation": "{count} citation(s) of the reply matched nothing that was found.",
    "unsupported_citation": "“{claim}” is not borne out by what it cites: {why}.",
    "unsupported_claim": "“{claim}” cites nothing, and nothing that was found bears it out: {why}.",
    "instruction_in_source": "A source gives orders to the model, which may have followed them: “{words}” ({source}).",
    "contradiction": "Two sources contradict one another: “{cited}” ({source}), and “{other}” ({other_source}).",
    "foreign_link": "The answer held {count} link(s) that stand in nothing that was read; they were left out.",
    "truncated": "The answer reached its greatest length and breaks off.",
}
"""The wordings of earlier rules that have changed since, so that traces of those rules replay word for word."""

_CONFIDENCE: dict[Effect, Confidence] = {
    "none": "high",
    "medium": "medium",
    "low": "low",
}
"""The confidence that each effect leaves, from the mildest to the worst."""


def indicator(
    kind: str, event_seq: int, *, rules: int = RULES, **words: str | int
) -> Indicator:
    """Words the doubt `kind`, which rests on the event `event_seq`; words may come from outside, and are cut.

    Args:
        rules: The version of the rules that decide the query.
    """
    wording = DOUBTS[kind].wording
    if rules < REWORDED:
        wording = _EARLIER.get(kind, wording)
    # A name or a reason may be of any length, and hold line breaks.
    shown = {name: one_line(str(word)) for name, word in words.items()}
    return Indicator(kind=kind, detail=wording.format_map(shown), event_seq=event_seq)


def confidence(indicators: Iterable[Indicator]) -> Confidence:
    """Returns the confidence that is left: the worst effect decides."""
    effects = {DOUBTS[doubt.kind].effect for doubt in indicators}
    # The table runs from the mildest effect to the worst, so the last match wins.
    left: Confidence = "high"
    for effect, of_effect in _CONFIDENCE.items():
        if effect in effects:
            left = of_effect
    return left


def without_repeats(indicators: Iterable[Indicator]) -> tuple[Indicator, ...]:
    """Returns each kind and wording once, with the first event that gave rise to it."""
    first: dict[tuple[str, str], Indicator] = {}
    for doubt in indicators:
        first.setdefault((doubt.kind, doubt.detail), doubt)
    return tuple(first.values())
