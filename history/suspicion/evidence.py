"""Finds where evidence was lost: searches that missed, what a briefing left out, what the model did not use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from antiphon.history.suspicion.reading import (
    Finding,
    Reading,
    Search,
    SentenceFound,
    arguments_of,
    quoted,
    sentences_of,
    sought_by,
)
from antiphon.language.evidence import TermShares, is_light, rarity_among
from antiphon.language.questions import refers_back, understood
from antiphon.language.words import sentence_terms, terms
from antiphon.vocabulary.events import (
    BriefingPrepared,
    QueryReceived,
    RoundOpened,
    ToolRequested,
)
from antiphon.vocabulary.values import Citation

MOST_FOUND = 0.66
"""If the sentences found hold as much of the question, no search has missed."""
IN_OTHER_WORDS = 0.3
"""As much is left of the suspicion that a search missed if the answer cites what it found, with some confidence."""
FEWEST_HELD = 2
"""Telling words of the question that a sentence holds at least, to be missed."""
LEAST_LOST = 0.25
"""What weighs less is no loss."""
SPEAKS_TO = 0.4
"""A sentence that holds as much of the question speaks to it."""
MARGIN = 0.25
"""By so much more of the question a sentence that was passed over must hold than the best that is cited."""
REPEATS = 0.6
"""An answer that holds as much of a sentence has used it, cited or not."""
MOST_CLAIMS = 50
FEWEST_TERMS = 3
"""A claim of fewer telling words fits many sentences."""
_SOUGHT_IN = ("query", "queries", "why")
"""The arguments of a search that narrow nothing."""
OF_OLDER = 0.3
"""A search that holds as much of an older question is about that one."""


def missed_searches(reading: Reading) -> Iterator[Finding]:
    """Yields searches of the courses if much of what the question asks for was never found."""
    searches = [search for search in reading.searches if search.is_of_courses]
    missing = _never_found(reading)
    if not missing:
        return
    # A question is often put in other words than the courses': if the answer cites, it was found all the same.
    factor = IN_OTHER_WORDS if reading.is_answered else 1.0
    for search in searches:
        finding = _missed(reading, search, missing)
        yield finding._replace(share=finding.share * factor)
        if narrowed := _narrowed(reading, search):
            text = (
                f"The search for {quoted(search.sought)} was narrowed to {narrowed}, which the question does not name; "
                f"nothing was found on {reading.words_for(missing)}."
            )
            yield Finding("narrowed", text, search.requested.seq, finding.share)


def _narrowed(reading: Reading, search: Search) -> str:
    """Returns the arguments that narrow a search to what the question and the conversation do not name, in words."""
    said = {*terms(understood(reading.question, reading.history))}
    for exchange in reading.history:
        said.update(terms(f"{exchange.question} {exchange.answer}"))
    narrowing: list[str] = []
    arguments = arguments_of(search.requested.event.call)
    for name, value in arguments.items():
        if name in _SOUGHT_IN or not isinstance(value, str | int):
            continue
        if said.isdisjoint(terms(str(value))):
            narrowing.append(f"{name} {quoted(str(value))}")
    return ", ".join(narrowing)


def _never_found(reading: Reading) -> frozenset[str]:
    """Returns the telling terms of the question that nothing found holds; none if these are not much of it."""
    held: frozenset[str] = frozenset()
    for sentence in reading.sentences:
        held |= sentence.terms | sentence_terms(sentence.fact.passage.source)
    missing = reading.telling_terms - held
    if 1 - reading.asked.share(missing) > MOST_FOUND:
        return frozenset()
    return missing


def used_up_rounds(reading: Reading) -> Iterator[Finding]:
    """Yields that no round of tools was left when the answer was written."""
    most = next(
        (each.event.settings.max_rounds for each in reading.of(QueryReceived)), 0
    )
    for seq, opened in reading.of(RoundOpened):
        if not opened.final or opened.round <= most:
            continue
        used = "The one round" if most == 1 else f"All {most} rounds"
        text = f"{used} of tools had been used, so nothing more could be looked up"
        if missing := _never_found(reading):
            text += f"; nothing was found on {reading.words_for(missing)}"
        yield Finding("round_limit", f"{text}.", seq, float(bool(missing)))


def _missed(reading: Reading, search: Search, missing: frozenset[str]) -> Finding:
    """Says of a search what it brought nothing on, and whose doing that was: the query's, or the courses'."""
    passages = search.found.event.passages
    brought = "what it brought holds nothing" if passages else "it brought nothing"
    text = (
        f"The search for {quoted(search.sought)} missed: {brought} on {reading.words_for(missing)}, "
        "which the question asks about."
    )
    share = 1 - reading.asked.share(search.terms)
    left_out = missing - frozenset(terms(search.sought))
    if left_out:
        text += " The query leaves it out."
        return Finding("search_missed", text, search.requested.seq, share)
    return Finding("search_missed", text, search.found.seq, share)


def lost_evidence(reading: Reading) -> Iterator[Finding]:
    """Yields what the briefing before the answer left out although it speaks to the question."""
    if reading.briefing is None:
        return
    seq, briefing = reading.briefing
    shown: frozenset[str] = frozenset()
    best_shown = 0.0
    for sentence in reading.shown:
        shown |= sentence.terms
        best_shown = max(best_shown, reading.asked.share(sentence.terms))
    for lost, why in _left_out(reading, briefing):
        weighed = _loss(reading, lost, shown, best_shown)
        if weighed < LEAST_LOST:
            continue
        text = f"The call that answered was not shown {quoted(lost.text)} ({quoted(lost.fact.passage.source)}): {why}."
        alone = reading.telling_terms & lost.terms - shown
        if words := reading.words_for(alone):
            text += f" Nothing else that it was shown speaks of {words}."
        yield Finding("evidence_left_out", text, seq, weighed)


def _loss(
    reading: Reading, lost: SentenceFound, shown: frozenset[str], best_shown: float
) -> float:
    """Weighs what was lost with a sentence, given the terms of those that were shown, and the share of the best."""
    held = reading.telling_terms & lost.terms
    alone = held - shown
    # What no other sentence says is the greater loss, and what another says better is a small one.
    weighed = 2 * reading.asked.share(alone)
    share = reading.asked.share(lost.terms)
    if share > best_shown:
        weighed += share
    # A name of the question that nothing else speaks of is missed, however much else is asked.
    if alone & reading.named_terms:
        return max(weighed, LEAST_LOST)
    # Any other single word of it occurs in many sentences.
    if len(held) < FEWEST_HELD:
        return 0.0
    return weighed


def _left_out(
    reading: Reading, briefing: BriefingPrepared
) -> list[tuple[SentenceFound, str]]:
    """Returns of each fact the sentence left out that speaks to the question most, and why it was."""
    found: list[tuple[SentenceFound, str]] = []
    for dropped in briefing.dropped:
        fact = reading.facts.get(dropped.what)
        # What another fact says too was shown by that fact.
        if fact is None or dropped.rule == "repeated":
            continue
        numbers = dropped.sentences or range(len(fact.passage.starts))
        sentences = sentences_of(fact, numbers)
        if sentences:
            best = max(
                sentences, key=lambda sentence: reading.asked.share(sentence.terms)
            )
            found.append((best, dropped.why))
    return found


def ignored_evidence(reading: Reading) -> Iterator[Finding]:
    """Yields the sentence that the model was shown, that speaks to the question best, and that it did not use."""
    best = _best_shown(reading)
    if reading.reply is None or reading.response is None or best is None:
        return
    share = reading.asked.share(best.terms)
    cited = _best_cited(reading, reading.response.citations)
    if share < SPEAKS_TO or share - cited < MARGIN:
        return
    said = frozenset(terms(reading.response.answer))
    if len(best.terms & said) >= REPEATS * len(best.terms):
        return
    text = (
        f"The model was shown {quoted(best.text)} ({quoted(best.fact.passage.source)}), "
        "and neither cites nor repeats it."
    )
    if not reading.response.citations:
        text += " The answer cites nothing at all."
    yield Finding("evidence_ignored", text, reading.reply.seq, share - cited)


def _best_cited(reading: Reading, citations: Sequence[Citation]) -> float:
    """Returns how much of the question the cited text holds that holds most of it."""
    share = 0.0
    for citation in citations:
        share = max(share, reading.asked.share(sentence_terms(citation.cited_text)))
    return share


def _best_shown(reading: Reading) -> SentenceFound | None:
    """Returns the sentence shown that speaks to the question best; what an outline lists is no sentence."""
    best: SentenceFound | None = None
    share = 0.0
    for sentence in reading.shown:
        own = reading.asked.share(sentence.terms)
        if own > share and sentence.fact.passage.kind != "outline":
            best, share = sentence, own
    return best


def miscited_claims(reading: Reading) -> Iterator[Finding]:
    """Yields the claims whose words are in another sentence that was found, and not in what they cite."""
    if reading.reply is None or reading.response is None:
        return
    cited: dict[str, frozenset[str]] = {}
    for citation in reading.response.citations[:MOST_CLAIMS]:
        claim = reading.response.answer[citation.start : citation.end]
        words_cited = sentence_terms(f"{citation.source} {citation.cited_text}")
        cited[claim] = cited.get(claim, frozenset()) | words_cited
    for claim, held in cited.items():
        own = sentence_terms(claim)
        if len(own) < FEWEST_TERMS:
            continue
        elsewhere = max(
            reading.sentences, key=lambda sentence: len(own & sentence.terms)
        )
        share = len(own & elsewhere.terms) / len(own)
        if share < REPEATS or share - len(own & held) / len(own) < MARGIN:
            continue
        text = (
            f"{quoted(claim)} is not in what it cites, but in {quoted(elsewhere.fact.passage.source)}: "
            f"{quoted(elsewhere.text)}."
        )
        yield Finding("miscited", text, reading.reply.seq, share)


def misread_follow_ups(reading: Reading) -> Iterator[Finding]:
    """Yields tool calls on an older topic of the conversation than the question is about."""
    if not reading.history:
        return
    older = list(reading.history)
    before = ""
    if refers_back(reading.question):
        last = older.pop()
        before = f"{last.question} {last.answer}"
    meant = frozenset(
        terms(f"{understood(reading.question, reading.history)} {before}")
    )
    for seq, requested in reading.of(ToolRequested):
        sought = frozenset(terms(sought_by(requested.call)))
        if finding := _on_older_topic(reading, seq, requested, sought, meant):
            yield finding
        elif before and sought and not sought & meant:
            text = (
                f"The question goes on from {quoted(reading.history[-1].question)}, "
                f"and the search was for {quoted(sought_by(requested.call))}, which shares nothing with it."
            )
            yield Finding("earlier_topic", text, seq, 0.6)


def _on_older_topic(
    reading: Reading,
    seq: int,
    requested: ToolRequested,
    sought: frozenset[str],
    meant: frozenset[str],
) -> Finding | None:
    """Returns the finding that a call looks for what an older question was about, and not for what this one is."""
    own = _share_of(meant, sought)
    older = list(reading.history)
    if refers_back(reading.question):
        older.pop()
    for exchange in reversed(older):
        share = _share_of(frozenset(terms(exchange.question)) - meant, sought)
        if share >= OF_OLDER and share > own:
            text = (
                f"The search was for {quoted(sought_by(requested.call))}: that is about the earlier question "
                f"{quoted(exchange.question)}, and not about {quoted(reading.question)}."
            )
            return Finding("earlier_topic", text, seq)
    return None


def _share_of(wanted: frozenset[str], held: frozenset[str]) -> float:
    telling = [term for term in wanted if not is_light(term)]
    return TermShares(rarity_among(telling, [wanted])).share(held)
