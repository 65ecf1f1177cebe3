"""A search by several phrasings of one need is one result, no longer than that of a single search."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import msgspec

from antiphon.access.layered_library import LayeredLibrary
from antiphon.dispatcher import course_tools
from antiphon.dispatcher.fusing import fuse, search_phrasings
from antiphon.dispatcher.places import Place
from antiphon.vocabulary.events import ToolFailed, ToolSucceeded
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


def test_what_earlier_rounds_found_is_not_brought_again() -> None:
    known = at(0, 90)
    search = Searched({"rank": [known, at(0, 90, lesson=2)], "order": [known]})

    found = search_phrasings(search, ["rank", "order"], ANYWHERE, (known,))

    assert ids(found) == ["Search-2-0-90"]


def test_text_that_several_searches_rank_comes_before_what_one_ranks_first() -> None:
    first = [at(0, 90, lesson=1), at(0, 90, lesson=2)]
    second = [at(0, 90, lesson=3), at(30, 120, lesson=2)]

    found = fuse([first, second])

    assert ids(found) == ["Search-2-0-90", "Search-1-0-90"]


def test_of_passages_that_overlap_the_best_one_alone_is_kept() -> None:
    first = [at(100, 200), at(0, 90, lesson=2)]
    second = [at(150, 250), at(200, 300, lesson=2), at(0, 90, course="Storage")]

    found = fuse([first, second])

    assert ids(found) == [
        "Search-1-100-200",
        "Search-2-0-90",
        "Search-2-200-300",
    ]


def test_passages_whose_place_is_not_known_are_the_same_only_by_their_ids() -> None:
    one, other = passage("One."), passage("Other.")

    assert ids(fuse([[one], [one]])) == ids([one])
    assert ids(fuse([[one, other], [other]])) == ids([other, one])


def test_a_fused_result_is_no_longer_than_the_longest_that_it_is_made_of() -> None:
    first = [at(0, 100, lesson=number) for number in range(5)]
    second = [at(0, 300, lesson=number) for number in range(10, 12)]

    found = fuse([first, second])

    assert sum(len(each.text.text) for each in found) <= 600
    assert len(found) <= 5
    assert ids(found)[:2] == ["Search-0-0-100", "Search-10-0-300"]


def test_scores_fall_and_the_best_is_of_the_size_of_a_single_searchs() -> None:
    first = [at(0, 90, 5.5), at(0, 90, 4.0, lesson=2)]
    second = [at(0, 90, 4.5), at(0, 90, 3.0, lesson=3)]

    scores = [each.score for each in fuse([first, second])]

    assert scores[0] == 5.5
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0


def test_scores_below_zero_do_not_turn_the_order_round() -> None:
    found = fuse([[at(0, 90, -1.0)], [at(0, 90, -2.0), at(0, 90, -3.0, lesson=2)]])

    assert [each.score for each in found] == [0.0, 0.0]


def test_nothing_found_by_any_phrasing_is_nothing() -> None:
    assert fuse([[], [], []]) == []


async def test_the_tool_searches_by_each_phrasing_once_in_one_run() -> None:
    library = FakeLibrary(passages=(passage("One."), passage("Two.")))

    outcome = await Session(*course_tools(library)).call(
        "search_course_content",
        '{"query": "rank", "queries": ["order by score", "rank", "BM25"]}',
    )

    assert isinstance(outcome, ToolSucceeded)
    assert ids(outcome.passages) == ids(library.passages)
    assert [query for _, query, _, _ in library.asked] == [
        "rank. order by score. BM25",
        "rank",
        "order by score",
        "BM25",
    ]


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


async def test_more_than_four_phrasings_are_refused() -> None:
    more = json.dumps({"query": "a", "queries": ["b", "c", "d", "e"]})

    outcome = await Session(*course_tools(FakeLibrary())).call(
        "search_course_content", more
    )

    assert isinstance(outcome, ToolFailed)
    assert outcome.failure == "invalid_arguments"
    assert "queries: wanted List should have at most 3 items" in outcome.detail


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


def test_fused_passages_are_those_found_but_for_their_scores() -> None:
    found = at(0, 90, 2.0)

    (fused,) = fuse([[found], [found]])

    assert msgspec.structs.replace(fused, score=found.score) == found
