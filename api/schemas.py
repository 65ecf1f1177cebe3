"""Bodies about courses, documents, health and errors as JSON, with examples."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictStr,
    model_validator,
)

from antiphon.service import (
    MOST_COURSE_FILES,
    MOST_LESSONS,
    MOST_TITLE_CHARS,
    nearest,
)


def _whole(text: str) -> str:
    """Refuses half a surrogate pair, which JSON can express (`"\\ud800"`) but no file or database can hold."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            "holds half of a surrogate pair, which is no character: send valid Unicode"
        ) from error
    return text


Text = Annotated[StrictStr, AfterValidator(_whole)]
"""A text from outside; a number is none."""

SessionId = Annotated[Text, Field(max_length=200)]
"""A conversation's id."""


def _whole_number(value: object) -> object:
    """Returns 2 for 2.0, which is the same number in JSON."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


WholeNumber = Annotated[int, Field(strict=True), BeforeValidator(_whole_number)]
"""A whole number, however JSON writes it; "2" and true are none."""

MOST_SEQ = 2**53 - 1
"""Larger whole numbers are not the same in every program that reads JSON."""


class Schema(BaseModel):
    """The base of every reply."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class RequestBody(BaseModel):
    """The base of every body that a caller sends; it refuses unknown fields, which are mostly mistyped."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _only_known(cls, sent: Any) -> Any:
        if not isinstance(sent, dict):
            return sent
        for name in sent:
            if name not in cls.model_fields:
                raise ValueError(
                    f"holds a field `{_short(name)}` that is not known{nearest(_short(name), list(cls.model_fields))}: "
                    f"there are {', '.join(cls.model_fields)}"
                )
        return sent


def _short(name: object) -> str:
    return str(name)[:40]


class LessonReply(Schema):
    """One lesson."""

    number: int
    title: str
    link: str | None


class CourseReply(Schema):
    """One course and its lessons."""

    title: str
    link: str | None
    instructor: str | None
    lessons: list[LessonReply]
    language: str | None = Field(
        description="The ISO 639-1 code of its language; null if that is not known.",
        examples=["en"],
    )
    losses: list[str] = Field(
        description="What could not be read in its files.",
        examples=[["page 14 could not be read"]],
    )
    has_layout: bool = Field(
        description="It has several files, and you may read its layout."
    )


class LessonFilesReply(Schema):
    """A lesson and its files."""

    number: int
    title: str
    files: list[str] = Field(
        description="Relative to the course's folder.", examples=[["01-logs/README.md"]]
    )


class LeftOutFileReply(Schema):
    """A file of a course's folder that is left out."""

    file: str
    reason: str = Field(examples=["a licence"])
    by_owner: bool = Field(
        description="Its owner left it out; others are left out by a rule."
    )


class LayoutReply(Schema):
    """How a course of several files is laid out."""

    title: str
    lessons: list[LessonFilesReply]
    outside: list[str] = Field(
        description="Files of the course that belong to no lesson."
    )
    left_out: list[LeftOutFileReply]
    corrected: bool = Field(description="A stored correction lays it out.")


_CourseFile = Annotated[Text, Field(min_length=1, max_length=4_096)]


class CorrectedLesson(RequestBody):
    """A lesson as it should be."""

    number: Annotated[
        int,
        Field(strict=True, ge=0, le=1_000_000),
        BeforeValidator(_whole_number),
    ]
    title: Annotated[Text, Field(max_length=MOST_TITLE_CHARS)] = Field(
        default="",
        description="If it is empty, the title comes from the lesson's first file.",
    )
    files: list[_CourseFile] = Field(
        min_length=1,
        max_length=MOST_COURSE_FILES,
        description="In reading order, relative to the course's folder.",
    )


class LayoutCorrection(RequestBody):
    """The layout that a course should have; other files are outside lessons, or a rule leaves them out as before."""

    title: Annotated[Text, Field(min_length=1, max_length=MOST_TITLE_CHARS)]
    lessons: list[CorrectedLesson] = Field(min_length=1, max_length=MOST_LESSONS)
    leave_out: list[_CourseFile] = Field(
        default=[], max_length=MOST_COURSE_FILES, description="Files to leave out."
    )


