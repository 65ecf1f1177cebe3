"""Sentences that contradict one another, and those that only look so."""

from __future__ import annotations

import pytest

from antiphon.language.contradiction import contradict, denial, statement

SEVEN = "Kafka keeps its records for seven days by default."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (SEVEN, "By default Kafka keeps its records for 30 days."),
        (SEVEN, "Retention is long: Kafka keeps records for 240 hours by default."),
        ("Each broker of Kafka holds three replicas.", "A broker of Kafka holds 2 replicas."),
        ("Kafka Streams was released in May 2016.", "Kafka Streams was released on 2015-05-10."),
        ("A group never shares a partition.", "A group shares a partition."),
        ("Kafka doesn't order records across partitions.", "Kafka orders records across partitions."),
    ],
)  # fmt: skip
def test_two_sentences_of_which_only_one_can_be_right_contradict(
    one: str, other: str
) -> None:
    assert contradict(statement(one), statement(other))
    assert contradict(statement(other), statement(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (SEVEN, "Kafka keeps records for one week by default."),
        (SEVEN, "Redis keeps its records for two days by default."),
        (SEVEN, "Kafka deletes segments within two days of the last write to them."),
        (SEVEN, "Kafka keeps its records in 12 partitions by default."),
        ("A group never shares a partition.", "Does a group share a partition?"),
        ("Not in the system prompt.", "A different system prompt."),
        ("A group shares not only a partition.", "A group shares a partition."),
    ],
)
def test_sentences_that_can_both_be_right_do_not(one: str, other: str) -> None:
    assert not contradict(statement(one), statement(other))


def test_what_another_sentence_of_the_passage_says_as_the_claim_does_is_no_denial() -> (
    None
):
    claim = statement("Kafka keeps records in order.")
    denied = statement("Kafka does not keep records in order.")
    said = statement("Within a partition Kafka keeps records in order.")

    assert denial(claim, [denied], [denied]) == denied.text
    counted = statement("A topic of Kafka does not have three replicas.")
    three = statement("Every topic of Kafka has three replicas.")
    assert denial(counted, [three], [three]) == three.text
    assert denial(claim, [denied], [denied, said]) == ""
