"""The measuring of confidence: what is taken out of a text, what is fitted, and the picture."""

from __future__ import annotations

from antiphon.language.certainty import certainty
from antiphon.language.fit import Fit
from benchmarks.calibration.asking import (
    Asked,
    Measured,
    Place,
    Row,
    State,
    holds_answer,
    take_out,
)
from benchmarks.calibration.fitting import models_by_meaning
from benchmarks.calibration.plot import Curve, plot

GOOD = Fit(0.8, 0.9, chance=0.95, lead=0.4)
LOOSE = Fit(0.6, 0.6, chance=0.5, lead=0.1)
FAR = Fit(0.1, 0.1, chance=0.5, lead=0.1)


def row(state: State, fit: Fit, *, right: bool) -> Row:
    measured = Measured(fit=fit, right=right)
    return Row(
        question="What?",
        corpus="one",
        state=state,
        retrieved=right,
        cited=right,
        refused=False,
        confidence="medium",
        chars=100,
        by_meaning=measured,
        by_words=measured,
    )


def asked(text: str, wanted: str) -> Asked:
    start = text.index(wanted)
    place = Place(content=wanted, start_index=start, end_index=start + len(wanted))
    return Asked(question="What?", corpus="one", places=(place,))


def test_what_answers_every_second_question_is_taken_out_of_the_text() -> None:
    text = f"A queue is long. {'And so on. ' * 30}A log is appended to. {'And so forth. ' * 30}"
    queue, log = asked(text, "A queue is long."), asked(text, "A log is appended to.")

    left, near = take_out([queue, log], text)

    assert "A queue is long." in left
    assert "A log" not in left
    assert [each.state for each in near] == ["near"]
    assert near[0].places == log.places


def test_a_fit_is_surer_of_what_was_right_than_of_what_was_not() -> None:
    rows = [
        *[row("answered", GOOD, right=True)] * 60,
        *[row("answered", LOOSE, right=True)] * 20,
        *[row("near", LOOSE, right=False)] * 60,
        *[row("far", FAR, right=False)] * 80,
    ]

    models = models_by_meaning(rows)

    assert certainty(GOOD, models) == "high"
    assert certainty(LOOSE, models) == "medium"
    assert certainty(FAR, models) in ("low", "none")


def test_a_sample_question_is_right_where_one_of_its_phrases_is_shown() -> None:
    asked_for = Asked(question="What?", corpus="o", needed=("append-only log",))

    assert holds_answer(asked_for, ["It is an append-only log."])
    assert not holds_answer(asked_for, ["It is a log."])


def test_the_picture_holds_a_line_for_each_curve() -> None:
    curve = Curve(name="speech, far", answered=(0.2, 0.9), others=(0.1, 0.3))

    picture = plot([curve, curve])

    assert picture.count("<polyline") == 2
    assert "speech, far" in picture
