"""The layer of facts: the finds, each passage once, numbered in order of discovery.

Discovery follows the order in which calls were requested and the order of passages within a call, never the order in
which tools happened to finish. So concurrency changes no number, and a replay gives the same ones.

Passages of one lesson that touch or overlap are one fact (synthesizer/merging.py). A passage found next to an earlier
round's fact makes a new fact, which includes the earlier one: the meaning of a fact's id never changes, because earlier
replies may have cited it. A passage that says nearly the same as an earlier one is a fact of its own, which notes the
other (`Fact.like`), and requests do not show it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec.structs import replace

from antiphon.language.words import words
from antiphon.synthesizer.merging import FoundPassage, Group, grouped
from antiphon.vocabulary.events import Event, ToolRequested, ToolsSettled, ToolSucceeded
from antiphon.vocabulary.values import Fact, Value

# Two texts are compared by their runs of four words (shingles; Broder, "On the resemblance and containment of
# documents", 1997, https://doi.org/10.1109/SEQUEN.1997.666900): one that shares four fifths of them with an earlier
# text repeats it. Short texts are alike too easily.
RUN_WORDS = 4
LEAST_SHARED = 0.8
FEWEST_WORDS = 8

Shingle = int
"""The hash of a run of words, which takes less memory than the run; 64 bits tell any two of them apart."""


class Facts(Value, frozen=True, kw_only=True):
    """All known facts, and the results of the open round so far.

    Attributes:
        known: Every fact of the settled rounds, in order of discovery; those merged into later ones included.
        passages: For each passage found, its id and that of the fact that holds it now.
        requested: Calls of the open round, in the order of the requests.
        waiting: Their results; they become facts when the round settles.
        merging: False if calls see passages as they came: in a transcript.
    """

    known: tuple[Fact, ...] = ()
    passages: tuple[tuple[str, str], ...] = ()
    requested: tuple[str, ...] = ()
    waiting: tuple[ToolSucceeded, ...] = ()
    merging: bool = True


class Discovery(Value, frozen=True, kw_only=True):
    """The finds of one settled round.

    Attributes:
        new: Facts that were not known before.
        repeated: Ids of known facts that were found again.
        by_call: For each successful call, the ids of all its facts, best first.
    """

    new: tuple[Fact, ...] = ()
    repeated: tuple[str, ...] = ()
    by_call: tuple[tuple[str, tuple[str, ...]], ...] = ()


def fold(facts: Facts, event: Event) -> Facts:
    """Returns the layer after `event`; it ignores results of calls that the open round did not request."""
    if isinstance(event, ToolRequested):
        return replace(facts, requested=(*facts.requested, event.call.id))
    if isinstance(event, ToolSucceeded) and event.tool_call_id in facts.requested:
        return replace(facts, waiting=(*facts.waiting, event))
    return facts


def settle(facts: Facts, settled: ToolsSettled) -> tuple[Facts, Discovery]:
    """Adds the round's confirmed results to the layer."""
    results = _confirmed_in_order(facts, settled)
    fact_of = dict(facts.passages)
    known_before = set(fact_of)
    neighbours = living(facts.known)
    groups = grouped(_new_passages(results, known_before), neighbours, facts.merging)
    new: list[Fact] = []
    alike = _Alike(neighbours)
    for number, group in enumerate(groups, start=len(facts.known) + 1):
        like = alike.note(f"f{number}", group) if facts.merging else None
        fact = Fact(
            id=f"f{number}",
            passage=group.passage,
            tool_call_id=group.tool_call_id,
            round=settled.round,
            merged=group.merged,
            like=like,
        )
        new.append(fact)
        _move_passages(fact_of, fact)
        fact_of.update(dict.fromkeys(group.members, fact.id))
    discovery = Discovery(
        new=tuple(new),
        repeated=_repeated(results, known_before, fact_of),
        by_call=_facts_by_call(results, fact_of),
    )
    known = (*facts.known, *new)
    return Facts(
        known=known, passages=tuple(fact_of.items()), merging=facts.merging
    ), discovery


def _move_passages(fact_of: dict[str, str], fact: Fact) -> None:
    """Points the passages of merged facts to the fact that holds them now."""
    if not fact.merged:
        return
    for passage_id, holder in fact_of.items():
        if holder in fact.merged:
            fact_of[passage_id] = fact.id


