"""Ranks the suspects of a trace by the table of kinds: their weights, their areas, and advice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Literal, NamedTuple

from antiphon.history.suspicion.evidence import (
    ignored_evidence,
    lost_evidence,
    miscited_claims,
    misread_follow_ups,
    missed_searches,
    used_up_rounds,
)
from antiphon.history.suspicion.incidents import incidents, on_purpose, slow_tools
from antiphon.history.suspicion.reading import Finding, Reading
from antiphon.history.suspicion.results import poor_results
from antiphon.history.suspicion.sources import (
    contradictions,
    orders,
    relied_on,
    stale_data,
)
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.values import Value

Area = Literal[
    "document", "search", "tool", "memory", "model", "conversation", "limit", "service"
]
"""The part of the work to which a suspect belongs."""

MOST = 12
MOST_OF_A_FINDER = 50
REPEATED = 0.75
"""Factor on the weight of the second suspect of a kind or on an event; the third gets its square, and so on."""


class Suspect(Value, frozen=True, kw_only=True):
    """One thing in a trace that may have made the answer a bad one.

    Attributes:
        kind: What sort of thing it is, in a word; the kind of an indicator if it is one.
        text: What it is, as a plain sentence. It may quote text from outside.
        event_seq: The event that explains it.
        weight: How likely it is the cause, from 0 to 1: a rule of thumb for ranking, not a probability.
        advice: What to look at or to try next.
    """

    kind: str
    area: Area
    text: str
    event_seq: int
    weight: float
    advice: str


class Kind(NamedTuple):
    """A row of the table: the area of a kind of suspects, their weights, and advice.

    Attributes:
        least: The weight of the weakest sign.
        most: The weight of the strongest sign.
    """

    area: Area
    least: float
    most: float
    advice: str


_ASK_ANOTHER = "Try another query from here, and compare the answers."
_WITHOUT = "Fork from here without this passage, and mend the document."
_SHOW = "Fork from here with the sentence shown, or raise the budget of briefings."
_READ_REPLY = "Read the request and the reply beside one another."
_RAISE = "Ask again with a higher limit, and compare."
_TOOL = "Fork from here with the result that the tool should have brought."
_SERVICE = "Ask again, and see whether it happens again."

# Causes weigh more than their signs: an early fault explains a flaw of the answer, not the other way round.
KINDS: Mapping[str, Kind] = {
    "fault": Kind("service", 0.95, 0.95, "Ask again without the fault."),
    "changed": Kind("service", 0.6, 0.6, "Compare with the trace that it is a fork of."),
    "instruction_in_source": Kind("document", 0.2, 0.9, _WITHOUT),
    "advertisement": Kind("document", 0.86, 0.86, _WITHOUT),
    "stale_data": Kind("tool", 0.6, 0.82, _TOOL),
    "contradiction": Kind("document", 0.72, 0.72, "Look up which of the two is right, and mend the other."),
    "relied_on": Kind("document", 0.2, 0.32, "Compare it with what you know; fork without it to see what is left."),
    "tool_failed": Kind("tool", 0.1, 0.88, _TOOL),
    "tool_error": Kind("tool", 0.84, 0.84, _TOOL),
    "tool_empty": Kind("tool", 0.65, 0.65, _TOOL),
    "tool_late": Kind("tool", 0.8, 0.8, "Give the tool more time, or make it faster."),
    "tool_substituted": Kind("tool", 0.7, 0.7, "Look at what the substitute brought in its place."),
    "tool_slow": Kind("tool", 0.2, 0.4, "Give the tool more time, or make it faster."),
    "budget": Kind("limit", 0.86, 0.86, _RAISE),
    "deadline": Kind("limit", 0.84, 0.84, _RAISE),
    "round_limit": Kind("limit", 0.3, 0.6, _RAISE),
    "tool_call_limit": Kind("limit", 0.6, 0.6, _RAISE),
    "no_progress": Kind("limit", 0.35, 0.35, _ASK_ANOTHER),
    "repeated_call": Kind("limit", 0.2, 0.2, _ASK_ANOTHER),
    "earlier_topic": Kind("conversation", 0.75, 0.86, "Fork with the question written out in full."),
    "search_missed": Kind("search", 0.3, 0.85, _ASK_ANOTHER),
    "narrowed": Kind("search", 0.4, 0.86, "Fork with the search put without it."),
    "evidence_left_out": Kind("memory", 0.3, 0.84, _SHOW),
    "fact_lost": Kind("memory", 0.78, 0.78, _SHOW),
    "context_compressed": Kind("memory", 0.15, 0.15, _SHOW),
    "summary_missing": Kind("memory", 0.3, 0.3, _SHOW),
    "evidence_ignored": Kind("model", 0.55, 0.8, _READ_REPLY),
    "miscited": Kind("model", 0.6, 0.78, "Read what is cited, and what really holds the words of the claim."),
    "unsupported_citation": Kind("model", 0.78, 0.78, _READ_REPLY),
    "unsupported_claim": Kind("model", 0.68, 0.68, _READ_REPLY),
    "foreign_link": Kind("model", 0.66, 0.66, _READ_REPLY),
    "uncited_claim": Kind("model", 0.62, 0.62, _READ_REPLY),
    "unresolved_citation": Kind("model", 0.5, 0.5, _READ_REPLY),
    "general_knowledge": Kind("model", 0.6, 0.6, _READ_REPLY),
    "refused": Kind("model", 0.8, 0.8, _READ_REPLY),
    "truncated": Kind("model", 0.75, 0.75, "Raise ANTIPHON_MAX_TOKENS, or ask for less at once."),
    "not_verified": Kind("model", 0.65, 0.65, "Read what the reviewer missed."),
    "another_reasoner": Kind("model", 0.5, 0.5, _SERVICE),
    "fallback_reasoner": Kind("model", 0.7, 0.7, "Find out why the model could not be reached, and ask again."),
    "reasoning_failed": Kind("model", 0.72, 0.72, "Find out why the model could not be reached, and ask again."),
    "reasoning_retried": Kind("model", 0.25, 0.25, _SERVICE),
    "degraded_single_round": Kind("service", 0.55, 0.55, _SERVICE),
    "partial_evidence": Kind("service", 0.5, 0.5, _SERVICE),
    "no_evidence": Kind("search", 0.48, 0.48, _ASK_ANOTHER),
    "not_searched": Kind("search", 0.8, 0.8, _SERVICE),
    "closest_found": Kind("search", 0.42, 0.42, _ASK_ANOTHER),
    "loose_fit": Kind("search", 0.25, 0.25, _ASK_ANOTHER),
    "part_missing": Kind("search", 0.44, 0.44, _ASK_ANOTHER),
    "weak_evidence": Kind("search", 0.46, 0.46, _ASK_ANOTHER),
    "component_failed": Kind("service", 0.8, 0.8, "Read the error in the log of the service."),
    "stalled": Kind("service", 0.6, 0.6, _SERVICE),
    "recovery": Kind("service", 0.4, 0.4, _SERVICE),
    "cancelled": Kind("service", 0.9, 0.9, "Ask again, and let it come to its end."),
    "resumed": Kind("service", 0.25, 0.25, _SERVICE),
    "history_missing": Kind("conversation", 0.7, 0.7, "Ask with everything said in one question."),
    "trace_incomplete": Kind("service", 0.2, 0.2, "Check the disk of the service."),
}  # fmt: skip
OTHER = Kind("service", 0.4, 0.4, "Look at the event.")
"""For an unknown indicator, from a trace of another version."""

FINDERS: Sequence[Callable[[Reading], Iterator[Finding]]] = (
    on_purpose,
    orders,
    stale_data,
    contradictions,
    incidents,
    used_up_rounds,
    poor_results,
    slow_tools,
    misread_follow_ups,
    missed_searches,
    lost_evidence,
    ignored_evidence,
    miscited_claims,
    relied_on,
)


def suspects(events: Sequence[Recorded[Event]]) -> tuple[Suspect, ...]:
    """Returns at most twelve possible causes of a bad answer in a trace, the likeliest first."""
    reading = Reading(events)
    # Bounded, because a trace from elsewhere may have any number of findings.
    found = [islice(find(reading), MOST_OF_A_FINDER) for find in FINDERS]
    findings = list(chain.from_iterable(found))
    findings += _indicators(reading, findings)
    # The sort is stable: equal weights keep the order of the finders, and within one that of the trace.
    findings.sort(key=_weight, reverse=True)
    ranked = sorted(_weighed(findings), key=lambda found: found.weight, reverse=True)
    return tuple(ranked[:MOST])


def _indicators(reading: Reading, known: Iterable[Finding]) -> Iterator[Finding]:
    """Yields the indicators of the answer that no finding covers yet."""
    if reading.response is None:
        return
    kinds = {finding.kind for finding in known}
    explained = {finding.event_seq for finding in incidents(reading)}
    for indicator in reading.response.indicators:
        if indicator.kind not in kinds and indicator.event_seq not in explained:
            yield Finding(indicator.kind, indicator.detail, indicator.event_seq)


def _weight(finding: Finding) -> float:
    kind = KINDS.get(finding.kind, OTHER)
    return kind.least + (kind.most - kind.least) * min(max(finding.share, 0.0), 1.0)


def _weighed(findings: Iterable[Finding]) -> Iterator[Suspect]:
    """Yields the findings as suspects; lowers the weight of each that repeats the kind or event of another."""
    of_kind: Counter[str] = Counter()
    of_event: Counter[int] = Counter()
    seen: set[tuple[str, str]] = set()
    for finding in findings:
        if (finding.kind, finding.text) in seen:
            continue
        seen.add((finding.kind, finding.text))
        before = max(of_kind[finding.kind], of_event[finding.event_seq])
        of_kind[finding.kind] += 1
        of_event[finding.event_seq] += 1
        kind = KINDS.get(finding.kind, OTHER)
        yield Suspect(
            kind=finding.kind,
            area=kind.area,
            text=finding.text,
            event_seq=finding.event_seq,
            weight=round(_weight(finding) * REPEATED**before, 2),
            advice=kind.advice,
        )
