"""The table of models: names, traits, prices; and how calls are told to think."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from antiphon.engine.models import (
    CARDS,
    ModelTable,
    plain_name,
    read_prices,
    traits_of,
)
from antiphon.engine.thinking import thinking_of
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.values import Usage

TABLE = ModelTable()


@pytest.mark.parametrize(
    ("gateway", "plain"),
    [
        ("claude-sonnet-5-5", "claude-sonnet-5-5"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("anthropic/claude-sonnet-5.5", "claude-sonnet-5-5"),
        ("openrouter/anthropic/claude-opus-5.5:beta", "claude-opus-5-5"),
        ("anthropic.claude-sonnet-5-5", "claude-sonnet-5-5"),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
        ("bedrock/global.anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("vertex_ai/claude-sonnet-5-5@default", "claude-sonnet-5-5"),
        ("claude-opus-5", "claude-opus-5"),
    ],
)
def test_a_model_is_known_by_the_names_that_gateways_give_it(
    gateway: str, plain: str
) -> None:
    assert plain_name(gateway) == plain
    assert TABLE.price(gateway) == CARDS[plain].price
    assert traits_of(gateway) == CARDS[plain].traits


@pytest.mark.parametrize(
    "name", ["my-claude-opus-4-5-distilled", "claude", "claude-sonnet-9-9", "llama3:8b"]
)
def test_a_name_that_only_resembles_one_is_not_known(name: str) -> None:
    assert traits_of(name) is None
    assert TABLE.price(name) is None
    assert TABLE.rate(name) is None


def test_a_price_of_ones_own_goes_before_the_table() -> None:
    own = ModelTable(
        read_prices("llama3:8b=0.1/0.4, anthropic/claude-sonnet-5.5=3/9/4/0.5")
    )
    used = Usage(input_tokens=1_000_000, output_tokens=500_000)

    assert own.priced(used, "llama3:8b").cost_usd == pytest.approx(0.3)
    assert own.priced(used, "anthropic/claude-sonnet-5.5").cost_usd == 7.5
    assert own.priced(used, "claude-sonnet-5-5").cost_usd == 7.0
    rate = own.rate("anthropic/claude-sonnet-5.5")
    assert rate is not None
    assert (rate.input, rate.final_thinking) == (4.0, 4_000)


@pytest.mark.parametrize(
    "setting", ["llama", "llama=1", "=1/2", "llama=1/2/3", "llama=a/b", "llama=-1/2"]
)
def test_a_price_that_cannot_be_read_is_refused_in_a_sentence(setting: str) -> None:
    with pytest.raises(BadInputError, match=r"NAME=INPUT/OUTPUT"):
        read_prices(setting)


def test_a_long_input_costs_more_for_all_of_the_call() -> None:
    used = Usage(input_tokens=60_000, cache_read_tokens=40_001, output_tokens=1_000)

    cost_usd = TABLE.priced(used, "claude-haiku-5-5").cost_usd

    assert cost_usd == pytest.approx(
        5 * (60_000 * 0.1 + 40_001 * 0.01 + 1_000 * 0.5) / 1e6
    )


def said(model: str, **wanted: Any) -> tuple[Any, int]:
    """What a request says of thinking, and the room that it has."""
    thinking = thinking_of(traits_of(model), **({"final": True} | wanted))
    fields = thinking.json()
    return (None if fields is None else msgspec.json.decode(fields)), thinking.room


SUMMARIZED = {"type": "adaptive", "display": "summarized"}


@pytest.mark.parametrize(
    ("model", "in_rounds", "in_the_final_call"),
    [
        ("claude-sonnet-5-5", {"type": "between_tools"}, SUMMARIZED),
        ("claude-haiku-5-5", {"type": "disabled"}, SUMMARIZED),
        ("claude-opus-5-5", SUMMARIZED, SUMMARIZED),
    ],
)
def test_a_round_of_tools_thinks_little_and_the_final_call_moderately(
    model: str, in_rounds: object, in_the_final_call: object
) -> None:
    round_fields, _ = said(model, final=False)
    final_fields, _ = said(model)

    assert round_fields.get("thinking") == in_rounds
    assert final_fields.get("thinking") == in_the_final_call
    assert round_fields["output_config"] == {"effort": "low"}
    assert final_fields["output_config"] == {"effort": "medium"}


def test_a_model_that_does_not_think_by_itself_is_told_nothing() -> None:
    # The cache of one that is told nothing is shared by all calls of a query.
    assert said("claude-opus-4-8") == said("claude-opus-4-8", final=False) == (None, 0)
    assert said("claude-sonnet-4-5") == (None, 0)
    assert said("claude-haiku-4-5", final=False) == (None, 0)
    assert said("somebodys-own") == (None, 0)


@pytest.mark.parametrize("model", CARDS)
@pytest.mark.parametrize("wanted", ["default", "off", "adaptive", "2048", "999999"])
@pytest.mark.parametrize("effort", [None, "low", "high", "max"])
@pytest.mark.parametrize("final", [True, False])
def test_no_request_says_what_its_model_refuses(
    model: str, wanted: str, effort: str | None, *, final: bool
) -> None:
    traits = CARDS[model].traits

    thinking = thinking_of(traits, final=final, wanted=wanted, effort=effort)

    assert thinking.mode is None or thinking.mode in traits.thinking
    assert thinking.effort is None or thinking.effort in traits.efforts
    if effort is not None:
        assert (thinking.effort is None) == (not traits.efforts)
    if thinking.mode in ("between_tools", "disabled"):
        assert thinking.effort not in ("xhigh", "max")
    # What thinks has room for it: the tokens of the answer are not spent on it.
    assert (thinking.room > 0) == (thinking.mode in ("adaptive", "enabled"))
    assert thinking.room < traits.max_output


def test_thinking_that_is_off_is_as_little_as_the_model_can() -> None:
    assert said("claude-sonnet-5-5", wanted="off")[0]["thinking"] == {
        "type": "between_tools"
    }
    assert said("claude-haiku-5-5", wanted="off")[0]["thinking"] == {"type": "disabled"}
    assert said("claude-opus-5-5", wanted="off")[0]["output_config"] == {
        "effort": "low"
    }


def test_a_budget_becomes_room_where_the_model_takes_none() -> None:
    assert said("claude-sonnet-4-5", wanted="2048")[0]["thinking"] == {
        "type": "enabled",
        "budget_tokens": 2048,
    }
    assert said("claude-sonnet-5-5", wanted="2048") == (
        {"output_config": {"effort": "medium"}, "thinking": SUMMARIZED},
        2048,
    )
