"""From tool results to a cited answer: the synthesizer's source table is what the assembler resolves against."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.assembler import scenario as answers
from tests.unit.synthesizer import stories as briefings

SENTENCES = st.lists(
    st.sampled_from(
        [
            "Logs grow. ",
            "What is read stays. ",
            "Is it so? ",
            "“Yes!” he said. ",
            "A\n b. ",
        ]
    )
)


@settings(max_examples=100, deadline=None)
@given(
    passages=st.lists(SENTENCES.map("".join), min_size=1, max_size=4),
    budget=st.integers(40, 200),
    data=st.data(),
)
def test_every_block_that_a_briefing_shows_can_be_cited_character_for_character(
    passages: list[str], budget: int, data: st.DataObject
) -> None:
    found = briefings.found(
        "a", *(briefings.passage(text, lesson=n) for n, text in enumerate(passages))
    )
    story = briefings.Told(briefings.asked(budget=budget), *briefings.round_of(found))
    story.tell(briefings.opened(2))
    shown = [json.loads(block.text) for block in story.briefing.messages[0].content]
    sources = [
        [part["text"] for part in block["content"]]
        for block in shown
        if block["type"] == "search_result"
    ]
    cited = []
    for number, blocks in enumerate(sources):
        first = data.draw(st.integers(0, len(blocks) - 1))
        end = data.draw(st.integers(first + 1, len(blocks)))
        cited.append(
            answers.cites(0, 7, number, (first, end), "".join(blocks[first:end]))
        )

    said = answers.assembled(
        answers.asked(),
        story.synthesized,
        story.briefing,
        answers.replied("Answer.", *cited),
        answers.answer(),
    )

    texts = {fact.id: fact.passage.text.text for fact in story.synthesized.facts}
    assert "unresolved_citation" not in answers.kinds(said)
    assert {citation.fact for citation in said.citations} == set(story.briefing.facts)
    assert all(
        citation.cited_text in texts[citation.fact] for citation in said.citations
    )
