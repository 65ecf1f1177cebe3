"""A search by several phrasings of one need is one result, no longer than that of a single search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from antiphon.access.layered_library import LayeredLibrary
from antiphon.dispatcher import course_tools
from antiphon.dispatcher.fusing import fuse, search_phrasings
from antiphon.dispatcher.places import Place
from antiphon.vocabulary.events import ToolSucceeded
from antiphon.vocabulary.values import Passage, StoredText
from tests.unit.dispatcher.fakes import FakeCourse, FakeLibrary, Session, passage

ANYWHERE = Place(None, None)


def at(
    start: int, end: int, score: float = 1.0, lesson: int = 1, course: str = "Search"
) -> Passage:
    """The text of a lesson from one character to another."""
    return Passage(
        id=f"{course}-{lesson}-{start}-{end}",
        source=course,
        course=course,
        lesson=lesson,
        start=start,
        text=StoredText("x" * (end - start)),
        score=score,
    )


def ids(passages: Sequence[Passage]) -> list[str]:
    return [passage.id for passage in passages]


class Searched:
    """A search that knows what each query finds, and notes what it was asked."""

    def __init__(self, found: Mapping[str, list[Passage]]) -> None:
        self._found = found
        self.asked: list[str] = []

    def __call__(
        self,
        query: str,
        course: str | None,
        lesson: int | None,
        *,
        known: Sequence[Passage] = (),
    ) -> list[Passage]:
        self.asked.append(query)
        found = self._found.get(query, [])
        return [passage for passage in found if passage not in known]


def test_one_phrasing_finds_exactly_what_it_finds_alone() -> None:
    found = [at(0, 90, 3.2), at(40, 200, 1.1), at(0, 50, -0.4, lesson=2)]
    search = Searched({"rank": found})

    assert search_phrasings(search, ["rank"], ANYWHERE, ()) == found
    assert search.asked == ["rank"]


def test_several_phrasings_are_searched_each_and_all_together() -> None:
    search = Searched({"rank": [at(0, 90)]})

    found = search_phrasings(search, ["rank", "order by score"], ANYWHERE, ())

    assert ids(found) == ["Search-1-0-90"]
    assert search.asked == ["rank. order by score", "rank", "order by score"]


def test_a_fused_result_is_no_longer_than_the_longest_that_it_is_made_of() -> None:
    first = [at(0, 100, lesson=number) for number in range(5)]
    second = [at(0, 300, lesson=number) for number in range(10, 12)]

    found = fuse([first, second])

    assert sum(len(each.text.text) for each in found) <= 600
    assert len(found) <= 5
    assert ids(found)[:2] == ["Search-0-0-100", "Search-10-0-300"]


def test_nothing_found_by_any_phrasing_is_nothing() -> None:
    assert fuse([[], [], []]) == []


async def test_words_alone_stand_in_with_all_phrasings() -> None:
    library = FakeLibrary(passages=(passage("One."),), broken=True)

    outcome = await Session(*course_tools(library)).call(
        "search_course_content", '{"query": "rank", "queries": "BM25"}'
    )

    assert isinstance(outcome, ToolSucceeded)
    assert outcome.name == "keyword_search"
    assert [(how, query) for how, query, _, _ in library.asked] == [
        ("keyword_search", "rank. BM25"),
        ("keyword_search", "rank"),
        ("keyword_search", "BM25"),
    ]


async def test_a_tenants_own_courses_and_the_shared_ones_are_fused() -> None:
    own = FakeLibrary((FakeCourse("Own"),), (at(0, 90, 1.0, course="Own"),))
    shared = FakeLibrary((FakeCourse("Search"),), (at(0, 90, 9.0), at(90, 180, 8.0)))
    library = LayeredLibrary(own, shared)  # type: ignore[arg-type]  # no more of a library is used

    outcome = await Session(*course_tools(library)).call(
        "search_course_content", '{"query": "rank", "queries": ["order by score"]}'
    )

    assert isinstance(outcome, ToolSucceeded)
    assert [(each.course, each.start) for each in outcome.passages] == [
        ("Own", 0),
        ("Search", 0),
        ("Search", 90),
    ]
    assert [each.score for each in outcome.passages] == sorted(
        [each.score for each in outcome.passages], reverse=True
    )
