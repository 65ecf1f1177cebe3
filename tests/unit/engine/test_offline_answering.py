"""What is answered from the passages and outlines that were found, how sure it is, and what each citation holds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.engine.offline.answering import (
    ALL_FAILED,
    CLOSEST,
    NO_CALL,
    NO_MATCH,
    NOTHING_TO_NOTE,
    summary,
)
from antiphon.engine.offline.wire import Draft
from antiphon.language.evidence import WORDS_ALONE, Measures
from antiphon.language.markup import Attempt, Material
from antiphon.vocabulary.events import (
    CLOSEST_FOUND,
    LOOSE_FIT,
    NOT_SEARCHED,
    NOTHING_FOUND,
    PART_MISSING,
)
from antiphon.vocabulary.ports import Json
from tests.fakes_likeness import all_alike
from tests.unit.engine.answered import cited, drafted, text
from tests.unit.engine.briefings import attempt, source
from tests.unit.engine.trades import BEES, CATALOGUE, PHOTOS

ONE, TWO = f"{PHOTOS} - Lesson 1", f"{PHOTOS} - Lesson 2"
DUST = source(
    ONE,
    "Scans are slow. ",
    "Dust is brushed off first. ",
    "Scratches stay.",
    title="Scanning Negatives",
)
SCRIPT = source(
    TWO,
    "A script names them:\n",
    "```\n",
    "for each in *.tif; do\n",
    "  rename $each\n",
    "done\n",
    "```\n",
    title="Naming Files",
)
OUTLINE = source(
    PHOTOS,
    f"Course: {PHOTOS}\n",
    "Instructor: Ines Duarte-Vale\n",
    "Lesson 0: Introduction\n",
    "Lesson 1: Scanning Negatives\n",
    "Link of lesson 1: https://example.org/1\n",
    "Lesson 2: Naming Files\n",
    "Lesson 3: Keyword Search\n",
    title=PHOTOS,
)
LIST = source(
    "All courses",
    "Courses: 2, with 6 lessons\n",
    "Course: Tea. Lessons: 4 (0 to 3). Instructor: Ann One. Link: https://example.org/t\n",
    "Course: Rum. Lessons: 2\n",
)
ASKED = "When is dust brushed off?"
DESCRIBED = "Which lesson comes after the one on dust?"


def reply(question: str, *sources: Json, **more: Any) -> Draft:
    return drafted(question, *sources, **({"catalogue": CATALOGUE} | more))


def searched(*facts: int, **place: Any) -> Attempt:
    return attempt(query="dust", facts=facts, **place)


def outlined(*facts: int) -> Attempt:
    return attempt(tool="get_course_outline", course_name=PHOTOS, facts=facts)


def test_an_answer_is_the_window_below_its_source_with_the_key_sentence_in_bold() -> (
    None
):
    draft = reply(ASKED, DUST)

    assert text(draft.blocks) == (
        f"{PHOTOS}, Lesson 1, Scanning Negatives: "
        "Scans are slow. **Dust is brushed off first.** Scratches stay."
    )
    assert cited(draft.blocks) == [ONE] * 3


def test_a_sentence_with_stars_of_its_own_or_alone_is_not_marked() -> None:
    stars = source(ONE, "Scans are slow. ", "Dust is *brushed* off first.")
    alone = source(ONE, "Dust is brushed off first.")

    assert "**" not in text(reply(ASKED, stars).blocks)
    assert "**" not in text(reply(ASKED, alone).blocks)


@pytest.mark.parametrize(
    ("question", "cosine", "stop_reason"),
    [
        (ASKED, 0.8, ""),
        ("When is glass brushed off?", 0.3, LOOSE_FIT),
        ("When is glass brushed off?", 0.0, CLOSEST_FOUND),
        ("Which chemical is brushed off first?", 0.9, PART_MISSING),
        ("Which chemical is brushed off first?", 0.0, CLOSEST_FOUND),
    ],
)
def test_how_sure_an_answer_is_stands_in_the_stop_reason(
    question: str, cosine: float, stop_reason: str
) -> None:
    measures = Measures(likeness=all_alike(cosine))

    draft = reply(question, DUST, measures=measures)

    assert draft.stop_reason == stop_reason
    assert text(draft.blocks).startswith(CLOSEST) == (stop_reason == CLOSEST_FOUND)
    assert cited(draft.blocks)


def test_code_keeps_its_lines_and_nothing_in_it_is_marked() -> None:
    draft = reply("How does the script rename each?", SCRIPT)

    shown = text(draft.blocks)
    assert "```\nfor each in *.tif; do\n  rename $each\ndone\n```" in shown
    assert "**" not in shown[shown.index("```") :]


def test_prose_behind_the_end_of_some_code_is_no_code() -> None:
    cut = source(
        TWO,
        "  echo done\n",
        "```\n",
        "That said, the queue of the kiln is usually fired twice in every week. ",
        "- It cools for a day before anybody may open the heavy door.\n",
    )

    shown = text(reply("How often is the kiln fired in a week?", cut).blocks)

    assert "fired twice in every week" in shown.rpartition("```")[2]


def test_signs_are_found_with_the_mark_that_ends_the_question_or_without() -> None:
    other = source(TWO, "A number may be added to another. ", "It is written so: i++\n")

    assert "**It is written so: i++**" in text(reply("and ++?", other).blocks)


def test_by_words_alone_nothing_is_called_found() -> None:
    exact = source(TWO, "The kiln is fired twice a week. ", "It cools for a day.")

    draft = reply("How often is the kiln fired a week?", exact)

    assert draft.stop_reason == LOOSE_FIT


def test_code_that_is_cut_off_gets_its_fences() -> None:
    lines = [f"  step {at:02} && echo moved the file away\n" for at in range(40)]
    lines[20] = "  rename $each && echo renamed\n"
    long = source(TWO, "```\n", *lines, "```\n")

    shown = text(reply("What does rename $each do?", long).blocks)

    assert "  rename $each && echo renamed\n" in shown
    assert len(shown) < 800
    assert shown.count("```") == 2
    assert shown.endswith("\n```")


@pytest.mark.parametrize(
    ("attempts", "said", "stop_reason"),
    [
        ((), NO_CALL, NOT_SEARCHED),
        ((attempt(query="x", outcome="failed"),), ALL_FAILED, NOT_SEARCHED),
        ((attempt(query="x", outcome="nothing"),), NO_MATCH, NOTHING_FOUND),
        (
            (
                attempt(
                    course_name="Tea",
                    outcome="failed",
                    detail="No course named Tea. There are two.",
                ),
            ),
            "No course named Tea. There are two.",
            NOTHING_FOUND,
        ),
    ],
)
def test_without_any_source_it_is_said_why_there_is_no_answer(
    attempts: tuple[Attempt, ...], said: str, stop_reason: str
) -> None:
    draft = reply("What is dust?", attempts=attempts)

    assert (text(draft.blocks), draft.stop_reason) == (said, stop_reason)


def test_passages_without_a_sentence_are_nothing_found() -> None:
    assert reply("What is dust?", source(ONE)).stop_reason == NOTHING_FOUND


def test_what_is_found_at_the_place_that_is_named_comes_first() -> None:
    other = source(f"{BEES} - Lesson 1", "Dust is brushed off a bee.")
    place = searched(2, course_name=PHOTOS)

    anywhere = reply(ASKED, other, DUST, attempts=(searched(1),))
    there = reply(ASKED, other, DUST, attempts=(place, searched(1)))

    assert cited(anywhere.blocks)[0] == f"{BEES} - Lesson 1"
    assert cited(there.blocks)[0] == ONE


def test_a_lesson_as_a_whole_is_named_by_its_outline_and_then_shown() -> None:
    done = (outlined(1), searched(2, course_name=PHOTOS, lesson_number=1))

    draft = reply(f"What is in lesson 1 of {PHOTOS}?", OUTLINE, DUST, attempts=done)

    assert cited(draft.blocks)[:2] == [PHOTOS, ONE]
    assert text(draft.blocks).startswith(
        f"Lesson 1 of {PHOTOS} is \u201cScanning Negatives\u201d.\n\n"
    )


def test_what_was_found_is_stated_by_the_catalogue_and_its_passage_is_shown() -> None:
    question = "Who teaches the course in which dust is brushed?"

    draft = reply(question, DUST, OUTLINE, attempts=(searched(1), outlined(2)))

    assert text(draft.blocks).startswith(
        f"{PHOTOS} is taught by Ines Duarte-Vale.\n\n{PHOTOS}, Lesson 1"
    )
    assert cited(draft.blocks)[:2] == [PHOTOS, ONE]


def test_lessons_that_have_what_is_looked_for_in_their_title_are_listed() -> None:
    done = (searched(1), outlined(2))

    draft = reply("Which lessons cover negatives?", DUST, OUTLINE, attempts=done)

    assert text(draft.blocks).startswith(
        f"Lesson 1 of {PHOTOS} is \u201cScanning Negatives\u201d."
    )
    assert cited(draft.blocks)[0] == PHOTOS


def test_the_lesson_that_speaks_of_something_is_named_and_cited_before_it_is_quoted() -> (
    None
):
    draft = reply(
        "In which lesson is dust explained?",
        DUST,
        OUTLINE,
        attempts=(searched(1), outlined(2)),
    )

    assert text(draft.blocks).startswith(
        f"Lesson 1 of {PHOTOS} is \u201cScanning Negatives\u201d.\n\n{PHOTOS}, Lesson 1"
    )
    assert cited(draft.blocks)[:2] == [PHOTOS, ONE]


def test_no_lesson_is_named_for_what_is_said_outside_lessons() -> None:
    outside = source(PHOTOS, "Dust is brushed off first.")

    draft = reply(
        "In which lesson is dust explained?",
        outside,
        OUTLINE,
        attempts=(searched(1), outlined(2)),
    )

    assert "Lesson 1 of" not in text(draft.blocks)
    assert cited(draft.blocks)[0] == PHOTOS


def test_the_lesson_beside_one_that_is_described_is_named_and_shown_first() -> None:
    done = (searched(1), outlined(2), searched(3, course_name=PHOTOS, lesson_number=2))

    draft = reply(DESCRIBED, DUST, OUTLINE, SCRIPT, attempts=done)

    assert text(draft.blocks).startswith(
        "The lesson after lesson 1 (\u201cScanning Negatives\u201d) is lesson 2, \u201cNaming Files\u201d."
    )
    assert cited(draft.blocks)[:2] == [PHOTOS, TWO]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (f"Who teaches {PHOTOS}?", f"{PHOTOS} is taught by Ines Duarte-Vale."),
        (f"How many lessons has {PHOTOS}?", f"{PHOTOS} has 4 lessons (lesson 0 to lesson 3)."),
        (f"What is in lesson 9 of {PHOTOS}?", f"{PHOTOS} has no lesson 9: it has 4 lessons (lesson 0 to lesson 3)."),
        (f"Which lesson comes before lesson 1 of {PHOTOS}?",
         "The lesson before lesson 1 (\u201cScanning Negatives\u201d) is lesson 0, \u201cIntroduction\u201d."),
        (f"Which lesson comes after lesson 3 of {PHOTOS}?",
         f"No lesson comes after lesson 3 (\u201cKeyword Search\u201d): "
         f"{PHOTOS} has 4 lessons (lesson 0 to lesson 3)."),
        (f"What is the link to lesson 1 of {PHOTOS}?",
         f"The link to lesson 1 (\u201cScanning Negatives\u201d) of {PHOTOS}: https://example.org/1"),
        (f"What is the link to lesson 2 of {PHOTOS}?",
         f"No link to lesson 2 (\u201cNaming Files\u201d) of {PHOTOS} is given."),
        (f"How long is the course {PHOTOS}?",
         f"How long it takes is not said in the outline of {PHOTOS}. It has 4 lessons."),
        (f"Give me the outline of {PHOTOS}.",
         f"{PHOTOS} is taught by Ines Duarte-Vale. {PHOTOS} has 4 lessons:\n\n- Lesson 0: Introduction\n"
         "- Lesson 1: Scanning Negatives\n- Lesson 2: Naming Files\n- Lesson 3: Keyword Search"),
    ],
)  # fmt: skip
def test_facts_of_the_catalogue_are_cited_from_the_outline(
    question: str, said: str
) -> None:
    draft = reply(question, OUTLINE, attempts=(outlined(1),))

    assert (text(draft.blocks), draft.stop_reason) == (said, "")
    assert set(cited(draft.blocks)) == {PHOTOS}


def test_all_courses_are_listed_with_what_is_known_of_each() -> None:
    listed = attempt(tool="get_course_outline", facts=(1,))

    draft = reply("Which courses are there?", LIST, attempts=(listed,))

    assert text(draft.blocks).strip() == (
        "There are 2 courses, with 6 lessons in all:\n\n"
        "- Tea: 4 lessons, taught by Ann One, https://example.org/t\n"
        "- Rum: 2 lessons"
    )
    assert cited(draft.blocks) == ["All courses"] * 3


def test_a_greeting_is_answered_in_kind() -> None:
    assert text(reply("Hello!").blocks).startswith("Hello. Ask me")
    assert text(reply("thanks", DUST).blocks).startswith("You are welcome.")


def test_a_summary_notes_what_is_likest_the_question_with_its_source() -> None:
    material = (
        Material(source="A", said="Bread rests."),
        Material(source="B", said="Dust is brushed off first."),
        Material(source="C", said=""),
    )

    assert summary(ASKED, material) == [
        {"type": "text", "text": "B: Dust is brushed off first."}
    ]
    assert summary("Quark?", material)[0]["text"] == NOTHING_TO_NOTE


BLOCKS = st.lists(
    st.text(alphabet="dust ab*|`.\n#", min_size=1, max_size=300), max_size=8
)


@given(
    question=st.sampled_from([ASKED, DESCRIBED, "quark?", f"Who teaches {PHOTOS}?"]),
    passages=st.lists(BLOCKS, min_size=1, max_size=4),
    measures=st.sampled_from([WORDS_ALONE, Measures(likeness=all_alike(0.5))]),
)
def test_whatever_the_passages_hold_something_is_said_and_every_citation_is_true(
    question: str, passages: list[list[str]], measures: Measures
) -> None:
    found = [source(ONE, *blocks) for blocks in passages]

    draft = reply(question, *found, measures=measures)

    assert text(draft.blocks).strip()
    assert draft.stop_reason in ("", LOOSE_FIT, CLOSEST_FOUND, PART_MISSING, NOTHING_FOUND)  # fmt: skip
