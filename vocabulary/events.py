"""Every event of a query, in the order in which a query meets them.

An event says what happened (or, if its name ends in `Requested`, what is to happen) and holds values only.
`Recorded` wraps it with its place in the trace: `seq`, `cause` and time are the session's, given when it is recorded.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Generic, Literal, NamedTuple, TypeVar

import msgspec

from antiphon.vocabulary.fields import (
    Id,
    JsonText,
    Mark,
    Measured,
    Name,
    RunId,
    Seq,
    Untrusted,
)
from antiphon.vocabulary.outside import web_link
from antiphon.vocabulary.values import (
    Change,
    Citation,
    ContentBlock,
    Dropped,
    Exchange,
    Fact,
    Imported,
    Indicator,
    Message,
    OwnText,
    Passage,
    Profile,
    QuerySettings,
    Rate,
    ReplyCitation,
    Request,
    ShownSource,
    StoredText,
    ToolCall,
    UntrustedText,
    Usage,
)

VERSION = 1
"""Version of this vocabulary; raised when a recorded event changes its shape."""
RULES = 5
"""Version of the rules by which queries are decided; raised when a rule decides otherwise about the same events."""

Limit = Literal[
    "rounds", "tool_calls", "deadline", "tokens", "cost", "repeated_call", "no_progress",
    "all_tools_failed", "tool_failed", "reasoning_failed", "provider_open",
]  # fmt: skip
FailureKind = Literal[
    "rate_limit", "overloaded", "timeout", "silence", "connection", "truncated_stream", "stream_error", "malformed",
    "authentication", "invalid_request", "not_found", "server_error", "illegal_request", "context_window",
    "abandoned", "wrong_address", "out_of_tokens",
]  # fmt: skip
ToolFailureKind = Literal[
    "unknown_tool", "invalid_arguments", "timeout", "error", "not_found", "abandoned", "interrupted",
]  # fmt: skip
RecoveryLevel = Literal["tool", "round", "session", "response"]
AnswerMode = Literal["reply", "partial", "plain"]
Reasoner = Literal["primary", "fallback"]
SummaryLimit = Literal[
    "deadline", "provider_open", "summaries", "tokens", "cost", "stalled"
]
CitationStyle = Literal["native", "inline"]
Confidence = Literal["high", "medium", "low"]
Status = Literal["answered", "partial", "cancelled", "failed"]


Role = str
"""A part of the service as events name it: `coordinator`, `engine` … or the name of a subscriber from outside."""

CALLER: Role = "caller"
SESSION: Role = "session"
TIMER: Role = "timer"
COORDINATOR: Role = "coordinator"
ENGINE: Role = "engine"
DISPATCHER: Role = "dispatcher"
SYNTHESIZER: Role = "synthesizer"
ASSEMBLER: Role = "assembler"
REVIEWER: Role = "reviewer"


class About(NamedTuple):
    """The thing of a query that an event is about: the kind of thing, and the field that holds its id or number."""

    kind: Literal["query", "round", "call", "tool_call"]
    field: str = ""


QUERY = About("query")
ROUND = About("round", "round")
CALL = About("call", "call_id")
FOR_CALL = About("call", "for_call")
TOOL_CALL = About("tool_call", "tool_call_id")
NESTED_TOOL_CALL = About("tool_call", "call.id")


class Settles(NamedTuple):
    """An event that must follow `request`; `by` says which request it settles, None: the one that it is about."""

    request: type[Event]
    by: About | None = None


class Event(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="kind",
    gc=False,
):
    """The base of every event: frozen, built by field names, tagged with its kind, and declaring its own facts.

    Attributes:
        emitted_by: The parts of the service that emit it, the usual one first.
        about: The round, reasoning call or tool call that it is about, or the query as a whole.
        settles: The requests that it is an outcome of; what an event requests is derived from these.
    """

    emitted_by: ClassVar[tuple[Role, ...]] = ()
    about: ClassVar[About] = QUERY
    settles: ClassVar[tuple[Settles, ...]] = ()

    @classmethod
    def kind_name(cls) -> str:
        """Returns the tag by which traces and REST know the event, such as `round_opened`."""
        return str(cls.__struct_config__.tag)

    def subject(self, about: About | None = None) -> str | int:
        """Returns the id or number of the thing that the event is about; an empty text for the query as a whole."""
        if about is None:
            about = self.about
        if not about.field:
            return ""
        value: object = self
        # A path, because some events carry a whole tool call and not only its id.
        for name in about.field.split("."):
            value = getattr(value, name)
        if isinstance(value, (str, int)):
            return value
        # A component from outside may name a field of any type.
        return ""


class QueryReceived(Event, frozen=True, kw_only=True, tag="query_received"):
    """A question arrived, with everything from outside that later decisions use.

    Attributes:
        session_id: The conversation; empty if the caller keeps it.
        history: Its last exchanges, oldest first: as they were recorded, or as the caller who keeps it sent them.
        courses: The titles of all courses, one per line.
        tools: Names of the tools that may be offered.
        versions: Names and versions of what shapes the run (system prompt, reasoner, index), as pairs.
        provider_open: The provider's circuit is open: go straight to the fallback reasoner.
        history_missing: The conversation's exchanges could not be read.
        parent: The trace that this one is a fork of; None if it is not a fork.
        parent_seq: The event of the parent that was changed, the last that both have.
        change: What was changed, in words.
        rates: The most that tokens of the models that may be called can cost, as far as that is known.
        fixed_tokens: Estimated tokens of a request apart from its messages: system prompt and tools.
        reviewers: Subscribers that judge each draft before it becomes the answer.
        fallback_searches: If the fallback reasoner takes over, it searches before it answers, and the model's calls
            leave it time for that. False in older traces, in which it answered from what had been found.
        faults: The faults that are injected into it on purpose, in words; no rule decides about their effects.
        rules: The version of the rules that decide it, so that an older trace replays by the rules of its time.
        catalogue: The courses as every call sees them; empty if none are known, and in traces of rules 1.
        follows: The earlier query of its conversation that it follows, "" for none; None: the last one before it. All
            queries that follow the same one are versions of one another.
        imported: Another program ran it, so it may exceed our limits; None for a query of our own.
    """

    emitted_by = (CALLER,)

    query: Untrusted
    session_id: RunId
    settings: QuerySettings
    history: tuple[Exchange, ...] = ()
    courses: UntrustedText = msgspec.field(default_factory=lambda: StoredText(""))
    tools: tuple[Name, ...] = ()
    versions: tuple[tuple[Name, Name], ...] = ()
    provider_open: bool = False
    history_missing: bool = False
    parent: Annotated[str, Mark.NAME, Mark.FORK] | None = None
    parent_seq: Annotated[int, Mark.FORK] = 0
    change: Annotated[str, Mark.UNTRUSTED, Mark.FORK] = ""
    rates: tuple[Rate, ...] = ()
    fixed_tokens: int = 0
    reviewers: tuple[Name, ...] = ()
    fallback_searches: bool = False
    faults: tuple[Annotated[str, Mark.NAME, Mark.FORK], ...] = ()
    rules: int = 1
    catalogue: UntrustedText = msgspec.field(default_factory=lambda: StoredText(""))
    follows: RunId | None = None
    imported: Imported | None = None


class RoundOpened(Event, frozen=True, kw_only=True, tag="round_opened"):
    """A round begins; the final one offers no tools.

    Attributes:
        round: From 1; the final call has the number after the last tool round.
        call_id: The reasoning call that this round will make.
        rounds_left: Rounds of tools that remain after this one.
        briefing_tokens: The most tokens of its briefing, if that is less than the setting; None: the setting holds.
        note: The reviewers' words on the previous draft, for its call to see; empty if there are none.
    """

    emitted_by = (COORDINATOR,)
    about = CALL

    round: int
    call_id: Id
    final: bool
    rounds_left: int
    briefing_tokens: int | None = None
    note: Untrusted = ""


class SummaryWanted(Event, frozen=True, kw_only=True, tag="summary_wanted"):
    """A briefing would leave out much of what earlier rounds found, and a model could summarise that.

    Attributes:
        call_id: The reasoning call whose briefing waits for it.
        of: What would be summarised: facts and their sentences.
        messages: What a summarising call would see.
        tokens: Estimated tokens of the messages.
    """

    emitted_by = (SYNTHESIZER,)
    about = CALL

    call_id: Id
    round: int
    of: tuple[ShownSource, ...]
    messages: tuple[Message, ...]
    tokens: int


class SummaryRequested(Event, frozen=True, kw_only=True, tag="summary_requested"):
    """A summarising call is requested; it is counted separately from the reasoning calls.

    Attributes:
        call_id: Its own id; its attempts are `ReasoningStarted` under it.
        for_call: The reasoning call whose briefing waits for it.
        spare_tokens: Tokens that failed attempts may use in all before no other may follow; None: no limit.
        spare_usd: The same in US dollars.
    """

    emitted_by = (COORDINATOR,)
    about = CALL
    settles = (Settles(SummaryWanted, by=FOR_CALL),)

    call_id: Id
    for_call: Id
    round: int
    reasoner: Reasoner
    model: Name
    max_tokens: int
    timeout_s: Measured
    messages: tuple[Message, ...]
    spare_tokens: int | None = None
    spare_usd: float | None = None


class SummarySkipped(Event, frozen=True, kw_only=True, tag="summary_skipped"):
    """The breaker refused the summarising call; the briefing does without."""

    emitted_by = (COORDINATOR,)
    about = FOR_CALL
    settles = (Settles(SummaryWanted),)

    for_call: Id
    limit: SummaryLimit
    detail: Untrusted


class SummaryCompleted(Event, frozen=True, kw_only=True, tag="summary_completed"):
    """The complete reply to a summarising call; the fields are those of `ReasoningCompleted`."""

    emitted_by = (ENGINE,)
    about = CALL
    settles = (Settles(SummaryRequested),)

    call_id: Id
    for_call: Id
    content: tuple[ContentBlock, ...]
    text: UntrustedText
    stop_reason: Name
    usage: Usage
    model: Name
    message_id: Annotated[str, Mark.UNTRUSTED, Mark.RUN]
    request_id: Annotated[str, Mark.UNTRUSTED, Mark.RUN] | None = None
    wasted: Usage = Usage()
    unreported: Usage = Usage()

    @property
    def is_usable(self) -> bool:
        """True if it holds a summary: some servers answer with nothing, and a model may decline."""
        return bool(self.text.text.strip()) and self.stop_reason != "refusal"


class SummaryFailed(Event, frozen=True, kw_only=True, tag="summary_failed"):
    """A summarising call got no reply; the briefing does without. `usage` is that of `ReasoningFailed`."""

    emitted_by = (ENGINE,)
    about = CALL
    settles = (Settles(SummaryRequested),)

    call_id: Id
    for_call: Id
    failure: FailureKind
    detail: Untrusted
    request_id: Annotated[str, Mark.UNTRUSTED, Mark.RUN] | None = None
    usage: Usage = Usage()
    unreported: Usage = Usage()


class BriefingPrepared(Event, frozen=True, kw_only=True, tag="briefing_prepared"):
    """The briefing that the next reasoning call will see.

    Attributes:
        sources: Row n is the request's source number n.
        tokens: Estimated tokens of the messages.
        facts: Ids of the facts shown, whole or in part.
        dropped: What it leaves out of the memory.
        changes: What differs from the previous briefing.
        summary: The summarising call whose text is in its notes; empty if there is none.
    """

    emitted_by = (SYNTHESIZER,)
    about = CALL
    settles = (Settles(RoundOpened),)

    call_id: Id
    round: int
    messages: tuple[Message, ...]
    sources: tuple[ShownSource, ...]
    facts: tuple[Id, ...]
    tokens: int
    dropped: tuple[Dropped, ...] = ()
    changes: tuple[Change, ...] = ()
    summary: Id = ""


class ReasoningRequested(Event, frozen=True, kw_only=True, tag="reasoning_requested"):
    """One call of the Messages API is requested.

    Attributes:
        elapsed_s: Seconds of the deadline that were used when it was asked for.
        kept_s: Seconds of the deadline that are reserved for what follows: the final call, the fallback reasoner,
            building the answer.
        spare_tokens: Tokens that failed attempts may use in all before no other may follow; None: no limit.
        spare_usd: The same in US dollars.
        catalogue: The courses as its system prompt shows them; empty if it does not mention them.
    """

    emitted_by = (COORDINATOR,)
    about = CALL

    call_id: Id
    round: int
    final: bool
    reasoner: Reasoner
    model: Name
    max_tokens: int
    timeout_s: Measured
    max_rounds: int
    messages: tuple[Message, ...]
    effort: Name | None = None
    thinking: Name = "default"
    elapsed_s: Measured = 0.0
    kept_s: float = 0.0
    spare_tokens: int | None = None
    spare_usd: float | None = None
    catalogue: UntrustedText = msgspec.field(default_factory=lambda: StoredText(""))


class ReasoningStarted(Event, frozen=True, kw_only=True, tag="reasoning_started"):
    """An attempt is sent; `request` is exactly what went out, `reasoner` names who answers (model or `offline`).

    Attributes:
        part: 1, and one more for each request that continues a reply which the server paused.
        repairs: Names of the rules of legality (engine/legality.py) that mended the request.
        citations: The form of its sources: `search_result` blocks, or numbers in plain text.
        caching: The decision about cache breakpoints, and why; empty if there was nothing to decide.
        profile: What server and model accepted when the request was built; None in older summarising calls.
        tool_definitions: The definitions of all tools that existed then, whether the request offers them or not;
            None in a summarising call.
        most: The most that it may use, which counts until the server reports what it used; empty in older traces.
    """

    emitted_by = (ENGINE,)
    about = CALL

    call_id: Id
    attempt: int
    reasoner: Name
    request: Request
    part: int = 1
    repairs: tuple[Name, ...] = ()
    citations: CitationStyle = "native"
    caching: Name = ""
    profile: Profile | None = None
    tool_definitions: OwnText | None = None
    most: Usage = Usage()


class ToolCallStreamed(Event, frozen=True, kw_only=True, tag="tool_call_streamed"):
    """A tool call is complete in the stream, before the message is."""

    emitted_by = (ENGINE,)
    about = NESTED_TOOL_CALL

    call_id: Id
    round: int
    call: ToolCall


class ReasoningRetried(Event, frozen=True, kw_only=True, tag="reasoning_retried"):
    """An attempt failed and another follows; text streamed so far is void.

    Attributes:
        counted: What it used as far as its server reported it, and the most of what the server did not report.
    """

    emitted_by = (ENGINE,)
    about = CALL

    call_id: Id
    attempt: int
    wait_s: Measured
    why: FailureKind
    detail: Untrusted
    counted: Usage = Usage()


NOT_SEARCHED = "not_searched"
"""The offline reasoner's stop reason for a reply that says only that nothing could be looked up."""
NOTHING_FOUND = "nothing_found"
"""Its stop reason for a reply that says only that nothing was found which answers the question."""
CLOSEST_FOUND = "closest_found"
"""Its stop reason for a reply that shows the closest passages, which may not answer the question."""
LOOSE_FIT = "loose_fit"
"""Its stop reason for a reply that shows what fits the question, but not well enough to be sure that it answers."""
PART_MISSING = "part_missing"
"""Its stop reason for a reply that answers all of the question except a part, which it names."""


