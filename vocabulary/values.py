"""The values that events are made of: frozen, typed and comparable."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

import msgspec

from antiphon.vocabulary.fields import (
    Id,
    JsonText,
    Mark,
    Name,
    Seq,
    Untrusted,
)
from antiphon.vocabulary.outside import web_link
from antiphon.vocabulary.settings import QuerySettings as QuerySettings


class Value(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False
):
    """The base of every value: it cannot change, takes its fields by name, and refuses unknown ones.

    An immutable value cannot come to hold itself, so the garbage collector need not track values and events
    (`gc=False`): with many queries under way it would visit each of them over and over.
    """


def keep_web_link(value: Value, link: str | None) -> None:
    """Removes a link that is no web address from a value, whether a tool, a fork or a file made it."""
    if link is not None and web_link(link) is None:
        msgspec.structs.force_setattr(value, "link", None)


class StoredText:
    """A text that may be large or often repeated: equal by content, stored once under its SHA-256.

    In memory it is the whole text. A trace store writes it once and refers to it by `key` (traces/event_log.py);
    everywhere else it is encoded and decoded as a plain JSON string.
    """

    __slots__ = ("_key", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._key: str | None = None

    @property
    def key(self) -> str:
        """The SHA-256 of the UTF-8 bytes, in hex."""
        # Hashed only when needed: most texts in memory are never stored under their key.
        if self._key is None:
            self._key = hashlib.sha256(self.text.encode()).hexdigest()
        return self._key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StoredText) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"StoredText({self.text!r})"


UntrustedText = Annotated[StoredText, Mark.UNTRUSTED]
ContentBlock = Annotated[StoredText, Mark.CONTENT_BLOCK]
OwnText = Annotated[StoredText, Mark.NAME]
"""A long text of our own making, such as the system prompt."""


class ToolCall(Value, frozen=True, kw_only=True):
    """One tool call that the model asked for.

    Attributes:
        id: The model's own id, unique within the query.
        arguments: The JSON object as the model wrote it; it may be cut off or malformed.
    """

    id: Id
    name: Name
    arguments: JsonText


class Signals(Value, frozen=True, kw_only=True):
    """Why a search found a passage: its best sentence's scores by signal, in standard deviations above the mean.

    Attributes:
        meaning: By how close its vector is to the query's.
        words: By the words that it shares with the query.
        matched: These words, as the query has them.
    """

    meaning: float = 0.0
    words: float = 0.0
    matched: tuple[Untrusted, ...] = ()


class Place(Value, frozen=True, kw_only=True):
    """A place in a file that a part of a passage was read from.

    Attributes:
        start: The offset in the passage's text at which it begins, in characters; it lasts until the next place.
        name: In words, such as "page 4".
    """

    start: int
    name: Untrusted
    link: Untrusted | None = None

    def __post_init__(self) -> None:
        keep_web_link(self, self.link)


LessonPart = Literal["beginning", "end"]
"""Of a lesson's text."""


class Passage(Value, frozen=True, kw_only=True, omit_defaults=True):
    """A piece of evidence that a tool returned, and its source.

    A trace holds many of them, so it leaves out the fields that say nothing.

    Attributes:
        id: Content address: the same passage found twice has the same id.
        source: What a reader sees, such as `Practical Search - Lesson 3`.
        kind: `passage` (course text), `outline` (a course's table of contents), `text` (any other tool's
            words, and the beginning or end of a lesson; briefings show these whole).
        starts: Offsets in `text`, in characters, at which its sentences begin; the first is 0.
            Sentence n is `text[starts[n]:starts[n + 1]]`, so that the sentences joined are the text.
        score: How well it matches the tool's query; comparable within one tool call only.
        start: The offset of `text` in its lesson's text, in characters; None if that is not known.
        place: The place in its file at which it begins, such as "page 3" or "at 12:05"; None if the file has
            no such places.
        places: The places in which the text goes on, such as the next page, in order.
        signals: Why a search found it; None if no search did.
    """

    id: Id
    source: Untrusted
    text: UntrustedText
    starts: tuple[int, ...] = (0,)
    course: Untrusted | None = None
    lesson: int | None = None
    title: Untrusted | None = None
    link: Untrusted | None = None
    kind: Literal["passage", "outline", "text"] = "passage"
    score: float = 0.0
    start: int | None = None
    place: Untrusted | None = None
    places: tuple[Place, ...] = ()
    signals: Signals | None = None

    def __post_init__(self) -> None:
        keep_web_link(self, self.link)

    def sentence(self, number: int) -> str:
        """Sentence `number` (from 0), with the white space that follows it."""
        start = self.starts[number]
        # The last sentence reaches to the end of the text.
        if number + 1 == len(self.starts):
            return self.text.text[start:]
        return self.text.text[start : self.starts[number + 1]]

    def place_at(self, at: int) -> Place | None:
        """Returns the place in the file of the text from character `at` on; None if unknown."""
        found = None
        if self.place is not None:
            found = Place(start=0, name=self.place, link=self.link)
        for place in self.places:
            if place.start <= at:
                found = place
        return found

    def places_from(self, first: int, last: int) -> str:
        """Names the place of the text between two characters, such as "page 3"; an empty text if unknown."""
        names: dict[str, None] = {}
        for at in (first, last):
            place = self.place_at(at)
            if place is not None:
                names[place.name] = None
        return " \u2013 ".join(names)


