"""Citations: each leads back to the very characters of a passage, whatever the reply's numbering."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from antiphon.vocabulary.values import Citation, Fact, Place, ReplyCitation
from tests.unit.assembler.scenario import (
    answer,
    asked,
    assembled,
    briefed,
    cites,
    fact,
    kinds,
    replied,
    synthesized,
)

LOG = fact(
    "f1", "A log is only appended to. Nothing in it changes. Readers keep their place."
)
OFFSET = fact("f2", "An offset names a place in a log.", lesson=2)
SHOWN = briefed(("f1", (0, 1, 2)), ("f2", (0,)))


def test_a_citation_leads_to_its_fact_and_the_exact_text_of_the_passage() -> None:
    text = "Logs grow at the end."
    reply = replied(
        text,
        cites(0, 21, 0, (0, 2), "A log is only appended to. Nothing in it changes. "),
    )

    said = assembled(asked(), synthesized(LOG, OFFSET), SHOWN, reply, answer())

    assert said.answer == text
    assert said.citations == (
        Citation(
            start=0,
            end=21,
            cited_text="A log is only appended to. Nothing in it changes.",
            source="Logs - Lesson 1",
            fact="f1",
            course="Logs",
            lesson=1,
            link="https://logs.example/1",
        ),
    )
    assert (said.confidence, said.indicators) == ("high", ())


def test_a_citation_names_the_place_of_its_own_sentence() -> None:
    passage = replace(
        LOG.passage,
        place="page 3",
        link="https://logs.example/a.pdf#page=3",
        places=(
            Place(start=27, name="page 4", link="https://logs.example/a.pdf#page=4"),
        ),
    )
    log = replace(LOG, passage=passage)
    reply = replied(
        "It grows. It stays.",
        cites(0, 9, 0, (0, 1), "A log is only appended to. "),
        cites(10, 19, 0, (1, 2), "Nothing in it changes. "),
    )

    said = assembled(asked(), synthesized(log, OFFSET), SHOWN, reply, answer())

    assert [(each.place, each.link) for each in said.citations] == [
        ("page 3", "https://logs.example/a.pdf#page=3"),
        ("page 4", "https://logs.example/a.pdf#page=4"),
    ]


def test_sources_are_named_in_order_of_first_citation_without_repeats() -> None:
    reply = replied(
        "Offsets. Logs. Offsets.",
        cites(9, 14, 0, (0, 1), "A log is only appended to. "),
        cites(0, 8, 1, (0, 1), "An offset names a place in a log."),
        cites(15, 23, 1, (0, 1), "An offset names a place in a log."),
    )

    said = assembled(asked(), synthesized(LOG, OFFSET), SHOWN, reply, answer())

    assert said.sources == ("Logs - Lesson 2", "Logs - Lesson 1")
    assert said.source_links == ("https://logs.example/2", "https://logs.example/1")
    assert len(said.citations) == 3


def test_spans_follow_the_text_when_its_outer_white_space_goes() -> None:
    reply = replied(
        "\n\n Logs grow. \n", cites(0, 14, 0, (0, 1), "A log is only appended to.")
    )

    said = assembled(asked(), synthesized(LOG), SHOWN, reply, answer())

    assert said.answer == "Logs grow."
    assert [(cited.start, cited.end) for cited in said.citations] == [(0, 10)]


def test_blocks_whose_sentences_do_not_stand_together_become_one_citation_each() -> (
    None
):
    reply = replied(
        "Logs.",
        cites(0, 5, 0, (0, 2), "A log is only appended to. Readers keep their place."),
    )

    said = assembled(
        asked(), synthesized(LOG), briefed(("f1", (0, 2))), reply, answer()
    )

    assert [cited.cited_text for cited in said.citations] == [
        "A log is only appended to.",
        "Readers keep their place.",
    ]


def test_a_citation_is_resolved_against_the_table_of_its_own_call() -> None:
    earlier = briefed(("f1", (0, 1, 2)), call_id="call-1")
    reply = replied(
        "Offsets.", cites(0, 8, 0, (0, 1), "An offset names a place in a log.")
    )

    said = assembled(
        asked(),
        earlier,
        synthesized(LOG, OFFSET),
        briefed(("f2", (0,))),
        reply,
        answer(),
    )

    assert said.sources == ("Logs - Lesson 2",)


def test_citations_that_lead_nowhere_are_left_out_and_said() -> None:
    reply = replied(
        "Logs grow.",
        cites(0, 10, 0, (0, 1), "A log is only appended to."),
        cites(0, 10, 9, (0, 1), "A log is only appended to."),
        cites(0, 10, 0, (2, 4), "Readers keep their place."),
        cites(0, 10, 0, (1, 1), ""),
        cites(0, 10, -1, (0, 1), "An offset names a place in a log."),
        cites(0, 10, 1, (0, 1), "An offset is a secret."),
        cites(40, 50, 1, (0, 1), "An offset names a place in a log."),
    )

    said = assembled(asked(), synthesized(LOG, OFFSET), SHOWN, reply, answer())

    assert len(said.citations) == 1
    assert kinds(said) == ["unresolved_citation"]
    assert said.indicators[0].detail.startswith("6 citation(s)")
    assert said.indicators[0].event_seq == 4


def test_a_reply_that_cites_nothing_though_facts_were_shown_is_said_to_be_uncited() -> (
    None
):
    said = assembled(asked(), synthesized(LOG), SHOWN, replied("Logs grow."), answer())

    assert (said.sources, kinds(said), said.confidence) == (
        (),
        ["uncited_claim"],
        "medium",
    )


TEXTS = st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=5)
NUMBERS = st.integers(min_value=-2, max_value=8)


@st.composite
def citations_of_anything(
    draw: st.DrawFn,
) -> tuple[list[list[str]], ReplyCitation, str]:
    passages = draw(st.lists(TEXTS, min_size=1, max_size=3))
    source, first = draw(NUMBERS), draw(NUMBERS)
    end = first + draw(st.integers(min_value=-1, max_value=3))
    blocks = (
        passages[source][first:end]
        if 0 <= source < len(passages) and first >= 0
        else []
    )
    quoted = draw(
        st.sampled_from(["".join(blocks), "".join(blocks).strip(), "something else"])
    )
    citation = cites(draw(NUMBERS), draw(NUMBERS), source, (first, end), quoted)
    return passages, citation, draw(st.text(max_size=12))


@settings(max_examples=300, deadline=None)
@given(
    made=citations_of_anything(),
    shown=st.sets(st.integers(min_value=0, max_value=4), min_size=1),
)
def test_whatever_a_reply_cites_the_text_is_in_its_passage_and_the_span_in_the_answer(
    made: tuple[list[list[str]], ReplyCitation, str], shown: set[int]
) -> None:
    passages, citation, text = made
    facts = {
        f"f{n}": _fact_of(f"f{n}", sentences) for n, sentences in enumerate(passages)
    }
    rows = [
        (f"f{n}", tuple(sorted(shown & set(range(len(row))))))
        for n, row in enumerate(passages)
    ]

    said = assembled(
        asked(),
        synthesized(*facts.values()),
        briefed(*rows),
        replied(text, citation),
        answer(),
    )

    for cited in said.citations:
        assert cited.cited_text
        assert cited.cited_text in facts[cited.fact].passage.text.text
        assert 0 <= cited.start < cited.end <= len(said.answer)
    if text.strip():
        assert said.citations or "unresolved_citation" in kinds(said)


def _fact_of(id_: str, sentences: list[str]) -> Fact:
    starts = [0]
    for sentence in sentences[:-1]:
        starts.append(starts[-1] + len(sentence))
    return fact(id_, "".join(sentences), starts=tuple(starts))


def test_a_citation_in_the_middle_moves_with_the_white_space_before_the_answer() -> (
    None
):
    reply = replied(
        "\n\n Logs grow. Readers stay. \n",
        cites(14, 27, 0, (2, 3), "Readers keep their place."),
    )

    said = assembled(asked(), synthesized(LOG), SHOWN, reply, answer())

    (cited,) = said.citations
    assert said.answer[cited.start : cited.end] == "Readers stay."
