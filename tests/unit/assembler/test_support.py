"""What an answer says without support; words, numbers and names are compared."""

from __future__ import annotations

import time

import pytest

from antiphon.assembler.support import (
    MOST_NAMED,
    READS_QUANTITIES,
    unsupported_citations,
    unsupported_sentences,
)
from antiphon.vocabulary.events import RULES
from antiphon.vocabulary.values import Citation, Fact
from tests.unit.assembler.scenario import fact

TEXT = (
    "A queue holds messages until they are taken. It keeps 1,500 messages for three days. "
    "Jay Kreps wrote on logs in New Zealand. A large language model answers."
)
FACTS = {"f1": fact("f1", TEXT)}


def cited(claim: str, first: int = 0, rules: int = RULES) -> list[str]:
    """Why the claim is not borne out by sentence `first`."""
    text = FACTS["f1"].passage.sentence(first)
    citation = Citation(
        start=0, end=len(claim), cited_text=text, source="Logs - Lesson 1", fact="f1"
    )
    question = "What of 42 Nygard?"
    found = unsupported_citations(claim, [citation], FACTS, question, rules)
    return [each.why for each in found]


def said(answer: str) -> list[str]:
    """Why the sentences of an answer that cites nothing are not borne out."""
    found = unsupported_sentences(answer, (), FACTS, ["What of 42 Nygard?"])
    return [each.why for each in found]


@pytest.mark.parametrize(
    ("claim", "first"),
    [
        ("A queue holds messages.", 0),
        ("Messages stay there until somebody takes them.", 0),
        ("It keeps 1500 messages for 3 days.", 1),
        ("It keeps 1,500 of them for three days (72 hours).", 1),
        ("In NZ, Kreps wrote on logs.", 2),
        ("An article on logs is by Jay Kreps.", 2),
        ("There, LLMs answer.", 3),
        ("Twice.", 0),
        ("1. A queue holds messages.\n2. They are taken.", 0),
        ("The queue of Nygard holds 42 messages.", 0),
        ("Lesson 1 says that a queue holds messages.", 0),
        ("Nachrichten warten hier auf jemand anderen als sonst.", 0),
    ],
)
def test_a_claim_that_its_citation_bears_out_is_not_doubted(
    claim: str, first: int
) -> None:
    assert cited(claim, first) == []


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        ("Bread is baked in ovens.", "it shares no telling word with it"),
        ("A queue holds 30 messages.", "the number 30 does not stand there"),
        ("A queue holds 1.5 messages.", "the number 1.5 does not stand there"),
        ("Messages in RabbitMQ wait.", "the name RabbitMQ does not stand there"),
        ("A queue by Martin Fowler.", "the name Martin Fowler does not stand there"),
    ],
)
def test_a_claim_that_its_citation_does_not_bear_out_is_named_with_the_reason(
    claim: str, why: str
) -> None:
    assert cited(claim) == [why]


CONTRADICTED = {
    "It keeps 1,500 messages for five days.": "“five days” does not stand there, but “three days” does",
    "It keeps a dozen messages.": "“a dozen messages” does not stand there, but “1,500 messages” does",
    "It does not keep messages for three days.": "it says the opposite of “It keeps 1,500 messages for three days.”",
    "It keeps messages, wrote Jay Fowler.": "the name Jay Fowler does not stand there",
    "Pulsar keeps messages for three days.": "the name Pulsar does not stand there",
}


@pytest.mark.parametrize("claim", CONTRADICTED)
def test_a_claim_that_its_citation_contradicts_is_named_and_was_not_by_older_rules(
    claim: str,
) -> None:
    assert cited(claim, 1) == [CONTRADICTED[claim]]
    assert cited(claim, 1, rules=READS_QUANTITIES - 1) == []


@pytest.mark.parametrize(
    "claim",
    [
        "It keeps 1500 messages for 72 hours.",
        "It keeps one thousand five hundred messages.",
        "It doesn't only keep messages for three days.",
    ],
)
def test_a_quantity_in_another_unit_or_in_words_is_borne_out(claim: str) -> None:
    assert cited(claim, 1) == []


@pytest.mark.parametrize(
    "answer",
    [
        "Queues hold their messages until these are taken.",
        "The courses have 12 things to say on this subject here:",
        "Would you like to know how bakers heat their ovens?",
        "For example, a baker heats 12 ovens before sunrise.",
        "Let me know if bakers and their ovens interest you more.",
        "Not so.",
    ],
)
def test_a_sentence_that_is_borne_out_or_states_nothing_is_not_doubted(
    answer: str,
) -> None:
    assert said(answer) == []


@pytest.mark.parametrize(
    "answer",
    [
        "Bakers should heat their stone ovens before sunrise.",
        "A queue holds up to 77 messages until they are taken.",
        "Messages in a queue wait until RabbitMQ has taken them.",
    ],
)
def test_a_sentence_that_nothing_found_bears_out_is_doubted(answer: str) -> None:
    assert len(said(answer)) == 1


def test_as_many_sentences_are_named_as_a_reader_will_read() -> None:
    answer = "Bakers should heat their stone ovens before sunrise. " * 9

    assert len(said(answer)) == MOST_NAMED


def test_a_long_answer_on_many_facts_takes_milliseconds() -> None:
    facts: dict[str, Fact] = {}
    for number in range(40):
        text = f"Queue {number} holds messages until consumer {number} takes them. " * 8
        facts[f"f{number}"] = fact(f"f{number}", text)
    answer = "Bakers should heat their stone ovens before sunrise. " * 40

    begun = time.process_time()
    unsupported_sentences(answer, (), facts, [])

    assert time.process_time() - begun < 0.2
