"""The first event of a query holds everything from outside that its decisions rest on, gathered in one place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import pytest

from antiphon.composition import (
    Intake,
    NoInterceptor,
    Question,
    Resources,
    ServiceResources,
    Settings,
)
from antiphon.dispatcher import Registry, tool_from_function
from antiphon.engine import offline_model
from antiphon.knowledge import Course, CourseMatch, LessonMatch, LibraryState
from antiphon.traces import Redaction
from antiphon.vocabulary.errors import BadInputError, TraceError
from antiphon.vocabulary.events import RULES, QueryReceived
from antiphon.vocabulary.health import LastTry
from antiphon.vocabulary.ports import Subscription
from antiphon.vocabulary.subscribers import Subscriber, Surroundings
from antiphon.vocabulary.values import Exchange, Passage
from tests.fakes import FixedClock, MemoryTraceStore
from tests.guarded import guarded


async def look_up(text: str) -> str:
    """Looks something up."""
    return text


def course(title: str) -> Course:
    return Course(title=title, link=None, instructor=None, lessons=(), chunks=1)


class TwoCourses:
    """Satisfies `CourseIndex`."""

    last_search = LastTry()

    def courses(self) -> tuple[Course, ...]:
        return (course("Search"), course("Storage"))

    def search(
        self, query: str, course: str | None, lesson: int | None, limit: int
    ) -> list[Passage]:
        return []

    def resolve_course(self, name: str) -> CourseMatch:
        return CourseMatch(title=None, nearest=())

    def resolve_lesson(self, name: int | str, course: str | None) -> LessonMatch:
        return LessonMatch(number=None)

    def outline(self, title: str) -> Course | None:
        return None

    def describe(self) -> LibraryState:
        return LibraryState(generation=7, embedder="words", documents=2, chunks=9)

    def refresh(self) -> bool:
        return False

    def close(self) -> None:
        pass


class ForgetfulStore(MemoryTraceStore):
    """Cannot read conversations."""

    async def exchanges(
        self, session_id: str, limit: int, follows: str | None = None
    ) -> Sequence[Exchange]:
        raise TraceError("the disk is gone")


class LongTalk(MemoryTraceStore):
    """Knows a conversation of seven exchanges."""

    async def exchanges(
        self, session_id: str, limit: int, follows: str | None = None
    ) -> Sequence[Exchange]:
        return tuple(Exchange(question=f"{n}?", answer="Yes.") for n in range(7))[
            -limit:
        ]


class Opening(MemoryTraceStore):
    """Notes the conversations that are opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    async def open_conversation(self, session_id: str) -> None:
        self.opened.append(session_id)


class ProviderOpen(NoInterceptor):
    """Tells the query that the provider's circuit is open."""

    provider_open = True


def acts_on_nothing(_: Surroundings) -> Sequence[Subscription]:
    return ()


REVIEWER = Subscriber(name="verifier", act=acts_on_nothing, reviews=True)
OBSERVER = Subscriber(name="observer", act=acts_on_nothing)


def resources() -> ServiceResources:
    registry = Registry([tool_from_function(look_up)])
    shared = Resources(
        clock=FixedClock(),
        models={"primary": offline_model(), "fallback": offline_model()},
        tools=registry,
        tool_definitions=registry.definitions(),
        redaction=guarded(),
        subscribers=(REVIEWER, OBSERVER),
    )
    return ServiceResources(
        shared=shared,
        store=MemoryTraceStore(),  # type: ignore[arg-type]  # the intake does not ask it for anything
        library=TwoCourses(),
        models=(),
        reasoner="offline",
        versions=(("system_prompt", "3"),),
    )


async def receive(
    question: Question,
    store: MemoryTraceStore | None = None,
    interceptor: NoInterceptor | None = None,
    redaction: Redaction | None = None,
    wait: Callable[[float], Awaitable[float]] | None = None,
    *,
    opens: bool = True,
) -> QueryReceived:
    service = resources()
    service = replace(
        service, shared=replace(service.shared, redaction=redaction or guarded())
    )
    intake = Intake(Settings.model_construct(), service, wait, opens=opens)
    return await intake.receive(
        question, store or MemoryTraceStore(), interceptor or NoInterceptor()
    )


async def test_the_first_event_holds_what_the_run_depends_on() -> None:
    first = await receive(Question(query=" What is BM25? ", max_rounds=1))

    assert first.query == "What is BM25?"
    assert first.settings.max_rounds == 1
    assert first.courses.text == "Search\nStorage"
    assert first.catalogue.text.split("\n")[1:] == ["- Search", "- Storage"]
    assert first.rules == RULES
    assert first.tools == ("look_up",)
    assert first.versions == (
        ("system_prompt", "3"),
        ("index", "7"),
        ("subscribers", "verifier, observer"),
    )
    assert first.reviewers == ("verifier",)
    assert {rate.model for rate in first.rates} >= {"fallback"}
    assert first.fixed_tokens > 0
    assert (first.provider_open, first.history_missing) == (False, False)


async def test_a_conversation_that_cannot_be_read_keeps_nobody_from_an_answer() -> None:
    first = await receive(
        Question(query="And then?", session_id="s1"), ForgetfulStore()
    )

    assert (first.session_id, first.history, first.history_missing) == ("s1", (), True)


@pytest.mark.parametrize("opens", [True, False])
async def test_the_last_five_exchanges_of_a_conversation_are_remembered(
    opens: bool,
) -> None:
    question = Question(query="And then?", session_id="s1")
    first = await receive(question, LongTalk(), opens=opens)

    questions = [exchange.question for exchange in first.history]
    assert questions == ["2?", "3?", "4?", "5?", "6?"]


@pytest.mark.parametrize("opens", [True, False])
async def test_a_new_conversation_is_opened_once_and_not_where_the_store_does_it(
    opens: bool,
) -> None:
    store = Opening()
    first = await receive(Question(query="What is BM25?"), store, opens=opens)

    assert store.opened == ([first.session_id] if opens else [])


async def test_an_interceptor_tells_the_query_that_the_provider_is_open() -> None:
    assert (
        await receive(Question(query="Why?"), interceptor=ProviderOpen())
    ).provider_open


async def test_what_must_not_be_stored_is_redacted_before_it_is_an_event() -> None:
    first = await receive(
        Question(query="Is pw:secret safe?"),
        redaction=Redaction({"a pattern": r"pw:\w+"}),
    )

    assert "secret" not in first.query


async def test_a_question_that_cannot_be_used_is_refused() -> None:
    with pytest.raises(BadInputError, match="The question is empty"):
        await receive(Question(query=" "))


async def test_what_a_question_waits_for_the_embedder_is_taken_off_its_deadline() -> (
    None
):
    patience: list[float] = []

    async def wait(most_s: float) -> float:
        patience.append(most_s)
        return 1.5

    first = await receive(Question(query="Why?", deadline_s=20.0), wait=wait)

    assert patience == [2.0]
    assert first.settings.deadline_s == 18.5


async def test_a_question_that_is_refused_waits_for_nothing() -> None:
    async def wait(most_s: float) -> float:
        raise AssertionError

    with pytest.raises(BadInputError):
        await receive(Question(query=" "), wait=wait)
