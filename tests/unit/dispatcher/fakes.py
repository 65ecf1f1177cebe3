"""A session, a clock and a course library for the dispatcher's tests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from antiphon.dispatcher import (
    Registry,
    Tool,
    ToolCircuits,
    ToolDispatcher,
    ToolPerformer,
)
from antiphon.knowledge import Course, Lesson, LessonMatch
from antiphon.knowledge.lessons import resolve_lesson
from antiphon.vocabulary.errors import KnowledgeError
from antiphon.vocabulary.events import (
    Event,
    Recorded,
    ToolCallsConfirmed,
    ToolFailed,
    ToolRequested,
    ToolsSettled,
    ToolSucceeded,
)
from antiphon.vocabulary.performing import Run
from antiphon.vocabulary.values import LessonPart, Passage, StoredText, ToolCall
from tests.fakes import FixedClock, command

E = TypeVar("E", bound=Event)


class Session:
    """Dispatcher and performer with a list as their bus, and the tasks that were spawned."""

    def __init__(self, *tools: Tool, circuits: ToolCircuits | None = None) -> None:
        self.published: list[Event] = []
        self.clock = FixedClock(1_000.0)
        self._tasks: list[asyncio.Task[None]] = []
        self._timers: list[asyncio.Task[None]] = []
        self.past: list[Recorded[Event]] = []
        self._runs: dict[str, Run] = {}
        self.dispatcher = ToolDispatcher(self._publish)
        self.performer = ToolPerformer(
            self._publish, self._spawn, self.clock, Registry(tools), circuits
        )

    def _publish(self, event: Event, /) -> None:
        self.published.append(event)
        self.recall(event)

    def recall(self, event: Event) -> None:
        """Takes in what happened."""
        self.past.append(recorded(event))
        if type(event) in self.dispatcher.rules:
            self.dispatcher.hear(recorded(event))

    def perform(self, asked: Recorded[ToolRequested], *, again: bool = False) -> None:
        run = self.performer.perform(command(asked, *self.past, again=again))
        if run is not None:
            self._runs[asked.event.call.id] = run

    def _spawn(
        self, work: Coroutine[Any, Any, None], /, *, background: bool = False
    ) -> Callable[[], object]:
        task = asyncio.get_running_loop().create_task(work)
        (self._timers if background else self._tasks).append(task)
        return task.cancel

    def request(
        self,
        call_id: str,
        name: str,
        arguments: str = "{}",
        timeout_s: float = 10.0,
        round_number: int = 1,
    ) -> None:
        call = ToolCall(id=call_id, name=name, arguments=arguments)
        asked = ToolRequested(round=round_number, call=call, timeout_s=timeout_s)
        self.perform(recorded(asked))

    def confirm(self, *call_ids: str, round_number: int = 1) -> None:
        self.recall(ToolCallsConfirmed(round=round_number, tool_call_ids=call_ids))

    def abandon(self, *call_ids: str, why: str = "the deadline is near") -> None:
        for call_id in call_ids:
            if call_id in self._runs:
                self._runs[call_id].abandon(why)

    async def done(self) -> None:
        """Waits for every tool; raises what a tool's task let through, save cancellation."""
        for result in await asyncio.gather(*self._tasks, return_exceptions=True):
            if isinstance(result, BaseException) and not isinstance(
                result, asyncio.CancelledError
            ):
                raise result
        await turn()

    async def close(self) -> None:
        """Ends the session as the bus does: everything it owns is cancelled."""
        for task in [*self._tasks, *self._timers]:
            task.cancel()
        await asyncio.gather(*self._tasks, *self._timers, return_exceptions=True)

    def running(self) -> int:
        return sum(not task.done() for task in [*self._tasks, *self._timers])

    def heard(self, kind: type[E]) -> list[E]:
        return [event for event in self.published if isinstance(event, kind)]

    async def call(
        self, name: str, arguments: str = "{}"
    ) -> ToolSucceeded | ToolFailed:
        """Runs one call to its end and gives its outcome."""
        self.request("t1", name, arguments)
        await self.done()
        (outcome,) = [
            event
            for event in self.published
            if isinstance(event, ToolSucceeded | ToolFailed)
        ]
        return outcome

    def settled(self) -> list[ToolsSettled]:
        return self.heard(ToolsSettled)


def recorded(event: E) -> Recorded[E]:
    """`event` as it comes from a trace."""
    return Recorded(query_id="q", seq=1, cause=0, at=0.0, event=event)


async def turn() -> None:
    """Lets every task that can go on do so, as far as the next thing it waits for."""
    for _ in range(10):
        await asyncio.sleep(0)


@dataclass(frozen=True)
class FakeLesson:
    number: int
    title: str
    link: str | None = None


@dataclass(frozen=True)
class FakeCourse:
    title: str
    link: str | None = None
    instructor: str | None = None
    lessons: tuple[FakeLesson, ...] = ()
    language: str | None = None


@dataclass(frozen=True)
class FakeMatch:
    title: str | None
    nearest: tuple[str, ...] = ()


@dataclass
class FakeLibrary:
    """Courses found by a part of their title; every search finds `passages`, or raises KnowledgeError if `broken`."""

    outlines: tuple[FakeCourse, ...] = ()
    passages: tuple[Passage, ...] = ()
    broken: bool = False
    asked: list[tuple[str, str, str | None, int | None]] = field(default_factory=list)
    threads: set[int] = field(default_factory=set)

    def search(
        self,
        query: str,
        course: str | None,
        lesson: int | None,
        limit: int = 5,
        known: Sequence[Passage] = (),
    ) -> list[Passage]:
        if self.broken:
            raise KnowledgeError("The index cannot be read.")
        return self._found("search", query, course, lesson, known)

    def keyword_search(
        self,
        query: str,
        course: str | None,
        lesson: int | None,
        limit: int = 5,
        known: Sequence[Passage] = (),
    ) -> list[Passage]:
        return self._found("keyword_search", query, course, lesson, known)

    def lesson_part(self, course: str, lesson: int, part: LessonPart) -> list[Passage]:
        return self._found(f"lesson_part {part}", "", course, lesson, ())

    def resolve_course(self, name: str) -> FakeMatch:
        self.threads.add(threading.get_ident())
        titles = tuple(course.title for course in self.outlines)
        return FakeMatch(
            next((title for title in titles if name.lower() in title.lower()), None),
            titles,
        )

    def resolve_lesson(self, name: int | str, course: str | None) -> LessonMatch:
        courses = []
        for each in self.outlines:
            if course in (None, each.title):
                lessons = [
                    Lesson(number=one.number, title=one.title) for one in each.lessons
                ]
                courses.append(
                    Course(
                        title=each.title,
                        link=None,
                        instructor=None,
                        lessons=tuple(lessons),
                        chunks=0,
                    )
                )
        return resolve_lesson(name, courses, lambda texts: [[0.0] for _ in texts])

    def outline(self, title: str) -> FakeCourse | None:
        return next((course for course in self.outlines if course.title == title), None)

    def courses(self) -> tuple[FakeCourse, ...]:
        return self.outlines

    def _found(
        self,
        how: str,
        query: str,
        course: str | None,
        lesson: int | None,
        known: Sequence[Passage],
    ) -> list[Passage]:
        self.threads.add(threading.get_ident())
        self.asked.append((how, query, course, lesson))
        return [passage for passage in self.passages if passage not in known]


def passage(text: str, source: str = "Course A - Lesson 1") -> Passage:
    return Passage(
        id=f"id-{text[:20]}", source=source, text=StoredText(text), starts=(0,)
    )
