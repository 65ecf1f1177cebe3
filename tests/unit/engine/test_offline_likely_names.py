"""Courses by names that no title holds: of other languages, short forms, other words."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from antiphon.engine.offline.catalogue import Catalogue
from antiphon.engine.offline.intents import understand
from antiphon.engine.offline.likely_names import MOST_TITLES, likely_title
from tests.unit.engine.briefings import CATALOGUE, EVENTS, RELIABILITY, RETRIEVAL

TITLES = (
    "Container Images from Scratch",
    "Databases That Stay Fast",
    "Classical Mechanics: Momentum and Rockets",
    "The Coordination of Teams",
)


def by_db(name: str, texts: Sequence[str]) -> list[float]:
    """An embedder that knows what "db" means, and that finds "things" everywhere."""
    near = {"db": "Databases", "things": "e"}.get(name, "?")
    return [0.6 if near in text else 0.1 for text in texts]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("contenedores", 0),
        ("images conteneurs", 0),
        ("mec\u00e1nica cl\u00e1sica", 2),
        ("m\u00e9canique classique", 2),
        ("cooking", None),
        ("Kochen", None),
        ("f\u00edsica cu\u00e1ntica", None),
        ("", None),
    ],
)
def test_a_name_in_another_language_means_the_title_of_like_words(
    name: str, title: int | None
) -> None:
    assert likely_title(name, TITLES, None) == title


@pytest.mark.parametrize(("name", "title"), [("db", 1), ("things", None), ("zz", None)])
def test_a_short_form_means_what_it_is_alone_near_to(
    name: str, title: int | None
) -> None:
    assert likely_title(name, TITLES, by_db) == title


def test_of_many_courses_none_is_guessed() -> None:
    many = [f"Course {at}" for at in range(MOST_TITLES)]

    assert likely_title("contenedores", [*many, TITLES[0]], None) is None


@pytest.mark.parametrize(
    ("question", "course", "lesson"),
    [
        ("\u00bfQui\u00e9n ense\u00f1a el curso de eventos?", EVENTS, None),
        ("Quelle est la premi\u00e8re le\u00e7on du cours sur la fiabilit\u00e9 ?", RELIABILITY, 1),
        ("Dozent von Lektion 2 im Zuverl\u00e4ssigkeitskurs?", RELIABILITY, 2),
        ("Wie hei\u00dft die vorletzte Lektion im Kurs Practical Information Retrieval?", RETRIEVAL, 2),
        ("what is the second one in the reliability course called", RELIABILITY, 2),
        ("lesson number of circuit breakers", RELIABILITY, 2),
        ("whats the third lesson from the end in the events course", EVENTS, 1),
        ("who teaches lesson 2 in the reliability one", RELIABILITY, 2),
    ],
)  # fmt: skip
def test_courses_and_lessons_are_known_by_what_strangers_call_them(
    question: str, course: str, lesson: int | None
) -> None:
    inquiry = understand(question, (), CATALOGUE)

    assert (inquiry.course, inquiry.lesson) == (course, lesson)


def test_a_fragment_begins_with_the_name_of_its_course() -> None:
    catalogue = Catalogue(CATALOGUE.courses, by_sre)

    inquiry = understand("SRE stuff course lecturer", (), catalogue)

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)


def by_sre(name: str, texts: Sequence[str]) -> list[float]:
    return [0.5 if "SRE" in name and "Reliab" in text else 0.1 for text in texts]
