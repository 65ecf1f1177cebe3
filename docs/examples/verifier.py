"""A deciding subscriber: checks each draft answer against what was found, and asks for one more round where it fails.

Use it with `ANTIPHON_SUBSCRIBERS=verifier:subscriber`, with this file's folder on `PYTHONPATH`.

It decides by rules alone, so it needs no model and no clock: a trace replays to the same judgements. A sentence is
supported when one passage that was found holds most of its words; which rounds, tokens and time are left is not its
business, for the coordinator opens another round only within the limits of the query.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from msgspec.structs import replace

from antiphon.language.sentences import sentence_starts
from antiphon.language.words import terms
from antiphon.vocabulary.deciding import Decider, Rules
from antiphon.vocabulary.events import (
    CALL,
    ContextSynthesized,
    DraftReviewed,
    Event,
    ReasoningCompleted,
    Recorded,
    ReviewRequested,
)
from antiphon.vocabulary.fields import Id, Untrusted
from antiphon.vocabulary.subscribers import Subscriber
from antiphon.vocabulary.values import Value

NAME = "verifier"
FEWEST_TERMS = 4
"""Shorter sentences say too little to tell what they rest on."""
SUPPORTS = 0.6
"""The share of a sentence's terms that one passage must hold. Lower lets wrong claims pass that only name the same
things; higher refuses fair paraphrases."""
READ_CHARS = 20_000
QUOTED = 3
QUOTED_CHARS = 120


class DraftChecked(Event, frozen=True, kw_only=True, tag="draft_checked"):
    """A draft was compared with what had been found.

    Attributes:
        sentences: How many of its sentences were long enough to be checked.
        unsupported: Those that no passage supports, word for word.
    """

    emitted_by = (NAME,)
    about = CALL

    call_id: Id
    sentences: int
    unsupported: tuple[Untrusted, ...]


class Evidence(Value, frozen=True, kw_only=True):
    """The verifier's state.

    Attributes:
        passages: The terms of each passage found so far.
        call_id: The call of the newest reply.
        draft: The text of that reply.
    """

    passages: tuple[frozenset[str], ...] = ()
    call_id: str = ""
    draft: str = ""


Decision = tuple[Evidence, tuple[Event, ...]]


def after_context_synthesized(
    state: Evidence, recorded: Recorded[ContextSynthesized]
) -> Decision:
    """Takes in the passages that a round brought."""
    found = [frozenset(terms(fact.passage.text.text)) for fact in recorded.event.facts]
    return replace(state, passages=(*state.passages, *found)), ()


def after_reasoning_completed(
    state: Evidence, recorded: Recorded[ReasoningCompleted]
) -> Decision:
    """Keeps the reply: it may become the draft."""
    return replace(
        state,
        call_id=recorded.event.call_id,
        draft=recorded.event.text.text[:READ_CHARS],
    ), ()


def after_review_requested(
    state: Evidence, recorded: Recorded[ReviewRequested]
) -> Decision:
    """Judges the draft. Every request is answered: a reviewer that keeps silent holds the query up."""
    call_id = recorded.event.call_id
    if call_id != state.call_id:
        why = "the reply to be judged was never seen"
        return state, (
            DraftReviewed(call_id=call_id, reviewer=NAME, accepted=False, why=why),
        )
    sentences = checkable_sentences(state.draft)
    unsupported = tuple(
        sentence for sentence in sentences if not is_supported(sentence, state.passages)
    )
    checked = DraftChecked(
        call_id=call_id, sentences=len(sentences), unsupported=unsupported
    )
    review = DraftReviewed(
        call_id=call_id,
        reviewer=NAME,
        accepted=not unsupported,
        why=in_words(unsupported),
    )
    return state, (checked, review)


RULES: Rules[Evidence] = {
    ContextSynthesized: after_context_synthesized,
    ReasoningCompleted: after_reasoning_completed,
    ReviewRequested: after_review_requested,
}


class Verifier(Decider[Evidence]):
    """Decides whether a draft rests on what was found."""

    role = NAME
    initial = Evidence()
    rules = RULES


def subscriber() -> Subscriber:
    """Makes the verifier; named in `ANTIPHON_SUBSCRIBERS`."""
    return Subscriber(name=NAME, events=(DraftChecked,), decider=Verifier, reviews=True)


def checkable_sentences(draft: str) -> list[str]:
    """Returns the sentences that say enough to be checked."""
    sentences: list[str] = []
    for start, end in pairwise([*sentence_starts(draft), len(draft)]):
        sentence = draft[start:end].strip()
        if len(set(terms(sentence))) >= FEWEST_TERMS:
            sentences.append(sentence)
    return sentences


def is_supported(sentence: str, passages: Iterable[frozenset[str]]) -> bool:
    """Returns True if one passage holds most of the sentence's terms."""
    held = frozenset(terms(sentence))
    return any(len(held & passage) >= SUPPORTS * len(held) for passage in passages)


def in_words(unsupported: tuple[str, ...]) -> str:
    """Says which sentences nothing supports; the next call of the model sees it."""
    if not unsupported:
        return ""
    quoted = "; ".join(
        f"“{sentence[:QUOTED_CHARS]}”" for sentence in unsupported[:QUOTED]
    )
    return f"no passage that was found supports {quoted}"