class Fact(Value, frozen=True, kw_only=True):
    """A passage as the session remembers it.

    Attributes:
        id: `f1`, `f2` … in order of discovery within the query.
        tool_call_id: The call that found it first.
        round: The round of that call.
        merged: Earlier facts whose text its passage contains; briefings no longer show them.
        like: The earlier fact that says nearly the same elsewhere; None if there is none.
    """

    id: Id
    passage: Passage
    tool_call_id: Id
    round: int
    merged: tuple[Id, ...] = ()
    like: Id | None = None


class ShownSource(Value, frozen=True, kw_only=True):
    """One source as a request showed it: its fact, and which of the fact's sentences were sent, block by block."""

    fact_id: Id
    sentences: tuple[int, ...]


class Dropped(Value, frozen=True, kw_only=True):
    """Something that a briefing left out.

    Attributes:
        what: A fact id, or `round N notes`.
        sentences: Which sentences of the fact; empty means all of it.
        why: The rule that dropped it, in plain words.
        tokens: Estimated tokens that this freed.
        rule: `budget` (it did not fit), `decay` (its score is too low for its age), `repeated` (shown elsewhere).
        scores: What each of the sentences was worth to the question, to two digits, in their order.
        bar: The least score that would have stayed at that age, to two digits; None if age was not the reason.
    """

    what: Name
    why: Untrusted
    tokens: int
    sentences: tuple[int, ...] = ()
    rule: Literal["budget", "decay", "repeated"] = "budget"
    scores: tuple[float, ...] = ()
    bar: float | None = None


class Change(Value, frozen=True, kw_only=True):
    """One difference between a briefing and the one before it.

    Attributes:
        what: A fact id.
        change: `came`, `returned`, `decayed`, `dropped` (over the budget), `merged`, or `repeated` (says nearly what
            another fact says).
        why: The reason, in plain words.
        tokens: Estimated tokens that this added or freed.
        sentences: Which sentences of the fact; empty means all of it.
    """

    what: Name
    change: Literal["came", "returned", "decayed", "dropped", "merged", "repeated"]
    why: Untrusted
    tokens: int
    sentences: tuple[int, ...] = ()


class Message(Value, frozen=True, kw_only=True):
    """One message of a Messages API request; each content block is its JSON text."""

    role: Literal["user", "assistant"]
    content: tuple[ContentBlock, ...]


class Request(Value, frozen=True, kw_only=True):
    """A Messages API request, exactly as it was sent (engine/request.py turns it into its bytes).

    Attributes:
        system: The system prompt's JSON (a list of text blocks).
        tools: The tool definitions' JSON (a list), or None if none are offered.
        tool_choice: The tool choice's JSON object, or None.
        extra: A JSON object of further top-level fields, or None.
        stream: The reply comes as a stream; False: in one piece.
    """

    model: Name
    max_tokens: int
    system: OwnText
    messages: tuple[Message, ...]
    tools: OwnText | None = None
    tool_choice: Name | None = None
    extra: Name | None = None
    stream: Annotated[bool, Mark.MEASURED] = True


CitationSetting = Literal["native", "inline", "auto"]
ThinkingMode = Literal["adaptive", "between_tools", "disabled", "enabled"]
"""What `thinking.type` of a request may say; see `engine/models.py` for which model takes which."""


class ModelTraits(Value, frozen=True, kw_only=True):
    """What one model takes and does, as far as a request to it depends on that.

    Attributes:
        thinking: The modes of thinking that it accepts; any other is refused with 400.
        thinks: It thinks if the request does not mention thinking.
        efforts: The levels of `output_config.effort` that it accepts; none: it knows no effort.
        least_cached: Tokens below which a prefix is silently not cached.
        max_output: Most tokens of a reply, its thinking included.
        strict: Takes `strict` tools and `input_examples`.
        forced_tools: Takes `tool_choice` of the types `any` and `tool`.
    """

    thinking: tuple[ThinkingMode, ...] = ()
    thinks: bool = False
    efforts: tuple[Name, ...] = ()
    least_cached: int = 4096
    max_output: int = 64_000
    strict: bool = True
    forced_tools: bool = True


