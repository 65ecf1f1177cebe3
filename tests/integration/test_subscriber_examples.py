"""The examples of docs/subscribers.md: recorded, replayed, forked and broken on purpose like our own parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from antiphon.dispatcher import quotable
from antiphon.faults import Fault, Plan, World, all_points, broken_promises, run_plan
from antiphon.service import Change, Question, load_subscribers
from antiphon.vocabulary.events import (
    DeadlinePassed,
    DraftReviewed,
    Event,
    ReasoningCompleted,
    Recorded,
    ReviewRequested,
    RoundOpened,
    SessionStalled,
)
from antiphon.vocabulary.ports import Subscription, ToolOutput, on
from antiphon.vocabulary.subscribers import Subscriber, Surroundings
from docs.examples import otel_observer, verifier
from tests.small_service import House, house

E = TypeVar("E", bound=Event)

SUPPORTED = "Ranking weighs rare terms more than common terms."
UNSUPPORTED = "The harbour crane lifts forty tons of steel each morning."
LOOKED_UP = {"text": "", "calls": [{"name": "look", "input": {"what": "ranking"}}]}
MENDED = {"replies": [LOOKED_UP, {"text": UNSUPPORTED}, {"text": SUPPORTED}]}
STUBBORN = {"replies": [LOOKED_UP, {"text": UNSUPPORTED}, {"text": UNSUPPORTED}]}
QUESTION = Question(query="How does ranking weigh terms?")


async def look(what: str) -> ToolOutput:
    """Finds a passage.

    Args:
        what: What to look for.
    """
    passage = quotable("Course - Lesson 1", f"{SUPPORTED} It says no more.")
    return ToolOutput(text="found", passages=(passage,))


def of(kind: type[E], trace: Sequence[Recorded[Event]]) -> list[E]:
    """The events of one kind."""
    return [recorded.event for recorded in trace if isinstance(recorded.event, kind)]


async def test_an_unsupported_draft_gets_one_more_call_that_learns_what_was_wrong(
    tmp_path: Path,
) -> None:
    async with house(
        tmp_path, MENDED, look, subscribers=(verifier.subscriber(),)
    ) as at:
        outcome = await at.service.ask(QUESTION)
        trace = await at.trace(outcome)

    first, second = of(verifier.DraftChecked, trace)
    assert (first.sentences, first.unsupported) == (1, (UNSUPPORTED,))
    assert second.unsupported == ()
    assert [review.accepted for review in of(DraftReviewed, trace)] == [False, True]
    assert UNSUPPORTED in of(RoundOpened, trace)[-1].note
    assert UNSUPPORTED in str(at.double.requests[-1]["messages"])
    assert outcome.response.answer == SUPPORTED
    assert "not_verified" not in {doubt.kind for doubt in outcome.response.indicators}


async def test_a_draft_that_stays_unsupported_is_the_answer_with_a_doubt_within_the_limit_on_rounds(
    tmp_path: Path,
) -> None:
    async with house(
        tmp_path, STUBBORN, look, subscribers=(verifier.subscriber(),)
    ) as at:
        outcome = await at.service.ask(QUESTION)
        trace = await at.trace(outcome)

    assert outcome.response.answer == UNSUPPORTED
    assert (
        len(of(ReasoningCompleted, trace))
        # A call in each round, and the final one.
        == at.service.settings.query_settings().max_rounds + 1
    )
    (doubt,) = (
        doubt for doubt in outcome.response.indicators if doubt.kind == "not_verified"
    )
    assert UNSUPPORTED in doubt.detail
    assert trace[doubt.event_seq - 1].event == of(DraftReviewed, trace)[-1]
    assert outcome.response.confidence != "high"


async def test_a_query_with_a_verifier_replays_identically_from_the_store(
    tmp_path: Path,
) -> None:
    async with house(
        tmp_path, MENDED, look, subscribers=(verifier.subscriber(),)
    ) as at:
        outcome = await at.service.ask(QUESTION)
        replayed = await at.service.history.replay(outcome.query_id)
        trace = await at.trace(outcome)

    decided = (verifier.DraftChecked, DraftReviewed, ReviewRequested)
    assert replayed.divergence is None
    assert replayed.closed
    assert replayed.compared >= sum(
        isinstance(recorded.event, decided) for recorded in trace
    )


async def test_a_changed_verifier_is_named_where_it_first_decides_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house(
        tmp_path, MENDED, look, subscribers=(verifier.subscriber(),)
    ) as at:
        outcome = await at.service.ask(QUESTION)
        monkeypatch.setattr(verifier, "is_supported", lambda _, __: True)
        replayed = await at.service.history.replay(outcome.query_id)

    assert replayed.divergence is not None
    assert replayed.divergence.kind == "draft_checked"


async def test_a_fork_with_another_reply_is_judged_again(tmp_path: Path) -> None:
    async with house(
        tmp_path, MENDED, look, subscribers=(verifier.subscriber(),)
    ) as at:
        outcome = await at.service.ask(QUESTION)
        trace = await at.trace(outcome)
        draft = next(
            each
            for each in trace
            if isinstance(each.event, ReasoningCompleted) and each.event.text.text
        )
        reply = Change(kind="reply", value=SUPPORTED)
        forked = await (
            await at.service.history.fork(
                outcome.query_id, draft.seq, [reply], "recorded"
            )
        ).outcome()
        forked_trace = await at.service.store.read(forked.query_id)

    assert [review.accepted for review in of(DraftReviewed, forked_trace)] == [True]
    assert forked.response.answer == SUPPORTED


async def test_a_query_without_the_verifier_has_no_review(tmp_path: Path) -> None:
    async with house(
        tmp_path, {"replies": [LOOKED_UP, {"text": UNSUPPORTED}]}, look
    ) as at:
        outcome = await at.service.ask(QUESTION)
        trace = await at.trace(outcome)

    assert outcome.response.answer == UNSUPPORTED
    assert of(ReviewRequested, trace) == []


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path, subscribers=(verifier.subscriber(),))
    yield world
    world.close()


def test_the_harness_breaks_the_verifier_like_our_own_parts(world: World) -> None:
    points = all_points(world)

    assert {
        "publish.draft_checked", "publish.draft_reviewed", "publish.review_requested",
        "deliver.review_requested.Verifier", "deliver.draft_reviewed.QueryCoordinator",
    } <= set(points)  # fmt: skip


BROKEN = [
    (),
    (Fault(point="deliver.review_requested.Verifier", kind="raise"),),
    (Fault(point="deliver.review_requested.Verifier", kind="drop"),),
    (Fault(point="publish.review_requested", kind="drop"),),
    (Fault(point="publish.draft_reviewed", kind="drop"),),
    (Fault(point="publish.draft_reviewed", kind="duplicate"),),
    (Fault(point="publish.draft_checked", kind="drop"),),
    (Fault(point="deliver.draft_reviewed.QueryCoordinator", kind="raise"),),
    (Fault(point="deliver.draft_reviewed.ResponseAssembler", kind="raise"),),
    (Fault(point="deliver.context_synthesized.Verifier", kind="raise"),),
    (Fault(point="model.request", kind="raise", when="final"),),
    (Fault(point="store.append", kind="locked"),),
]


@pytest.mark.parametrize(
    "faults",
    BROKEN,
    ids=lambda faults: " ".join(f"{each.point}:{each.kind}" for each in faults),
)
def test_the_promises_hold_with_a_verifier_that_is_broken(
    world: World, faults: tuple[Fault, ...]
) -> None:
    run = run_plan(world, Plan(scenario="plain", faults=faults))

    assert run.outcome is not None
    assert of(ReviewRequested, run.trace) or faults
    assert broken_promises(run) == []


def never_judge(surroundings: Surroundings) -> Sequence[Subscription]:
    """A reviewer that works until it is stopped."""

    def on_review_requested(_: Recorded[ReviewRequested]) -> None:
        surroundings.ports.spawn(surroundings.clock.sleep(1_000_000.0))

    return [on(ReviewRequested, on_review_requested)]


def test_a_reviewer_that_never_answers_is_waited_for_until_the_deadline_and_no_longer(
    tmp_path: Path,
) -> None:
    world = World(
        tmp_path, subscribers=(Subscriber(name="slow", act=never_judge, reviews=True),)
    )

    run = run_plan(world, Plan(scenario="plain"))
    world.close()

    assert run.outcome is not None
    assert {"not_verified", "deadline"} <= {
        doubt.kind for doubt in run.outcome.response.indicators
    }
    assert of(SessionStalled, run.trace) == []
    assert broken_promises(run) == []


async def test_a_recorded_fork_waits_for_a_reviewer_until_the_recorded_deadline_and_no_longer(
    tmp_path: Path,
) -> None:
    slow = Subscriber(name="slow", act=never_judge, reviews=True)
    question = Question(query=QUESTION.query, deadline_s=2.0)
    async with house(tmp_path, MENDED, look, subscribers=(slow,)) as at:
        outcome = await at.service.ask(question)
        fork = await at.service.history.fork(outcome.query_id, 2, [], "recorded")
        forked = await fork.outcome()
        trace = await at.service.store.read(fork.query_id)

    assert of(DeadlinePassed, trace)
    assert forked.response.answer == outcome.response.answer
    assert forked.response.indicators[-1].kind == outcome.response.indicators[-1].kind


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


async def observed(
    folder: Path, spans: InMemorySpanExporter, script: object = MENDED
) -> House:
    """A query that an observer turned into spans."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    observer = otel_observer.subscriber(provider.get_tracer("test"))
    async with house(folder, script, look, subscribers=(observer,)) as at:
        await at.service.ask(QUESTION)
    return at


