"""The bill of one question, by model; `make bench` includes the usual model.

The whole service asks over the sample courses, in two rounds and a final call. The documented Messages API (`antiphon
double --documented`, docs/double.md) plays the model in another process, and keeps the bill. It assumes the amount of
thinking and estimates tokens: the figures allow comparisons but predict no invoice. A quiet service finds nothing in
the API's cache; a busy one gets its next question within five minutes.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx2
import msgspec
from msgspec.structs import replace
from rich.console import Console
from rich.table import Table

from antiphon.composition import embedder_of
from antiphon.knowledge import index_paths
from antiphon.service import Antiphon, Question, load_settings
from benchmarks.processes import antiphon, log_errors_only, serving

CONTEXTS = ("briefing", "transcript")
LATER = 20
"""The number of questions after a service's first."""
QUESTIONS = Path("samples/questions.jsonl")
COURSES = Path("samples/courses")
WORK = Path("data/dollars")


class Usage(msgspec.Struct, frozen=True):
    """The usage of one call, or the mean usage of a question."""

    input_tokens: float = 0.0
    cache_read_tokens: float = 0.0
    cache_write_tokens: float = 0.0
    thinking_tokens: float = 0.0
    output_tokens: float = 0.0
    cost_usd: float = 0.0


class Billed(msgspec.Struct, frozen=True):
    """One reply on the bill."""

    usage: Usage


class Bill(msgspec.Struct, frozen=True):
    """The bill, and the refusals: the rule, its message, and more."""

    billed: list[Billed]
    refused: list[list[str | int]]


class ServiceCost(NamedTuple):
    """The mean costs of a question to one model, in one way of showing it the earlier rounds.

    Attributes:
        first: The first question of a quiet service.
        later: The later questions of a busy service.
        answered: How many of the `asked` questions the model itself answered.
        refused: The number of refused requests.
    """

    model: str
    context: str
    first: Usage
    later: Usage
    answered: int
    asked: int
    refused: int


async def measure(
    url: str, models: Iterable[str], questions: Sequence[str], work: Path = WORK
) -> list[ServiceCost]:
    """Asks each model all questions in both ways, at the double at `url`."""
    settings = load_settings(
        data_dir=work,
        reasoner="claude",
        citations="native",
        anthropic_api_key="sk-double",
        anthropic_base_url=url,
    )
    index_paths([COURSES], work, embedder_of(settings))
    service = await Antiphon.open(settings)
    costs: list[ServiceCost] = []
    try:
        for model in models:
            for context in CONTEXTS:
                costs.append(await _cost(service, url, model, context, questions))
    finally:
        await service.close()
    return costs


async def _cost(
    service: Antiphon, url: str, model: str, context: str, questions: Sequence[str]
) -> ServiceCost:
    chosen = replace(service.settings.query_settings(), model=model, context=context)
    # Deleting the bill also empties the cache.
    await asyncio.to_thread(_bill, url, "DELETE")
    answered = 0
    calls_of_first = 0
    for question in questions:
        outcome = await service.ask(Question(query=question, settings=chosen))
        answered += outcome.response.reasoner == model
        # The first question finds an empty cache, so its calls are averaged separately.
        if not calls_of_first:
            calls_of_first = len((await asyncio.to_thread(_bill, url)).billed)
    bill = await asyncio.to_thread(_bill, url)
    return ServiceCost(
        model,
        context,
        first=_mean(bill.billed[:calls_of_first], 1),
        later=_mean(bill.billed[calls_of_first:], len(questions) - 1),
        answered=answered,
        asked=len(questions),
        refused=len(bill.refused),
    )


def _mean(billed: Sequence[Billed], questions: int) -> Usage:
    means: dict[str, float] = {}
    for name in Usage.__struct_fields__:
        total = sum(getattr(each.usage, name) for each in billed)
        means[name] = total / max(questions, 1)
    return Usage(**means)


def _bill(url: str, method: str = "GET") -> Bill:
    answer = httpx2.request(method, f"{url}/bill")
    return msgspec.json.decode(answer.content, type=Bill)


def models_of(url: str) -> list[str]:
    """Returns the models that the double knows."""
    listed = httpx2.get(f"{url}/v1/models").json()
    return [model["id"] for model in listed["data"]]


def sample_questions(file: Path = QUESTIONS, later: int = LATER) -> list[str]:
    """Returns the questions to ask: the first, and `later` more."""
    lines = file.read_text(encoding="utf-8").splitlines()[: later + 1]
    return [msgspec.json.decode(line)["question"] for line in lines]


@contextmanager
def double_at(url: str | None) -> Iterator[str]:
    """Gives the address of the double: the given one, or that of a newly started double."""
    if url is not None:
        yield url
        return
    with serving(antiphon("double", "--documented"), "/v1/models") as served:
        yield served.url


def figures(costs: Iterable[ServiceCost]) -> dict[str, float]:
    """Returns the dollars for a thousand questions, by figure name."""
    found: dict[str, float] = {}
    for cost in costs:
        name = f"{cost.model}, {cost.context}"
        found[f"{name}, first: US$ for 1,000"] = cost.first.cost_usd * 1_000
        found[f"{name}, later: US$ for 1,000"] = cost.later.cost_usd * 1_000
    return found


def report(costs: Iterable[ServiceCost]) -> Table:
    """Returns the table of all figures."""
    table = Table(title="Tokens of one question, and US$ for a thousand of them")
    for name in ("model", "context", "question"):
        table.add_column(name)
    for name in (
        *("input", "cache read", "cache write", "thinking", "output"),
        *("US$ for 1,000", "answered by it", "refused"),
    ):
        table.add_column(name, justify="right")
    for cost in costs:
        for question, usage in (("first", cost.first), ("later", cost.later)):
            tokens = (
                *(usage.input_tokens, usage.cache_read_tokens),
                *(usage.cache_write_tokens, usage.thinking_tokens, usage.output_tokens),
            )
            table.add_row(
                *(cost.model, cost.context, question),
                *[f"{each:,.0f}" for each in tokens],
                f"{usage.cost_usd * 1_000:,.2f}",
                f"{cost.answered} of {cost.asked}",
                str(cost.refused),
            )
    return table


def main() -> None:
    log_errors_only()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="*", help="all that are known, if not named")
    parser.add_argument("--double", help="a double that runs already, at this address")
    parser.add_argument("--later", type=int, default=LATER)
    parser.add_argument("--work", type=Path, default=WORK, help="where its index is")
    options = parser.parse_args()
    questions = sample_questions(later=options.later)
    with double_at(options.double) as url:
        models = options.models or models_of(url)
        costs = asyncio.run(measure(url, models, questions, options.work))
    Console(width=150).print(report(costs))


if __name__ == "__main__":
    main()