class CoursesReply(Schema):
    """The courses that you can ask about."""

    total_courses: int = Field(examples=[1])
    course_titles: list[str] = Field(examples=[["Practical Information Retrieval"]])
    courses: list[CourseReply]


class FormatReply(Schema):
    """A format of documents that you can add."""

    name: str = Field(examples=["Markdown"])
    suffixes: list[str] = Field(examples=[[".md", ".markdown"]])
    places: str = Field(
        description="What a citation names in such a document.", examples=["heading"]
    )


class FormatsReply(Schema):
    """The formats that documents may have."""

    formats: list[FormatReply]


class SuggestionReply(Schema):
    """A question that the courses answer, and the lesson that does."""

    question: str = Field(examples=["What is a circuit breaker?"])
    course: str
    lesson: int | None


class SuggestionsReply(Schema):
    """Questions to begin with."""

    suggestions: list[SuggestionReply]


class FileReply(Schema):
    """The outcome for a file that you sent."""

    name: str = Field(examples=["notes/01-logs.md"])
    status: Literal["added", "unchanged", "refused"]
    reason: str = Field(
        description="Why it was refused, or what could not be read in it; otherwise empty."
    )


class JobReply(Schema):
    """A change of the index, and its progress."""

    job_id: str
    state: Literal["waiting", "running", "done", "failed"]
    stage: Literal["files", "documents", "vectors"] | None = Field(
        description="Files are read, documents embedded, or the vector index is built."
    )
    done: float = Field(description="How much of `total` the stage has done.")
    total: int
    file: str = Field(description="The current file.")
    files: list[FileReply] = Field(
        description="The outcome of each file; until the end only those that were refused at once."
    )
    error: str | None = Field(description="Why it failed; null if it did not.")


class SignalsReply(Schema):
    """Why a passage was found: the scores of its best sentence, in standard deviations above the mean."""

    meaning: float = Field(description="By how close its vector is to the query's.")
    words: float = Field(description="By the words that it shares with the query.")
    matched: list[str] = Field(description="These words.")


class PassageReply(Schema):
    """A passage that was found, and its place in the course."""

    id: str
    source: str = Field(examples=["Practical Information Retrieval - Lesson 2"])
    course: str | None
    lesson: int | None
    title: str | None = Field(description="Of the lesson.")
    place: str | None = Field(
        description="The place in its file, such as a page or a time; null if it has none."
    )
    link: str | None
    score: float = Field(description="Comparable within one search only.")
    start: int | None = Field(
        description="Its offset in its lesson's text, in characters; null if that is not known.",
        examples=[1840],
    )
    text: str
    signals: SignalsReply | None = Field(
        description="Only with `why`; null if the search reports none."
    )


class SearchReply(Schema):
    """The passages that a search found, the best first."""

    query: str = Field(examples=["how does BM25 rank"])
    course: str | None = Field(
        description="The title of the course that was searched; null: all of them."
    )
    lesson: int | None = Field(
        description="The number of the lesson that was searched; null: all of them."
    )
    passages: list[PassageReply]


class EventKindReply(Schema):
    """One kind of event, who emits it and who hears it."""

    kind: str = Field(examples=["round_opened"])
    emitted_by: list[str] = Field(examples=[["coordinator"]])
    heard_by: list[str] = Field(
        description="Handlers; empty for events that only the trace and its followers use.",
        examples=[["ContextSynthesizer.on_round_opened"]],
    )
    says: str


class EventKindsReply(Schema):
    """Every kind of event, in the order in which a query meets them."""

    kinds: list[EventKindReply]


class QuerySettingReply(Schema):
    """One setting of a query."""

    name: str = Field(examples=["max_rounds"])
    value: str | float | bool | None = Field(description="The service's own.")
    meaning: str
    choices: list[str] = Field(
        description="The texts that it may be, if they are few; empty for a number or any text."
    )
    fork: Literal["lower", "any", "model", "none"] = Field(
        description="How a fork over the network may change it: `lower` than the service's own, to `any` value, to a "
        "`model` that the service asks itself, or not at all."
    )