def named(spans: InMemorySpanExporter, beginning: str) -> list[ReadableSpan]:
    return [
        span for span in spans.get_finished_spans() if span.name.startswith(beginning)
    ]


async def test_a_query_becomes_spans_of_its_rounds_calls_and_tools(
    tmp_path: Path, spans: InMemorySpanExporter
) -> None:
    await observed(tmp_path, spans)

    (query,) = named(spans, "invoke_agent")
    rounds, chats, tools = (
        named(spans, "round"),
        named(spans, "chat"),
        named(spans, "execute_tool"),
    )
    assert (len(rounds), len(chats), len(tools)) == (2, 2, 1)
    assert {span.parent and span.parent.span_id for span in rounds} == {
        query.context.span_id
    }
    assert [span.parent and span.parent.span_id for span in chats] == [
        span.context.span_id for span in rounds
    ]
    assert tools[0].parent == rounds[0].context
    assert {span.context.trace_id for span in spans.get_finished_spans()} == {
        query.context.trace_id
    }


async def test_the_spans_carry_the_attributes_of_generative_ai_and_no_text(
    tmp_path: Path, spans: InMemorySpanExporter
) -> None:
    at = await observed(tmp_path, spans)

    (query,) = named(spans, "invoke_agent")
    chat, tool = named(spans, "chat")[0], named(spans, "execute_tool")[0]
    assert query.attributes is not None
    assert query.attributes["antiphon.status"] == "answered"
    assert chat.attributes is not None
    assert chat.attributes["gen_ai.operation.name"] == "chat"
    assert (
        chat.attributes["gen_ai.request.model"]
        == at.service.settings.query_settings().model
    )
    assert tool.attributes is not None
    assert tool.attributes["gen_ai.tool.name"] == "look"
    written = str([dict(span.attributes or {}) for span in spans.get_finished_spans()])
    assert not any(text in written for text in (SUPPORTED, UNSUPPORTED, QUESTION.query))


