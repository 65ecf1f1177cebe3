"""The whole service in front of the Messages API as it is documented: nothing is refused, and the bill is the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from antiphon.engine import (
    DocumentedApi,
    Double,
    InProcessTransport,
    Profile,
    Script,
    ScriptedReply,
    connect,
)
from antiphon.engine.documented import DocumentedRequest, play_two_rounds
from antiphon.engine.models import CARDS
from antiphon.service import Outcome, Question
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.events import ReasoningRetried, ReasoningStarted
from antiphon.vocabulary.ports import Json
from tests.documented_service import (
    QUESTION,
    DocumentedService,
    documented_service,
)

SONNET, OPUS, HAIKU = "claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"
OLD = "claude-sonnet-4-5"
MODELS = (SONNET, OPUS, HAIKU, OLD)
SETTINGS: list[Json] = [
    {},
    {"thinking": "off"},
    {"thinking": "adaptive"},
    {"thinking": "2048"},
    {"effort": "low"},
    {"effort": "high"},
    {"effort": "max"},
    {"effort": "max", "thinking": "off"},
    {"context": "transcript"},
    {"context": "transcript", "thinking": "adaptive"},
    {"final_model": HAIKU},
    {"final_model": OPUS, "context": "transcript"},
    {"other_model": OPUS},
    {"compression": "model", "briefing_tokens": 300},
]
TOO_MUCH = 100_000
"""More tokens than any call has."""


def check_answer(asked: DocumentedService, outcome: Outcome, model: str) -> None:
    """Checks that `model` answered in two rounds, that nothing was refused, and that both sides count the same."""
    response = outcome.response
    assert [refusal.message for refusal in asked.api.refused] == []
    assert response.reasoner == model
    assert response.confidence in ("high", "medium")
    assert (response.rounds, response.calls) == (2, 3)
    assert response.usage.cost_usd == pytest.approx(asked.dollars)


def causes(outcome: Outcome) -> str:
    """The causes of doubt that the answer names."""
    return " ".join([indicator.detail for indicator in outcome.response.indicators])


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("model", MODELS)
async def test_the_model_of_a_question_answers_it_under_any_settings(
    model: str, settings: Json, tmp_path: Path
) -> None:
    async with documented_service(tmp_path, model=model, **settings) as asked:
        outcome = await asked.ask()

        check_answer(asked, outcome, settings.get("final_model", model))


@pytest.mark.parametrize("model", [name for name in CARDS if name not in MODELS])
async def test_every_model_of_the_table_answers(model: str, tmp_path: Path) -> None:
    async with documented_service(tmp_path, model=model) as asked:
        check_answer(asked, await asked.ask(), model)


@pytest.mark.parametrize("model", MODELS)
async def test_a_query_that_is_followed_live_is_streamed_and_counted_the_same(
    model: str, tmp_path: Path
) -> None:
    async with documented_service(tmp_path, model=model) as asked:
        handle = await asked.service.start(Question(query=QUESTION))
        async for _ in handle.follow():
            pass

        check_answer(asked, await handle.outcome(), model)
        # Two rounds and the final call: a follower sees each as it is written.
        assert [request["stream"] for request in asked.double.requests] == [True] * 3


def think_aloud(body: Json) -> Sequence[Json]:
    """Plays the two rounds, with more words before each call than the models say outside of their thinking."""
    said = list(play_two_rounds(body))
    if said[-1]["type"] == "tool_use":
        said[0] = {"type": "text", "text": "I look. I weigh it. I look once more."}
    return said


@pytest.mark.parametrize(
    ("model", "thinking"),
    [(SONNET, "default"), (OPUS, "default"), *[(name, "adaptive") for name in MODELS]],
)
async def test_a_transcript_sends_the_thinking_before_tool_calls_back(
    model: str, thinking: str, tmp_path: Path
) -> None:
    settings: Json = {"model": model, "context": "transcript", "thinking": thinking}
    api = DocumentedApi(think_aloud)
    async with documented_service(tmp_path, api, **settings) as asked:
        check_answer(asked, await asked.ask(), model)

        sent_back = asked.double.requests[-1]["messages"]
        assert "thinking" in {block["type"] for block in sent_back[1]["content"]}


GONE = Script(
    replies=(
        ScriptedReply(
            content=[
                {
                    "type": "tool_use",
                    "id": "toolu_0",
                    "name": "search_course_content",
                    "input": {"query": "states of a circuit breaker"},
                }
            ]
        ),
        ScriptedReply(status=404, error="not_found_error", message=f"model: {OPUS}"),
    ),
    then="offline",
)
"""A model that is gone after its first call."""


@pytest.mark.parametrize("context", ["briefing", "transcript"])
@pytest.mark.parametrize("other", [SONNET, HAIKU])
async def test_another_model_goes_on_if_the_first_is_gone(
    other: str, context: str, tmp_path: Path
) -> None:
    api = DocumentedApi(script=GONE)
    settings: Json = {"model": OPUS, "other_model": other, "context": context}
    async with documented_service(tmp_path, api, **settings) as asked:
        check_answer(asked, await asked.ask(), other)


class Thinker:
    """Thinks more than there is room for, so many times."""

    def __init__(self, times: int) -> None:
        self._left = times

    def __call__(self, asked: DocumentedRequest) -> int:
        if asked.tool_choice.get("type") != "none" or self._left == 0:
            return 100
        self._left -= 1
        return TOO_MUCH


@pytest.mark.parametrize("model", [SONNET, OPUS, HAIKU])
async def test_the_service_asks_a_model_once_more_after_it_thinks_too_much(
    model: str, tmp_path: Path
) -> None:
    api = DocumentedApi(thinks=Thinker(1))
    async with documented_service(tmp_path, api, model=model) as asked:
        outcome = await asked.ask()

        check_answer(asked, outcome, model)
        retried = [
            recorded.event
            for recorded in await asked.trace(outcome)
            if isinstance(recorded.event, ReasoningRetried)
        ]
        assert [event.why for event in retried] == ["out_of_tokens"]


@pytest.mark.parametrize("model", [SONNET, OPUS, HAIKU])
async def test_a_model_that_always_thinks_too_much_leaves_an_answer_that_says_so(
    model: str, tmp_path: Path
) -> None:
    api = DocumentedApi(thinks=Thinker(1_000))
    async with documented_service(tmp_path, api, model=model) as asked:
        outcome = await asked.ask()

        assert "three states" in outcome.response.answer
        assert "used up its tokens in thinking" in causes(outcome)
        assert outcome.response.usage.cost_usd == pytest.approx(asked.dollars)  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
async def test_a_second_question_within_five_minutes_reads_what_the_first_wrote(
    model: str, tmp_path: Path
) -> None:
    now = [0.0]
    api = DocumentedApi(now=lambda: now[0])
    async with documented_service(tmp_path, api, model=model) as asked:
        first = (await asked.ask()).response.usage
        now[0] = 290.0
        second = (await asked.ask("How do retries with backoff work?")).response.usage
        now[0] = 600.0
        late = (await asked.ask("Why is jitter needed?")).response.usage

    assert first.cache_write_tokens > 0
    assert second.cache_write_tokens == 0
    assert second.cache_read_tokens > first.cache_read_tokens
    assert late.cache_write_tokens == first.cache_write_tokens


@pytest.mark.parametrize("model", MODELS)
async def test_finding_out_how_a_server_cites_is_not_refused(
    model: str, tmp_path: Path
) -> None:
    profile = Profile(citations="auto")
    async with documented_service(tmp_path, profile=profile, model=model) as asked:
        outcome = await asked.ask()

        assert not asked.api.refused
        assert outcome.response.citations
        styles = {
            recorded.event.citations
            for recorded in await asked.trace(outcome)
            if isinstance(recorded.event, ReasoningStarted)
        }
        assert styles == {"native"}


async def test_a_key_is_checked_as_the_api_does() -> None:
    transport = InProcessTransport(Double(DocumentedApi(key="the right key")))
    right = connect("the right key", "http://double.test", transport=transport)
    wrong = connect("another one", "http://double.test", transport=transport)

    assert await right.check_key(5.0)
    with pytest.raises(ModelError) as refused:
        await wrong.check_key(5.0)

    assert refused.value.kind == "authentication"