class ReasoningCompleted(Event, frozen=True, kw_only=True, tag="reasoning_completed"):
    """The complete reply to a reasoning call.

    Attributes:
        content: Each content block's JSON, as received.
        text: The text blocks joined.
        stop_reason: As received, or one of the offline reasoner's own; unknown ones are treated as an end.
        model: The model that the server says answered.
        wasted: What earlier, failed attempts used, as far as the server reported it, and the call that found out how
            the server cites.
        unreported: The most that the call may have used on top of `usage` and `wasted`, if a server left some out.
        thought_s: Seconds of thinking before the first word or tool call of a streamed reply; 0 if there was none.
    """

    emitted_by = (ENGINE,)
    about = CALL
    settles = (Settles(ReasoningRequested),)

    call_id: Id
    round: int
    content: tuple[ContentBlock, ...]
    text: UntrustedText
    tool_calls: tuple[ToolCall, ...]
    citations: tuple[ReplyCitation, ...]
    stop_reason: Name
    usage: Usage
    model: Name
    message_id: Annotated[str, Mark.UNTRUSTED, Mark.RUN]
    request_id: Annotated[str, Mark.UNTRUSTED, Mark.RUN] | None = None
    wasted: Usage = Usage()
    unreported: Usage = Usage()
    thought_s: Measured = 0.0

    @property
    def thought(self) -> str:
        """The text of its blocks of thinking, one paragraph each; empty if it did not think, or did not say."""
        thoughts: list[str] = []
        for block in self.content:
            # Looked through before it is decoded: most blocks are not of that kind.
            if '"thinking"' not in block.text:
                continue
            fields = msgspec.json.decode(block.text)
            if fields.get("type") == "thinking":
                thoughts.append(str(fields.get("thinking", "")).strip())
        return "\n\n".join(filter(None, thoughts))


