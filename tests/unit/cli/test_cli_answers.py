"""An answer on the terminal."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from antiphon.cli.rendering import show_answer, source_lines, with_numbers
from antiphon.service import Outcome
from antiphon.vocabulary.events import Confidence
from antiphon.vocabulary.values import Citation, Indicator
from tests.story import response_assembled


def _cites(start: int, end: int, source: str) -> Citation:
    return Citation(start=start, end=end, cited_text="x", source=source, fact="f1")


def test_each_claim_is_followed_by_the_number_of_its_source() -> None:
    cited = [
        _cites(0, 4, "A"),
        _cites(5, 9, "B"),
        _cites(5, 9, "A"),
        _cites(5, 9, "B"),
        _cites(0, 1, "gone"),
    ]

    assert (
        with_numbers("One. Two. Three.", cited, ["A", "B"])
        == "One. [1] Two. [1] [2] Three."
    )


def test_a_number_behind_code_leaves_the_fence_that_closes_it_alone() -> None:
    answer = "Run:\n```bash\nls\n```\n\nThen `wait`."
    cited = [_cites(0, answer.index("\n\n"), "A"), _cites(0, len(answer), "B")]

    shown = with_numbers(answer, cited, ["A", "B"])

    assert shown == "Run:\n```bash\nls\n```\n[1]\n\nThen `wait`. [2]"


def test_sources_are_numbered_with_their_links_and_cannot_steer_the_terminal() -> None:
    response = replace(
        response_assembled(),
        sources=("A\x1b[31m", "B"),
        source_links=("https://a.example", None),
    )

    assert source_lines(response) == ["", "[1] A  https://a.example", "[2] B"]


def test_the_answer_goes_to_standard_output_and_the_rest_beside_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    response = replace(
        response_assembled("Brackets [red]stay[/red].\x1b[2J"),
        confidence="low",
        indicators=(Indicator(kind="deadline", detail="Time ran out.", event_seq=7),),
    )
    show_answer(
        Outcome(
            query_id="q1",
            session_id="s1",
            response=response,
            status="partial",
            duration_ms=1500,
        )
    )

    printed = capsys.readouterr()

    assert printed.out == "Brackets [red]stay[/red].\n"
    for part in (
        "low confidence",
        "offline",
        "1 round, 2 calls",
        "1.50 s",
        "partial",
        "Time ran out. (event 7)",
    ):
        assert part in printed.err
    assert "antiphon traces show q1" in printed.err


@pytest.mark.parametrize(
    ("reasoner", "confidence", "doubts", "label"),
    [
        ("offline", "high", (), "found"),
        ("offline", "medium", ("loose_fit",), "look yourself"),
        ("offline", "low", ("closest_found",), "the closest there is"),
        ("offline", "low", ("tool_failed",), "low confidence"),
        ("claude", "high", (), "high confidence"),
        ("claude", "low", ("closest_found",), "low confidence"),
    ],
)
def test_who_quotes_says_whether_it_is_in_there_and_who_writes_how_sure_it_is(
    capsys: pytest.CaptureFixture[str],
    reasoner: str,
    confidence: Confidence,
    doubts: tuple[str, ...],
    label: str,
) -> None:
    indicators = [Indicator(kind=kind, detail=kind, event_seq=1) for kind in doubts]
    response = replace(
        response_assembled(),
        reasoner=reasoner,
        confidence=confidence,
        indicators=tuple(indicators),
    )

    show_answer(
        Outcome(
            query_id="q1",
            session_id="s1",
            response=response,
            status="answered",
            duration_ms=1500,
        )
    )

    assert capsys.readouterr().err.startswith(f"\n{label} · ")
