"""Queries that the cast does not play, each a script for the double; `record_golden` records their traces.

They exercise rules that no trace of the cast or the corpus does: reviews, a conversation, another model, wasted
attempts, citations of texts that the model never saw, summaries at their limits, and a claim that denies its source.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

import msgspec

from antiphon.dispatcher import quotable
from antiphon.engine import KNOWN_MODELS, SYSTEM_VERSION, Script, ScriptedReply
from antiphon.engine.offline.script import Break, ScriptedCall, When
from antiphon.service import Change
from antiphon.vocabulary.events import (
    DraftReviewed,
    Event,
    ReasoningCompleted,
    Recorded,
    ReviewRequested,
)
from antiphon.vocabulary.ports import Json, Subscription, ToolOutput, on
from antiphon.vocabulary.subscribers import Subscriber, Surroundings
from antiphon.vocabulary.values import (
    Exchange,
    QuerySettings,
    ReplyCitation,
)
from tests.doubled_query import ask
from tests.traces.recorded_fork import Forks

Trace = Sequence[Recorded[Event]]

QUESTION = "How does BM25 rank, and what does the length of a document do?"
RARE = "BM25 ranks a document by its rare words."
COMMON = "A word that every document holds counts for little."
LENGTH = "The length of a document lowers its score."
CLERKS = " ".join(
    f"Clerk {n} of the harbour counted the grain of ship <{n}> & wrote it down."
    for n in range(60)
)
"""Longer than requests show of an objection, an earlier answer or a summary; with characters to escape."""
SONNET, HAIKU, OPUS = "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5"
FINAL = When(tools=False)


async def search_course_content(query: str) -> ToolOutput:
    """Searches the courses.

    Args:
        query: What to look for.
    """
    text = f"{LENGTH} By how much, b says." if "length" in query else f"{RARE} {COMMON}"
    passage = quotable(f"Ranking - Lesson {len(query)}", text)
    return ToolOutput(text=passage.text.text, passages=(passage,))


async def look_up(words: str) -> str:
    """Looks up what somebody wrote down.

    Args:
        words: Who it was.
    """
    return f"{words} wrote of rare words. {CLERKS.replace('Clerk', words)}"


def calls(name: str, **arguments: str) -> ScriptedReply:
    return replying(calls=(ScriptedCall(name=name, input=arguments),))


def says(text: str, quoted: str = RARE, **more: Any) -> ScriptedReply:
    """A reply that cites the first sentence of the first source."""
    citation = {
        "type": "search_result_location",
        "search_result_index": 0,
        "start_block_index": 0,
        "end_block_index": 1,
        "cited_text": quoted,
    }
    block: Json = {"type": "text", "text": text, "citations": [citation]}
    return replying(content=[block], **more)


def replying(**reply: Any) -> ScriptedReply:
    usage = {"input_tokens": 200, "output_tokens": 100}
    return ScriptedReply(**{"usage": usage, "model": SONNET, **reply})


def refusing(status: int, error: str, when: When, **more: Any) -> ScriptedReply:
    return ScriptedReply(status=status, error=error, when=when, **more)


async def played(*replies: ScriptedReply, **asked: Any) -> Trace:
    versions = (("system_prompt", SYSTEM_VERSION), ("reasoner", SONNET))
    asked = {"question": QUESTION, "versions": versions, **asked}
    query = await ask(Script(replies=replies), search_course_content, look_up, **asked)
    return query.events


SEARCHES = calls("search_course_content", query="rare words")
SEARCHES_ON = calls("search_course_content", query="length of a document")


def reviewer(name: str, *objections: str) -> Subscriber:
    """A reviewer that makes one of these objections to each draft in turn; an empty one accepts the draft."""
    left = list(objections)

    def act(surroundings: Surroundings) -> Sequence[Subscription]:
        def on_review_requested(recorded: Recorded[ReviewRequested]) -> None:
            why = left.pop(0)
            review = DraftReviewed(
                call_id=recorded.event.call_id, reviewer=name, accepted=not why, why=why
            )
            surroundings.ports.publish(review)

        return [on(ReviewRequested, on_review_requested)]

    return Subscriber(name, act=act, reviews=True)


async def revised() -> Trace:
    """Two reviewers reject the first draft, one of them at length, and accept the draft of the final call."""
    return await played(
        SEARCHES,
        says("BM25 ranks by rare words."),
        SEARCHES_ON,
        says("BM25 ranks by rare words; a long document scores lower."),
        settings=QuerySettings(max_rounds=3),
        subscribers=(
            reviewer("verifier", f"It says nothing of length. {CLERKS}", ""),
            reviewer("editor", "It is short.", ""),
        ),
        reviewers=("verifier", "editor"),
    )


async def rejected() -> Trace:
    """One of two reviewers rejects the draft of the final call, which becomes the answer anyway."""
    return await played(
        SEARCHES,
        says("BM25 ranks by rare words."),
        settings=QuerySettings(max_rounds=1),
        subscribers=(
            reviewer("verifier", "It says nothing of length."),
            reviewer("editor", ""),
        ),
        reviewers=("verifier", "editor"),
    )


async def conversation() -> Trace:
    """A question that refers to two earlier exchanges, and an answer with a URL from them."""
    first = Exchange(
        question=f"What is an inverted index, and who counted the grain? {CLERKS[:300]}",
        answer=f"See https://example.org/index. {CLERKS}",
    )
    second = Exchange(question="How does BM25 rank?", answer=f"{RARE} {CLERKS}")
    return await played(
        SEARCHES_ON,
        says("It lowers the score, see https://example.org/index.", LENGTH),
        question="And why does it not simply put long documents first?",
        settings=QuerySettings(max_total_tokens=40_000),
        history=(first, second),
    )


async def other_model() -> Trace:
    """The model is overloaded in the first round, so the other model takes over, in the final call too."""
    models = (SONNET, HAIKU, OPUS)
    return await played(
        refusing(
            529, "overloaded_error", When(contains=f'"model":"{SONNET}"'), times=99
        ),
        SEARCHES,
        says("BM25 ranks by rare words.", model=HAIKU),
        settings=QuerySettings(
            model=SONNET,
            other_model=HAIKU,
            final_model=OPUS,
            max_rounds=1,
            max_cost_usd=0.5,
        ),
        rates=tuple(filter(None, map(KNOWN_MODELS.rate, models))),
    )


async def wasted() -> Trace:
    """An attempt breaks off after the server reported its usage, which leaves too little budget for another round."""
    return await played(
        says("BM25 ranks", breaks=Break(at="text", how="reset"), delta_chars=2),
        SEARCHES,
        says("BM25 ranks by rare words."),
        settings=QuerySettings(max_total_tokens=27_000),
    )


async def citations() -> Trace:
    """A reply that cites a text its request did not hold; made by a fork, as the engine rejects one from a server."""
    trace = await played(SEARCHES, says(COMMON))
    [*_, reply] = [each for each in trace if isinstance(each.event, ReasoningCompleted)]
    cited = [
        ReplyCitation(
            start=0,
            end=len(COMMON),
            source=source,
            first_block=first,
            end_block=end,
            cited_text=COMMON,
        )
        for source, first, end in ((-1, 1, 2), (1, 1, 2), (0, -1, 2), (0, 1, 3))
    ]
    change = Change(
        kind="set", name="citations", value=msgspec.json.encode(cited).decode()
    )
    _, fork = await Forks(trace).fork(reply.seq, change)
    return fork


async def summaries() -> Trace:
    """A summary longer than briefings show, one without words, and a third that is one too many."""
    summing_up = When(contains="<material>")
    too_long = "prompt is too long"
    return await played(
        replying(text=CLERKS, when=summing_up, model=HAIKU),
        replying(text="", when=summing_up, model=HAIKU),
        calls("look_up", words="Clerk"),
        calls("look_up", words="Porter"),
        refusing(400, "invalid_request_error", FINAL, message=too_long),
        refusing(404, "not_found_error", FINAL),
        replying(text="They wrote of rare words.", model=OPUS),
        settings=QuerySettings(
            compression="model",
            briefing_tokens=2_400,
            other_model=OPUS,
        ),
    )


async def contradicted() -> Trace:
    """An answer that contradicts its citation, under version 4 of the rules."""
    return await played(SEARCHES, says("BM25 does not rank a document by rare words."))


SCRIPTED: Mapping[str, Callable[[], Coroutine[Any, Any, Trace]]] = {
    "revised": revised,
    "rejected": rejected,
    "conversation": conversation,
    "other-model": other_model,
    "wasted": wasted,
    "citations": citations,
    "summaries": summaries,
    "contradicted": contradicted,
}
