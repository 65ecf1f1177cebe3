"""What of an answer is graded as answered, in part or failed, and which phrases say nothing."""

from __future__ import annotations

from antiphon.cli.judging import READ_CHARS
from antiphon.cli.questions import Place, SampleQuestion
from antiphon.vocabulary.values import Citation
from benchmarks.evaluation.grading import Verdict, common_phrases, grade
from tests.unit.cli.judged import cites, lesson_passage, outcome

LESSON_2 = Place(course="C", lesson=2)
OUTLINE = Place(course="C", lesson=None)


def _question(
    *parts: tuple[str, ...],
    kind: str = "fact",
    answered_by: tuple[Place, ...] = (LESSON_2,),
    absent: tuple[str, ...] = (),
) -> SampleQuestion:
    return SampleQuestion(
        id="q1",
        kind=kind,
        question="Which k1?",
        answered_by=answered_by,
        needed=parts,
        absent=absent,
    )


def _verdict(
    question: SampleQuestion, *citations: Citation, answer: str = "It is 1.2."
) -> Verdict:
    return grade(question, outcome(*citations, answer=answer)).verdict


def test_an_answer_is_right_when_it_holds_a_phrase_of_every_part() -> None:
    question = _question(("1.2", "one point two"), ("0.75",))

    assert _verdict(question, cites(), answer="1.2 and 0.75") == "answered"
    assert _verdict(question, cites(), answer="One point two.") == "in_part"
    assert _verdict(question, cites(text="b"), answer="Neither.") == "failed"


def test_a_cited_lesson_alone_is_no_answer() -> None:
    assert _verdict(_question(), cites()) == "failed"
    assert _verdict(_question(("0.75",)), cites(), answer="It is.") == "failed"


def test_a_phrase_counts_in_the_words_that_are_cited_too() -> None:
    assert _verdict(_question(("k1 is 1.2",)), cites(), answer="That.") == "answered"


def test_a_phrase_that_rests_on_another_lesson_is_no_whole_answer() -> None:
    question = _question(("1.2",))

    assert _verdict(question, cites(lesson=7)) == "in_part"
    assert _verdict(question) == "in_part"
    assert _verdict(question, cites(lesson=None)) == "answered"


def test_a_question_about_a_lesson_is_not_answered_out_of_others() -> None:
    question = _question(("1.2",), kind="lesson")

    assert _verdict(question, cites()) == "answered"
    assert _verdict(question, cites(), cites(lesson=7)) == "in_part"


def test_a_look_up_ends_at_the_right_lesson_and_not_among_several() -> None:
    question = _question(("1.2",), kind="two_step")

    assert _verdict(question, cites(lesson=None), cites()) == "answered"
    assert _verdict(question, cites(lesson=7), cites()) == "in_part"


def test_a_phrase_beyond_what_is_read_does_not_count() -> None:
    whole_lesson = "word " * (READ_CHARS // 5)

    assert (
        _verdict(_question(("1.2",)), cites(text="b"), answer=f"{whole_lesson} 1.2")
        == "failed"
    )
    assert (
        _verdict(_question(("1.2",)), cites(text=f"{whole_lesson} 1.2"), answer="b")
        == "failed"
    )


def test_the_catalogue_is_asked_for_exact_words_and_for_nothing_beside_them() -> None:
    question = _question(
        ("Logs",), kind="catalogue", answered_by=(OUTLINE,), absent=("Queues",)
    )

    assert _verdict(question, answer="Lesson 2 is called Logs.") == "answered"
    assert _verdict(question, answer="1: Queues, 2: Logs") == "failed"


def test_small_talk_cites_nothing_and_excuses_nothing() -> None:
    question = _question(("Antiphon",), kind="small_talk", answered_by=())
    excuse = outcome(answer="Antiphon.", confidence="low", doubts=("no_evidence",))

    assert _verdict(question, answer="I am Antiphon.") == "answered"
    assert _verdict(question, cites(), answer="I am Antiphon.") == "in_part"
    assert grade(question, excuse).verdict == "in_part"


def test_the_right_lesson_is_the_one_that_is_cited_first() -> None:
    question = _question(("1.2",))

    def first(*citations: Citation) -> bool | None:
        return grade(question, outcome(*citations)).right_lesson_first

    assert first(cites(), cites(lesson=7)) is True
    assert first(cites(lesson=7), cites()) is False
    assert first(cites(course="D")) is False
    assert first(cites(lesson=None), cites()) is True
    assert first(cites(lesson=None)) is False
    assert first() is False


def test_a_question_about_the_catalogue_asks_for_no_lesson_first() -> None:
    question = _question(("1.2",), kind="catalogue", answered_by=(OUTLINE, LESSON_2))

    assert grade(question, outcome(cites())).right_lesson_first is None


def test_an_unanswerable_question_wants_an_answer_that_says_so() -> None:
    question = SampleQuestion(id="q", kind="unanswerable", question="Q?")
    said = outcome(answer="Nothing.", confidence="low", doubts=("no_evidence",))

    assert grade(question, said).verdict == "answered"
    assert grade(question, outcome(cites())).verdict == "failed"


def test_an_answer_that_doubts_and_shows_something_refuses_nothing() -> None:
    question = _question(("1.2",))
    said = "Nothing that answers this was found. "
    shown = outcome(
        cites(start=len(said)), answer=f"{said}k1 is 1.2", confidence="low",
        doubts=("no_evidence",),
    )  # fmt: skip
    bare = outcome(answer=said, confidence="low", doubts=("no_evidence",))

    assert grade(question, shown).says_so
    assert not grade(question, shown).empty
    assert grade(question, bare).empty


def test_phrases_that_half_of_the_lessons_hold_say_nothing() -> None:
    texts = ["It is 1.2.", "It is 3.", "It is.", "Is it?"]
    passages = [lesson_passage(number, text) for number, text in enumerate(texts)]
    question = _question(("it is", "1.2"))

    assert common_phrases([question], passages) == {"it is"}
    assert common_phrases([question], passages[:3]) == frozenset()


def test_a_title_of_the_catalogue_may_stand_in_every_lesson() -> None:
    passages = [lesson_passage(number, "It is.") for number in range(4)]
    question = _question(("it is",), kind="catalogue", answered_by=(OUTLINE,))

    assert common_phrases([question], passages) == frozenset()
