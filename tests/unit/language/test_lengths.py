"""Texts are made short without breaking what they are made of."""

from __future__ import annotations

from antiphon.language.lengths import first_lines, tokens_of

STEPS = "\n".join(f"- Step {n} of the way." for n in range(40))


def test_a_text_that_fits_keeps_all_its_lines() -> None:
    assert first_lines(f"\n{STEPS}\n", 1_000) == STEPS


def test_a_text_that_does_not_fit_ends_at_a_line_and_says_that_it_goes_on() -> None:
    *kept, end = first_lines(STEPS, 50).split("\n")

    assert end == "…"
    assert kept == STEPS.split("\n")[: len(kept)]
    assert 40 < tokens_of("\n".join(kept)) <= 50


def test_of_a_first_line_that_does_not_fit_the_first_sentences_stay() -> None:
    line = "A log is kept. Nobody changes it. " * 40

    assert first_lines(f"{line}\n- More.", 20) == (
        "A log is kept. Nobody changes it. A log is kept. Nobody changes it. …"
    )
