"""Course names by letters; names by meaning are tests/integration/test_knowledge_course_names.py's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from antiphon.knowledge.resolving import CourseTitles

TITLES = (
    "MCP: Build Rich-Context Apps",
    "Advanced Retrieval with Chroma",
    "Reliable Services",
    "Reliable Networks",
)


def unasked(name: str) -> Sequence[float]:
    return [0.0, 0.0]


def slightly(name: str) -> Sequence[float]:
    return [0.1, 0.0]


def resolve(name: str) -> str | None:
    vectors = {title: np.zeros(2, dtype=np.float32) for title in TITLES}
    return CourseTitles(vectors).resolve(name, unasked).title


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("reliable SERVICES", "Reliable Services"),
        ("  Reliable   Services ", "Reliable Services"),
        ("MCP", "MCP: Build Rich-Context Apps"),
        ("the retrieval course", "Advanced Retrieval with Chroma"),
        ("Advnced Retreival", "Advanced Retrieval with Chroma"),
        ("retreival", "Advanced Retrieval with Chroma"),
        ("rich context apps", "MCP: Build Rich-Context Apps"),
    ],
)
def test_a_part_or_a_misspelling_means_the_course(name: str, title: str) -> None:
    assert resolve(name) == title


@pytest.mark.parametrize(
    "name", ["reliable", "research", "Advanced Cooking", "", "   ", "?!", "the course"]
)
def test_a_name_that_fits_two_courses_or_none_means_none(name: str) -> None:
    assert resolve(name) is None


def test_the_name_of_an_instructor_of_one_course_means_it() -> None:
    vectors = {title: np.zeros(2, dtype=np.float32) for title in TITLES}
    titles = CourseTitles(
        vectors,
        {
            "Reliable Services": "Ada Byron",
            "Reliable Networks": "Grace Hopper",
            "Advanced Retrieval with Chroma": "Grace Hopper",
            "MCP: Build Rich-Context Apps": "",
        },
    )

    assert titles.resolve("Ada", unasked).title == "Reliable Services"
    assert titles.resolve("Ada Byron's course", unasked).title == "Reliable Services"
    assert titles.resolve("Ada Lovelace", unasked).title is None
    assert titles.resolve("Grace Hopper", unasked).title is None
    assert titles.resolve("the", unasked).title is None


def test_the_nearest_titles_are_named() -> None:
    vectors = {
        title: np.array([n, 0.0], dtype=np.float32) for n, title in enumerate(TITLES)
    }

    match = CourseTitles(vectors).resolve("Cooking", slightly)

    assert match.title is None
    assert match.nearest == (
        "Reliable Networks",
        "Reliable Services",
        "Advanced Retrieval with Chroma",
    )


def test_no_courses_is_no_match() -> None:
    assert CourseTitles({}).resolve("anything", unasked).nearest == ()


EDITIONS = (
    "Harbour School: 2019 Lectures",
    "Harbour School: 2020 Lectures",
    "MIT 18.06, Spring 2025 Linear Algebra",
    "Ropes for Sailors (2e)",
    "Ropes with Python",
)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Harbour School 2020", EDITIONS[1]),
        ("the 2019 harbour school", EDITIONS[0]),
        ("MIT 18.06", EDITIONS[2]),
        ("ropes for sailors 2nd edition", EDITIONS[3]),
        # Another year, another number, or a name that several have.
        ("Harbour School 2021", None),
        ("MIT 18.05", None),
        ("MIT 8.06", None),
        ("Harbour School", None),
        ("ropes", None),
    ],
)
def test_numbers_of_a_name_are_those_of_the_title_and_a_shared_name_means_none(
    name: str, title: str | None
) -> None:
    # By meaning each is as near as can be: what the numbers rule out is not taken for it.
    near = [[0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    vectors = dict(zip(EDITIONS, np.array(near, dtype=np.float32), strict=True))

    found = CourseTitles(vectors).resolve(name, lambda _: [1.0, 0.0])

    assert found.title == title
    assert len(found.nearest) == 3
