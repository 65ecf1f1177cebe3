"""An answer on the terminal: numbered sources, doubts, and where to look further."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.cli.terminal import clean, err, one_line, out
from antiphon.service import Outcome
from antiphon.vocabulary.events import ResponseAssembled
from antiphon.vocabulary.values import Citation

_STYLES = {"high": "green", "medium": "yellow", "low": "red"}


def show_answer(outcome: Outcome) -> None:
    """Prints the answer on standard output, and what surrounds it on standard error."""
    response = outcome.response
    out.print(clean(with_numbers(response.answer, response.citations, response.sources)), soft_wrap=True)
    for line in source_lines(response):
        out.print(line, soft_wrap=True)
    err.print(_summary(outcome), style=_STYLES[response.confidence])
    for indicator in response.indicators:
        err.print(f"  ! {one_line(indicator.detail, 200)} (event {indicator.event_seq})", style="yellow")
    err.print(f"conversation {outcome.session_id}; all of it: antiphon traces show {outcome.query_id}", style="dim")


def with_numbers(answer: str, citations: Sequence[Citation], sources: Sequence[str]) -> str:
    """The answer with the number of its source after each cited span."""
    marks = {(citation.end, sources.index(citation.source) + 1) for citation in citations if citation.source in sources}
    for end, number in sorted(marks, reverse=True):
        answer = f"{answer[:end]} [{number}]{answer[end:]}"
    return answer


def source_lines(response: ResponseAssembled) -> list[str]:
    """The numbered sources with their links, after an empty line; nothing where there are none."""
    beside = zip(response.sources, response.source_links, strict=True)
    lines = [
        f"[{number}] {one_line(source, 200)}{f'  {one_line(link, 300)}' if link else ''}"
        for number, (source, link) in enumerate(beside, start=1)
    ]
    return ["", *lines] if lines else []


def _summary(outcome: Outcome) -> str:
    response = outcome.response
    rounds = f"{response.rounds} round{'' if response.rounds == 1 else 's'}"
    calls = f"{response.calls} call{'' if response.calls == 1 else 's'}"
    if response.summaries:
        calls += f" and {response.summaries} to sum up"
    seconds = outcome.duration_ms / 1000
    return (
        f"\n{response.confidence} confidence · answered by {one_line(response.reasoner, 60)} · {rounds}, {calls} · "
        f"{seconds:.2f} s · {outcome.status}"
    )
