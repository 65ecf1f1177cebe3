"""How likely it is that what is shown answers, and that anything does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.engine.offline.likelihood import Fit, fit_of, lacks_property
from antiphon.engine.offline.task import Source
from antiphon.engine.offline.windows import Window, look
from antiphon.language.evidence import WORDS_ALONE, Measures

SHARE = st.floats(0.0, 1.0)
COSINE = st.floats(-1.0, 1.0)
FITS = st.builds(
    Fit,
    beyond=st.none() | COSINE,
    share=SHARE,
    terms=st.integers(0, 32),
    names=st.integers(0, 100),
    lead=st.floats(0.0, 2.0),
    unknown=SHARE,
    interaction=COSINE,
    lacks=st.booleans(),
)
QUEUES = (
    "A queue holds messages. ",
    "It listens on port 5672. ",
    "It dates from 2007.",
)


def source(*blocks: str) -> Source:
    return Source(0, "Queues - Lesson 1", "Brokers", blocks)


def shown(*blocks: str) -> list[Window]:
    return [Window(source(*blocks), 0, len(blocks), 0, 1.0)]


def fit(question: str, *blocks: str, **measures: Any) -> Fit:
    measured = Measures(**measures)
    return fit_of(question, look(question, [source(*blocks)], measured), measured)


def chances(fitting: Fit) -> tuple[float, float]:
    return fitting.right, fitting.answerable


def is_no_less_likely(more: Fit, less: Fit) -> bool:
    pairs = zip(chances(more), chances(less), strict=True)
    return all(higher >= lower for higher, lower in pairs)


@given(FITS, COSINE, COSINE)
def test_what_is_liker_the_question_is_no_less_likely(
    fitting: Fit, one: float, other: float
) -> None:
    less, more = sorted((one, other))

    assert is_no_less_likely(
        fitting._replace(beyond=more), fitting._replace(beyond=less)
    )


def test_the_share_counts_the_words_of_the_window_and_of_its_title() -> None:
    assert fit("Which broker holds messages?", *QUEUES).share == 1.0
    assert fit("Which broker holds ravens?", *QUEUES).share < 1.0
    assert fit("Which broker holds messages?", *QUEUES).answerable > 0.5


def test_what_is_asked_in_no_other_words_is_as_like_as_it_is() -> None:
    def likeness(asked: str, texts: Sequence[str]) -> Sequence[float]:
        return [1.0 if text.lower() == asked.lower() else 0.4 for text in texts]

    assert fit("Queue messages", QUEUES[0], likeness=likeness).beyond == 0.4


def test_what_shows_nothing_is_unlikely() -> None:
    assert fit_of("Why?", look("Why?", [], WORDS_ALONE), WORDS_ALONE) == Fit()
    assert max(chances(Fit())) < 0.1


@pytest.mark.parametrize(
    ("question", "lacks"),
    [
        ("Which port does it listen on?", False),
        ("Which protocol does it speak?", True),
        ("How many messages does it hold?", False),
        ("How many consumers does it have?", True),
        ("In which year was it written?", False),
        ("What is a queue?", False),
        ("Which one is it?", False),
        ("Why does it listen?", False),
    ],
)
def test_what_is_asked_of_a_thing_has_to_stand_in_what_is_shown(
    question: str, lacks: bool
) -> None:
    assert lacks_property(question, shown(*QUEUES)) is lacks


def test_a_year_is_asked_for_by_its_name_and_given_in_figures() -> None:
    assert lacks_property("In what year was it written?", shown("Last year it was."))
    assert not lacks_property("In what year was it written?", shown("It was in 1987."))