async def test_a_failed_call_ends_its_span_as_an_error(
    tmp_path: Path, spans: InMemorySpanExporter
) -> None:
    await observed(
        tmp_path,
        spans,
        {"replies": [{"status": 400, "error": "invalid_request_error"}]},
    )

    failed = [
        span
        for span in named(spans, "chat")
        if span.status.status_code is StatusCode.ERROR
    ]
    assert failed
    assert failed[0].attributes is not None
    assert failed[0].attributes["error.type"] == "invalid_request"


async def test_an_observer_leaves_the_trace_as_it_would_be(
    tmp_path: Path, spans: InMemorySpanExporter
) -> None:
    kinds: list[list[str]] = []
    provider = TracerProvider()
    observer = otel_observer.subscriber(provider.get_tracer("test"))
    for number, subscribers in enumerate([(), (observer,)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        async with house(folder, MENDED, look, subscribers=subscribers) as at:
            outcome = await at.service.ask(QUESTION)
            kinds.append(
                [recorded.event.kind_name() for recorded in await at.trace(outcome)]
            )

    assert kinds[0] == kinds[1]


def test_both_examples_are_loaded_by_their_names() -> None:
    loaded = load_subscribers(
        "docs.examples.verifier:subscriber, docs.examples.otel_observer:subscriber"
    )

    assert [subscriber.name for subscriber in loaded] == ["verifier", "otel_observer"]


def test_the_code_on_the_page_is_that_of_the_examples() -> None:
    folder = Path(verifier.__file__).parent
    examples = "\n".join(
        path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))
    )
    page = (folder.parent / "subscribers.md").read_text(encoding="utf-8")

    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)

    assert len(blocks) == 5
    assert [block for block in blocks if block not in examples] == []
