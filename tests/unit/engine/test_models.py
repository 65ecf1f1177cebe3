"""The table of models: names, traits, prices; and how calls are told to think."""

from __future__ import annotations

import pytest

from antiphon.engine.models import (
    ModelTable,
    read_prices,
)
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.values import Usage

TABLE = ModelTable()


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