class ReasoningFailed(Event, frozen=True, kw_only=True, tag="reasoning_failed"):
    """A reasoning call got no reply; `usage` is what its attempts used, as far as the server reported it.

    Attributes:
        unreported: The most that they may have used on top of that.
    """

    emitted_by = (ENGINE,)
    about = CALL
    settles = (Settles(ReasoningRequested),)

    call_id: Id
    failure: FailureKind
    detail: Untrusted
    retryable: bool = False
    retry_after_s: float | None = None
    request_id: Annotated[str, Mark.UNTRUSTED, Mark.RUN] | None = None
    usage: Usage = Usage()
    unreported: Usage = Usage()


class ToolRequested(Event, frozen=True, kw_only=True, tag="tool_requested"):
    """One tool call is requested."""

    emitted_by = (COORDINATOR,)
    about = NESTED_TOOL_CALL

    round: int
    call: ToolCall
    timeout_s: Measured


class ToolStarted(Event, frozen=True, kw_only=True, tag="tool_started"):
    """A tool starts to run.

    Attributes:
        idempotency_key: The key by which the tool can recognise a repeat of the same call; empty if it takes none.
    """

    emitted_by = (DISPATCHER,)
    about = TOOL_CALL

    tool_call_id: Id
    name: Name
    idempotency_key: RunId = ""