class QuerySettingsReply(Schema):
    """The settings of a query in this service."""

    settings: list[QuerySettingReply]


class TextReply(Schema):
    """A stretch of a lesson's text, as it is indexed now."""

    course: str
    lesson: int | None
    title: str = Field(description="Of the lesson; empty outside lessons.")
    file: str = Field(
        description="The name of the file that it was read from.",
        examples=["retrieval.txt"],
    )
    start: int = Field(
        description="The offset of `text` in the lesson's text, in characters."
    )
    length: int = Field(description="Characters of the whole text.")
    sha256: str = Field(description="Of the whole text in UTF-8.")
    text: str


class FormulasRequest(RequestBody):
    """A text, such as that of a passage."""

    text: Annotated[Text, Field(max_length=20_000)] = Field(
        examples=["The score is $x^2$."]
    )


class FormulasReply(Schema):
    """The formulas in it."""

    formulas: dict[str, str] = Field(
        description="MathML without links or actions, by the part of the text that it shows.",
        examples=[{"$x$": "<math><mi>x</mi></math>"}],
    )


class DeletedReply(Schema):
    """How many traces were deleted."""

    deleted: int = Field(examples=[1])


class CancelledReply(Schema):
    """The query will end; its caller gets an answer that says so."""

    query_id: str
    status: str = Field(examples=["cancelling"])


class ImportedReply(Schema):
    """The trace that was stored."""

    query_id: str
    events: int


class ImportedFileReply(ImportedReply):
    """The traces that were stored: one, or several from a file of another program."""

    others: list[str] = Field(default=[], description="The ids of the other traces.")
    refused: list[str] = Field(
        default=[], description="What could not be read, one sentence each."
    )


class RegressionTestReply(Schema):
    """A test that replays a trace: two files to put side by side, each with its name and its text."""

    trace_name: str = Field(examples=["trace_0b8a4a7c.jsonl"])
    trace: str
    test_name: str = Field(examples=["test_trace_0b8a4a7c.py"])
    test: str


class FaultReply(Schema):
    """The fault plan that breaks a query at one of its events."""

    at: int = Field(description="Send it as `at` of a fork, with the plan as `faults`.")
    plan: dict[str, Any]
    kinds: dict[str, list[str]] = Field(
        description="What else could happen there, by point."
    )


class AliveReply(Schema):
    """The process answers."""

    status: str = Field(examples=["ok"])


class ReadinessReply(Schema):
    """The readiness to answer questions; `problems` lists in sentences what is missing."""

    ready: bool
    reasoner: str = Field(examples=["offline"])
    embedder: str | None = Field(examples=["all-MiniLM-L6-v2 (sentence-transformers)"])
    embedder_loaded: bool = Field(
        description="False while the embedder loads in the background; questions wait a moment, and are then refused.",
        examples=[True],
    )
    generation: int | None = Field(
        description="The build of the index that is open.", examples=[1]
    )
    courses: int = Field(examples=[4])
    chunks: int = Field(examples=[212])
    model_key: Literal["none", "unknown", "accepted", "refused"] = Field(
        description="If the model's server accepts the key; `none`: no server is set, the built-in reasoner answers.",
        examples=["none"],
    )
    model_key_at: float | None = Field(
        description="When that was found out, in seconds since the epoch; null: not yet.",
        examples=[None],
    )
    problems: list[str] = Field(examples=[[]])
    warnings: list[str] = Field(
        description="What makes answers worse than the settings promise; the service answers questions nevertheless.",
        examples=[[]],
    )


class ErrorDetail(Schema):
    """A code for machines, a sentence for people, and the query if one had begun."""

    code: str = Field(examples=["bad_input"])
    message: str = Field(examples=["The question is empty: send some text in `query`."])
    query_id: str | None = None


class ErrorReply(Schema):
    """The form of every refusal and failure."""

    error: ErrorDetail
