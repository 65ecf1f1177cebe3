"""Quantities and dates are the same however they are written."""

from __future__ import annotations

import pytest

from antiphon.language.quantities import dates_in, quantities_in


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("seven days", "168 hours"),
        ("one week", "7-day retention"),
        ("seven full days", "It is kept for 7 days."),
        ("5 %", "five percent"),
        ("1,000 messages", "a thousand messages"),
        ("twenty-five topics", "25 topics"),
        ("two hundred and five topics", "205 topics"),
        ("2 GB", "2,000 megabytes"),
        ("$3 million", "3,000,000 dollars"),
        ("$100K", "100 thousand dollars"),
        ("a dozen topics", "twelve topics"),
        ("1.5 km", "1500 metres"),
    ],
)
def test_the_same_quantity_is_the_same_in_other_words(one: str, other: str) -> None:
    (quantity,) = quantities_in(one)

    assert quantity.is_among(quantities_in(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("seven days", "seven hours"),
        ("five days", "168 hours"),
        ("5 topics", "5 brokers"),
        ("12 months", "365 days"),
        ("1 GB", "1 TB"),
    ],
)
def test_another_quantity_is_another(one: str, other: str) -> None:
    (quantity,) = quantities_in(one)

    assert not quantity.is_among(quantities_in(other))


def test_both_ends_of_a_range_have_its_unit() -> None:
    for written in ("5-7 days", "5 to 7 days", "five to seven days"):
        assert [each.value for each in quantities_in(written)] == [432_000, 604_800]


def test_a_version_a_date_and_an_article_are_no_quantity_of_anything() -> None:
    assert quantities_in("On 14 June 2023 a release came.") == ()
    assert [each.unit for each in quantities_in("Python 3.11, and 4.")] == ["", ""]


@pytest.mark.parametrize(
    "written",
    [
        "14 June 2023",
        "June 14th, 2023",
        "14th of June 2023",
        "2023-06-14",
        "14 Jun 2023",
    ],
)
def test_a_date_is_the_same_however_it_is_written(written: str) -> None:
    (date,) = dates_in(f"It was on {written}.")

    assert (date.year, date.month, date.day) == ("2023", 6, 14)
    for less in ("June 2023", "14 June", "June 14"):
        assert date.is_among(dates_in(less))
    for other in ("July 2023", "15 June", "2022-06-14"):
        assert not date.is_among(dates_in(other))


def test_may_is_a_month_only_beside_a_day_or_a_year() -> None:
    assert dates_in("It may take 5 days. May I? They march on 3 roads.") == ()