class ToolSubstituted(Event, frozen=True, kw_only=True, tag="tool_substituted"):
    """A tool failed and a substitute runs in its place, with adapted arguments."""

    emitted_by = (DISPATCHER,)
    about = TOOL_CALL

    tool_call_id: Id
    failed: Name
    substitute: Name
    arguments: JsonText
    why: Untrusted


class ToolSucceeded(Event, frozen=True, kw_only=True, tag="tool_succeeded"):
    """A tool call returned a result (which may be that nothing was found).

    Attributes:
        output: The tool's words, up to a limit.
        passages: The evidence, best first.
        name: The tool that answered: the substitute if there was one.
    """

    emitted_by = (DISPATCHER,)
    about = TOOL_CALL
    settles = (Settles(ToolRequested),)

    tool_call_id: Id
    name: Name
    output: UntrustedText
    passages: tuple[Passage, ...]
    duration_ms: Measured


class ToolFailed(Event, frozen=True, kw_only=True, tag="tool_failed"):
    """A tool call failed; `detail` says what was wrong, in words that help the model."""

    emitted_by = (DISPATCHER,)
    about = TOOL_CALL
    settles = (Settles(ToolRequested),)

    tool_call_id: Id
    name: Name
    failure: ToolFailureKind
    detail: Untrusted
    duration_ms: Measured = 0.0


