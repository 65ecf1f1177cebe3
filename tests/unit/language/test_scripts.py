"""Questions to a catalogue in other scripts, read in English."""

from __future__ import annotations

import pytest

from antiphon.engine.offline.asked import Inquiry, understand
from antiphon.engine.offline.known import Course, Lesson
from antiphon.engine.offline.names import Catalogue
from antiphon.language.scripts import CHINESE, JAPANESE, RUSSIAN, Script

BEES = "Bees Through the Year"
LESSONS = (Lesson(1, "Swarms"), Lesson(2, "Honey"), Lesson(12, "Winter"))
CATALOGUE = Catalogue((Course(BEES, ("Will Amsel",), LESSONS),))


def read(question: str, catalogue: Catalogue = CATALOGUE) -> Inquiry:
    return understand(question, (), catalogue)


@pytest.mark.parametrize(
    ("question", "lesson"),
    [
        (f"请概括一下 {BEES} 的第2课讲了什么", 2),
        (f"{BEES} 第十二课的内容是什么?", 12),
        (f"レッスン2 {BEES} の内容は?", 2),
        (f"Чему посвящён урок 2 курса {BEES}?", 2),
    ],
)
def test_a_lesson_is_asked_about_in_other_scripts(question: str, lesson: int) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course) == ("lesson", CATALOGUE.course(BEES))
    assert inquiry.lesson == lesson
    assert inquiry.topic == ()


@pytest.mark.parametrize(
    ("script", "question"),
    [
        (CHINESE, "什么是 propolis?"),
        (JAPANESE, "propolis とは?"),
        (RUSSIAN, "Зачем нужен прополис?"),
    ],
)
def test_what_asks_nothing_of_a_catalogue_stays_as_it_is(
    script: Script, question: str
) -> None:
    assert script.in_english(question) == question