def living(known: Sequence[Fact]) -> tuple[Fact, ...]:
    """Returns the facts that no later one includes."""
    merged: set[str] = set()
    for fact in known:
        merged.update(fact.merged)
    return tuple([fact for fact in known if fact.id not in merged])


def standing(known: Sequence[Fact]) -> frozenset[str]:
    """Returns the ids of the facts that no later one includes, and that repeat no earlier one."""
    return frozenset([fact.id for fact in living(known) if fact.like is None])


def _confirmed_in_order(facts: Facts, settled: ToolsSettled) -> list[ToolSucceeded]:
    # A result may come from a failed call or from a void reply too: only those that the round confirms count.
    confirmed = {
        result.tool_call_id: result
        for result in facts.waiting
        if result.tool_call_id in settled.succeeded
    }
    in_order = dict.fromkeys(facts.requested)
    return [confirmed[call_id] for call_id in in_order if call_id in confirmed]


def _new_passages(
    results: Sequence[ToolSucceeded], known: set[str]
) -> list[FoundPassage]:
    """Returns the passages that no earlier round found, in order of discovery, each with the first call that did so."""
    found: dict[str, FoundPassage] = {}
    for result in results:
        for passage in result.passages:
            if passage.id not in known and passage.id not in found:
                found[passage.id] = FoundPassage(passage, result.tool_call_id)
    return list(found.values())


def _repeated(
    results: Sequence[ToolSucceeded], known: set[str], fact_of: dict[str, str]
) -> tuple[str, ...]:
    """Returns the facts of passages that were found more than once, even in the same round."""
    seen = set(known)
    repeated: dict[str, None] = {}
    for result in results:
        for passage in result.passages:
            if passage.id in seen:
                repeated.setdefault(fact_of[passage.id])
            seen.add(passage.id)
    return tuple(repeated)


def _facts_by_call(
    results: Sequence[ToolSucceeded], fact_of: dict[str, str]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    rows: list[tuple[str, tuple[str, ...]]] = []
    for result in results:
        # Two passages of a result may be in one fact, which takes the rank of the better one.
        fact_ids: dict[str, None] = {}
        for passage in result.passages:
            fact_ids.setdefault(fact_of[passage.id])
        rows.append((result.tool_call_id, tuple(fact_ids)))
    return tuple(rows)


@lru_cache(maxsize=512)  # one question after another finds the same passages
def shingles(text: str) -> frozenset[Shingle]:
    """Returns the runs of words of `text`; none if it is too short to compare."""
    found = words(text)
    if len(found) < FEWEST_WORDS:
        return frozenset()
    runs = zip(*[found[at:] for at in range(RUN_WORDS)], strict=False)
    # Hashes of texts differ between processes; these are compared only within one.
    return frozenset(map(hash, runs))


class _Alike:
    """An index of the texts so far by their runs of words: the cost of finding a repeat is linear in its length."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._first_with: dict[Shingle, str] = {}
        for fact in facts:
            self._add(fact.id, shingles(fact.passage.text.text))

    def note(self, fact_id: str, group: Group) -> str | None:
        """Returns the earlier fact that says nearly the same; if there is none, remembers this one for later facts."""
        runs = shingles(group.passage.text.text)
        # A request must show a fact that includes an earlier one in its place, even if it repeats a third one.
        if not group.merged:
            like = self._find(runs)
            if like is not None:
                return like
        self._add(fact_id, runs)
        return None

    def _add(self, fact_id: str, runs: frozenset[Shingle]) -> None:
        unseen = runs.difference(self._first_with)
        self._first_with.update(dict.fromkeys(unseen, fact_id))

    def _find(self, runs: frozenset[Shingle]) -> str | None:
        """Returns the fact that holds nearly all of `runs`; if two hold equally many, the earlier one."""
        held = self._first_with.keys() & runs
        if len(held) < LEAST_SHARED * len(runs):
            return None
        votes = Counter([self._first_with[run] for run in held])
        # Runs shared with several facts do not add up: a single fact must hold nearly all.
        best = max(
            votes, key=lambda fact_id: (votes[fact_id], -int(fact_id[1:])), default=None
        )
        if best is None or votes[best] < LEAST_SHARED * len(runs):
            return None
        return best