class ToolAnsweredLate(Event, frozen=True, kw_only=True, tag="tool_answered_late"):
    """A tool that could not be stopped returned after its call had its outcome; the result is not used.

    Attributes:
        passages: How many it returned.
        duration_ms: From the call's request.
    """

    emitted_by = (DISPATCHER,)
    about = TOOL_CALL

    tool_call_id: Id
    name: Name
    passages: int
    duration_ms: Measured


class ToolCallsConfirmed(Event, frozen=True, kw_only=True, tag="tool_calls_confirmed"):
    """The reply is complete: these calls, and no others, make up the round."""

    emitted_by = (COORDINATOR,)
    about = ROUND

    round: int
    tool_call_ids: tuple[Id, ...]


class ToolsSettled(Event, frozen=True, kw_only=True, tag="tools_settled"):
    """Every confirmed call of the round has its outcome."""

    emitted_by = (DISPATCHER,)
    about = ROUND
    settles = (Settles(ToolCallsConfirmed),)

    round: int
    succeeded: tuple[Id, ...]
    failed: tuple[Id, ...]


class ContextSynthesized(Event, frozen=True, kw_only=True, tag="context_synthesized"):
    """The round's outcomes are in memory.

    Attributes:
        facts: The new facts, in order of discovery.
        repeated: Ids of facts that were found again.
        open_parts: Parts of the question for which nothing has been found yet.
    """

    emitted_by = (SYNTHESIZER,)
    about = ROUND
    settles = (Settles(ToolsSettled),)

    round: int
    facts: tuple[Fact, ...]
    repeated: tuple[Id, ...] = ()
    open_parts: tuple[Untrusted, ...] = ()