class Profile(Value, frozen=True, kw_only=True):
    """The switches of one server that speaks the Messages API: how it differs from the original.

    Attributes:
        citations: `native`: sources are `search_result` blocks; `inline`: numbered plain text, for servers that do
            not know these; `auto`: one small call finds out, and the service remembers the result.
        tool_choice_none: Knows `tool_choice: none`.
        caching: Knows `cache_control`.
        thinking: Knows `thinking` and `output_config.effort`.
        strict: Knows `strict` tools and `input_examples`.
        model: The model's own traits; None if no table lists it: then a request holds only what every model
            accepts.
    """

    citations: CitationSetting = "native"
    tool_choice_none: bool = True
    caching: bool = True
    thinking: bool = True
    strict: bool = True
    model: ModelTraits | None = None


class Usage(Value, frozen=True, kw_only=True):
    """Tokens of one or several calls. All input = input + cache read + cache write.

    Attributes:
        thinking_tokens: The output tokens that were thinking, as far as the server reports them.
        cost_usd: What they cost, by the table in engine/models.py; None if a model's price is not known.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    thinking_tokens: int = 0
    cost_usd: float | None = None

    @property
    def all_input_tokens(self) -> int:
        """All tokens that the model read, cached or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def all_tokens(self) -> int:
        """All tokens that the model read and wrote."""
        return self.all_input_tokens + self.output_tokens

    @property
    def cached_share(self) -> float:
        """Share of the input that was read from the cache, 0 to 1."""
        if self.all_input_tokens == 0:
            return 0.0
        return self.cache_read_tokens / self.all_input_tokens

    @property
    def is_empty(self) -> bool:
        """True if no token was used."""
        return self.all_tokens == 0

    def __add__(self, other: Usage) -> Usage:
        # A sum begins with an empty usage, whose unknown cost must not make that of the sum unknown.
        if self.is_empty:
            return other
        if other.is_empty:
            return self
        # A sum of which one part is unknown would look smaller than it is.
        cost_usd: float | None = None
        if self.cost_usd is not None and other.cost_usd is not None:
            cost_usd = self.cost_usd + other.cost_usd
        return Usage(
            cost_usd=cost_usd,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            thinking_tokens=self.thinking_tokens + other.thinking_tokens,
        )


class Rate(Value, frozen=True, kw_only=True):
    """The most that one model's tokens can cost, in US dollars for a million of them.

    Attributes:
        model: The model as the settings name it; `fallback` is the fallback reasoner.
        input: Of input, no matter if it is read from the cache, written to it or neither.
        long_above: Tokens of input above which all of a call costs `long_factor` times as much; None: no such bound.
        round_thinking: Most tokens of a reply in a round of tools that are thinking, on top of those of the answer.
        final_thinking: The same for the final call.
    """

    model: Name
    input: float
    output: float
    long_above: int | None = None
    long_factor: float = 1.0
    round_thinking: int = 0
    final_thinking: int = 0

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """Returns the most that one call costs, in US dollars."""
        dollars = (input_tokens * self.input + output_tokens * self.output) / 1_000_000
        # Some models cost more a token beyond a size of the input, and then for all of the call.
        if self.long_above is not None and input_tokens > self.long_above:
            return dollars * self.long_factor
        return dollars


class ReplyCitation(Value, frozen=True, kw_only=True):
    """A citation as a reply gave it, in the numbering of that reply's own request.

    Attributes:
        start: The offset in the reply's text at which the cited span begins, in characters.
        end: The offset at which it ends (exclusive).
        source: Index among all sources of the request, from 0.
        first_block: First content block of that source.
        end_block: One past the last block.
        cited_text: What the server says it cited.
    """

    start: int
    end: int
    source: int
    first_block: int
    end_block: int
    cited_text: Untrusted


class Citation(Value, frozen=True, kw_only=True):
    """A citation of the answer, resolved to recorded evidence.

    Attributes:
        start: The offset in the answer at which the claim begins, in characters.
        end: The offset at which it ends (exclusive).
        cited_text: An exact substring of the passage's text.
        fact: The fact's id; from there the trace leads to tool call, reasoning call and request.
        place: The place in its file at which the cited text begins, such as "page 3" or "at 12:05"; `link` leads
            there if that is possible.
    """

    start: int
    end: int
    cited_text: Untrusted
    source: Untrusted
    fact: Id
    course: Untrusted | None = None
    lesson: int | None = None
    link: Untrusted | None = None
    place: Untrusted | None = None

    def __post_init__(self) -> None:
        keep_web_link(self, self.link)


class Indicator(Value, frozen=True, kw_only=True):
    """One reason for doubt: its kind, a sentence for the reader, and the `seq` of the event that it rests on."""

    kind: Name
    detail: Untrusted
    event_seq: Seq


class Imported(Value, frozen=True, kw_only=True):
    """The origin of a query that another program ran.

    Attributes:
        form: The format of the file that it was read from, such as `ATIF-v1.7`.
        agent: The program that ran it, as far as the file says.
        missing: What the file lacks, one phrase each.
    """

    form: Name
    agent: Untrusted = ""
    missing: tuple[Untrusted, ...] = ()


class Exchange(Value, frozen=True, kw_only=True):
    """One earlier question of the conversation and its answer."""

    question: Untrusted
    answer: Untrusted