class BreakerTripped(Event, frozen=True, kw_only=True, tag="breaker_tripped"):
    """A limit was reached: a request is refused, and an answer follows."""

    emitted_by = (COORDINATOR,)
    about = TOOL_CALL

    limit: Limit
    detail: Untrusted
    tool_call_id: Id | None = None


class DeadlineNeared(Event, frozen=True, kw_only=True, tag="deadline_neared"):
    """Only the share kept for the final call is left; it was due `after_s` seconds after the question came."""

    emitted_by = (TIMER,)

    left_s: Measured
    after_s: float = 0.0


class DeadlinePassed(Event, frozen=True, kw_only=True, tag="deadline_passed"):
    """No time is left for another call; `left_s` is what assembling may take. Due `after_s` after the question came."""

    emitted_by = (TIMER,)

    left_s: Measured
    after_s: float = 0.0


class CallsAbandoned(Event, frozen=True, kw_only=True, tag="calls_abandoned"):
    """These reasoning or tool calls are no longer needed; each one that still runs ends as failed (`abandoned`)."""

    emitted_by = (COORDINATOR,)

    call_ids: tuple[Id, ...]
    why: Untrusted


class RecoveryStarted(Event, frozen=True, kw_only=True, tag="recovery_started"):
    """Something failed and the query continues another way."""

    emitted_by = (COORDINATOR,)

    level: RecoveryLevel
    why: Untrusted
    event_seq: Seq


class QueryCancelled(Event, frozen=True, kw_only=True, tag="query_cancelled"):
    """The caller disconnected or cancelled the query."""

    emitted_by = (CALLER,)

    why: Untrusted


class QueryResumed(Event, frozen=True, kw_only=True, tag="query_resumed"):
    """The query resumes from its recorded events.

    Attributes:
        away_s: Seconds in which nobody worked on it: they do not count against its deadline.
        why: What had ended it, in words.
        lost: The most that the calls under way had used by then; they are made once more. A fork loses none.
    """

    emitted_by = (CALLER,)

    away_s: Measured
    why: Untrusted
    lost: Usage = Usage()


class HandlerFailed(Event, frozen=True, kw_only=True, tag="handler_failed"):
    """A component raised while handling an event; `handler` is `Class.method`."""

    emitted_by = (SESSION,)

    handler: Name
    error: Untrusted
    event_seq: Seq


class SessionStalled(Event, frozen=True, kw_only=True, tag="session_stalled"):
    """Nothing is queued, nothing runs, and the query is not closed; `waiting_for` names who owes what."""

    emitted_by = (SESSION,)

    waiting_for: tuple[Name, ...]


class RecordingFailed(Event, frozen=True, kw_only=True, tag="recording_failed"):
    """The trace store refused an append; the query continues."""

    emitted_by = (SESSION,)

    detail: Untrusted


class ReviewRequested(Event, frozen=True, kw_only=True, tag="review_requested"):
    """The reply of a call would be the answer; every reviewer judges it first."""

    emitted_by = (COORDINATOR,)
    about = CALL

    call_id: Id
    round: int


class DraftReviewed(Event, frozen=True, kw_only=True, tag="draft_reviewed"):
    """A reviewer's judgement of a draft.

    Attributes:
        reviewer: One of the names in `QueryReceived.reviewers`.
        accepted: False asks for one more round, which comes while rounds and time are left.
        why: What is missing or wrong, in words that the next round's call sees; empty if it is accepted.
    """

    emitted_by = (REVIEWER,)
    about = CALL
    settles = (Settles(ReviewRequested),)

    call_id: Id
    reviewer: Name
    accepted: bool
    why: Untrusted = ""


class AnswerRequested(Event, frozen=True, kw_only=True, tag="answer_requested"):
    """An answer is requested.

    Attributes:
        mode: `reply` (from the reply of `call_id`), `partial` (from the facts in hand), `plain` (a statement only).
        why: Why no reply becomes the answer; empty for `reply`.
    """

    emitted_by = (COORDINATOR,)

    mode: AnswerMode
    call_id: Id | None = None
    why: Untrusted = ""


class ResponseAssembled(Event, frozen=True, kw_only=True, tag="response_assembled"):
    """The answer, as the caller gets it.

    Attributes:
        sources: The cited sources, in order, without repeats; `source_links` has the link of each.
        rounds: Rounds of tools that were run.
        reasoner: Who answered: the model's name, `offline`, or `none`.
        calls: Reasoning calls that brought a reply.
        usage: Their tokens.
        summaries: Summarising calls that brought a reply.
        summary_usage: Their tokens, counted separately.
    """

    emitted_by = (ASSEMBLER,)
    settles = (Settles(AnswerRequested),)

    answer: Untrusted
    sources: tuple[Untrusted, ...]
    source_links: tuple[Untrusted | None, ...]
    citations: tuple[Citation, ...]
    confidence: Confidence
    indicators: tuple[Indicator, ...]
    rounds: int
    reasoner: Name
    calls: int
    usage: Usage
    summaries: int = 0
    summary_usage: Usage = Usage()

    def __post_init__(self) -> None:
        # A file from elsewhere may hold any links, and more or fewer than sources.
        links = list(map(web_link, self.source_links[: len(self.sources)]))
        links += [None] * (len(self.sources) - len(links))
        if tuple(links) != self.source_links:
            msgspec.structs.force_setattr(self, "source_links", tuple(links))


class QueryClosed(Event, frozen=True, kw_only=True, tag="query_closed"):
    """The query is over; nothing of it runs any more."""

    emitted_by = (COORDINATOR, SESSION)
    settles = (Settles(QueryReceived), Settles(ResponseAssembled))

    status: Status


# Covariant, because a trace of mixed events is read as `Recorded[Event]`, and a handler takes its own kind.
E = TypeVar("E", bound=Event, covariant=True)


class Recorded(
    msgspec.Struct,
    Generic[E],
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    gc=False,
):
    """An event in its trace.

    Attributes:
        seq: 1, 2, 3 … within the query, without gaps.
        cause: The `seq` of the event that led to it; 0 for what came from outside.
        at: Seconds since the epoch, never running backwards within a query.
        version: The vocabulary's version when it was written.
    """

    query_id: str
    seq: int
    cause: int
    at: float
    event: E
    version: int = VERSION


class TextDelta(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag="text_delta",
    tag_field="kind",
    gc=False,
):
    """A piece of a reply's text for live followers; never recorded."""

    call_id: str
    text: str


class TextDiscarded(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag="text_discarded",
    tag_field="kind",
    gc=False,
):
    """The text streamed for this call is void; never recorded."""

    call_id: str


Live = TextDelta | TextDiscarded
"""What live followers get beside the recorded events."""
