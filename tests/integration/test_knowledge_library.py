"""The library that the service reads, on a real index with a small embedder."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from math import log
from pathlib import Path

import pytest

from antiphon.knowledge import Course, Lesson, Library, LibraryState, index_paths
from antiphon.language.commonness import rarity_in_english
from antiphon.language.words import stem
from antiphon.vocabulary.errors import KnowledgeError
from antiphon.vocabulary.values import Passage
from tests.course_files import write_course
from tests.fakes_knowledge import HashingEmbedder

APPLE = "The Apple Course"

Search = Callable[..., list[Passage]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    write_course(folder / "courses", "apple", lessons=4)
    write_course(folder / "courses", "pear", lessons=3)
    (folder / "courses/notes.md").write_text(
        "Plain notes about gravity. They have no lessons."
    )
    index_paths([folder / "courses"], folder / "data", HashingEmbedder())
    return folder


@pytest.fixture
def library(folder: Path) -> Iterator[Library]:
    library = Library.open(folder / "data", HashingEmbedder())
    yield library
    library.close()


@pytest.fixture(params=["search", "keyword_search"])
def search(library: Library, request: pytest.FixtureRequest) -> Search:
    return {"search": library.search, "keyword_search": library.keyword_search}[
        request.param
    ]


def test_the_passage_that_speaks_of_it_comes_first(search: Search) -> None:
    best = search("What is applemailbox7?")[0]

    assert "applemailbox7" in best.text.text
    assert (best.course, best.lesson, best.title) == (APPLE, 1, "About mailbox")
    assert (best.source, best.link) == (
        f"{APPLE} - Lesson 1",
        "https://example.org/apple/1",
    )


def test_a_passage_outside_lessons_is_named_after_its_course(search: Search) -> None:
    best = search("gravity")[0]

    assert (best.source, best.course, best.lesson, best.title, best.link) == (
        "notes",
        "notes",
        None,
        None,
        None,
    )


def test_sentences_of_a_passage_are_whole(search: Search) -> None:
    best = search("applemailbox7")[0]

    sentences = [best.sentence(n) for n in range(len(best.starts))]
    assert "".join(sentences) == best.text.text
    assert all(sentence.rstrip().endswith(".") for sentence in sentences)


def test_course_and_lesson_bound_the_search(search: Search) -> None:
    assert {
        one.course for one in search("ranking and mailbox", course=APPLE, limit=50)
    } == {APPLE}
    assert {
        one.lesson for one in search("ranking and mailbox", lesson=1, limit=50)
    } == {1}
    assert {
        (one.course, one.lesson) for one in search("mailbox", course=APPLE, lesson=1)
    } == {(APPLE, 1)}
    assert search("mailbox", course="No Such Course") == []
    assert search("mailbox", lesson=99) == []


def test_the_limit_holds_and_scores_fall(search: Search) -> None:
    found = search("the apple uses a mailbox", limit=4)

    assert len(found) == 4
    assert [one.score for one in found] == sorted(
        (one.score for one in found), reverse=True
    )
    assert search("apple", limit=0) == []


def test_the_same_passage_has_the_same_id_in_every_search(search: Search) -> None:
    by_text: dict[str, set[str]] = {}
    for query in ("applemailbox7", "pear applemailbox7", "mailbox in case 7"):
        for one in search(query, course=APPLE, lesson=1):
            by_text.setdefault(one.text.text, set()).add(one.id)

    assert by_text
    assert all(len(ids) == 1 for ids in by_text.values())


def test_a_search_does_not_return_what_is_already_known(search: Search) -> None:
    known = search("the apple uses a mailbox")

    more = search("the apple uses a mailbox", known=known)

    assert more
    for one in more:
        for other in known:
            assert not _overlap(one, other)


def _overlap(one: Passage, other: Passage) -> bool:
    if (one.course, one.lesson) != (other.course, other.lesson):
        return False
    assert one.start is not None
    assert other.start is not None
    return one.start < other.start + len(
        other.text.text
    ) and other.start < one.start + len(one.text.text)


def test_a_passage_says_why_it_was_found(search: Search) -> None:
    best = search("What is applemailbox7?")[0]

    assert best.signals is not None
    assert best.signals.words > 3.0
    assert best.signals.matched == ("applemailbox7",)


def test_passages_keep_to_the_budget_of_characters(search: Search) -> None:
    found = search("the apple uses a mailbox", characters=500)

    assert 0 < sum(len(one.text.text) for one in found) <= 500


def test_sentences_of_the_library_are_like_a_question_without_being_embedded(
    folder: Path,
) -> None:
    embedder = HashingEmbedder()
    library = Library.open(folder / "data", embedder)

    likeness = library.likeness(
        "Is it called applemailbox7?",
        ["It is called applemailbox7.", "It is called applemailbox8. "],
    )
    library.close()

    assert likeness[0] > likeness[1]
    assert embedder.embedded == ["Is it called applemailbox7?"]


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        "the of and",
        '"',
        "* OR NEAR(a, b)",
        "a AND NOT b^2 {c}: -d",
        "\0",
        "x" * 100_000,
        "mailbox " * 20_000,
    ],
)
def test_no_question_breaks_the_search(search: Search, query: str) -> None:
    assert isinstance(search(query), list)


def test_words_that_nothing_shares_find_nothing_by_words(library: Library) -> None:
    assert library.keyword_search("zeppelin") == []


def test_the_outline_names_lessons_and_links(library: Library) -> None:
    outline = library.outline("the APPLE course")

    assert outline is not None
    assert (outline.title, outline.link, outline.instructor) == (
        APPLE,
        "https://example.org/apple",
        None,
    )
    assert outline.lessons[1] == Lesson(
        number=1, title="About mailbox", link="https://example.org/apple/1"
    )
    assert outline.chunks > 4
    assert library.outline("Pomegranates") is None


def test_courses_come_by_title(library: Library) -> None:
    assert [course.title for course in library.courses()] == [
        "notes",
        APPLE,
        "The Pear Course",
    ]
    assert library.courses()[0] == Course(
        title="notes",
        link=None,
        instructor=None,
        lessons=(),
        chunks=1,
        language="en",
    )


def test_a_course_is_known_by_a_part_of_its_name(library: Library) -> None:
    assert library.resolve_course("apples").title == APPLE
    assert library.resolve_course("gardening").title is None


def test_rare_terms_weigh_more(library: Library) -> None:
    chunks = library.describe().chunks

    gravity = log((chunks + 1) / 1.5) * rarity_in_english(stem("gravity"))
    assert library.weight(stem("gravity")) == pytest.approx(gravity)
    assert (
        library.weight("zeppelin")
        > library.weight(stem("gravity"))
        > library.weight(stem("mailbox"))
    )


def test_the_library_describes_the_index_that_is_open(
    library: Library, folder: Path
) -> None:
    state = library.describe()

    assert (state.generation, state.embedder, state.documents) == (1, "hashing", 3)
    assert state.chunks == sum(course.chunks for course in library.courses())


def test_an_index_that_is_not_there_is_an_empty_library(tmp_path: Path) -> None:
    library = Library.open(tmp_path / "none", HashingEmbedder())

    assert library.describe() == LibraryState(
        generation=0, embedder=None, documents=0, chunks=0
    )
    assert (library.courses(), library.search("x"), library.keyword_search("x")) == (
        (),
        [],
        [],
    )
    assert library.resolve_course("x").title is None
    assert library.weight("x") > 0
    assert not library.refresh()
    assert not (tmp_path / "none").exists()


def test_the_error_names_a_data_folder_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")

    with pytest.raises(KnowledgeError, match="cannot be read"):
        Library.open(tmp_path / "data", HashingEmbedder())


def test_many_threads_search_at_once(library: Library) -> None:
    queries = [f"applemailbox{n} or pearranking{n}" for n in range(30)]
    alone = [library.search(query) for query in queries]

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(library.search, queries * 3))

    assert together == alone * 3


def test_a_search_under_way_ends_on_the_generation_it_began_on(tmp_path: Path) -> None:
    write_course(tmp_path / "courses", "apple")
    index_paths([tmp_path / "courses"], tmp_path / "data", HashingEmbedder())
    begun, switched = threading.Event(), threading.Event()

    def hold(texts: object) -> None:
        begun.set()
        assert switched.wait(20)

    library = Library.open(tmp_path / "data", HashingEmbedder(before=hold))
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(library.search, "appleranking7")
        assert begun.wait(20)
        write_course(tmp_path / "courses", "pear")
        for _ in range(2):
            index_paths([tmp_path / "courses"], tmp_path / "data", HashingEmbedder())
        refreshed = library.refresh()
        switched.set()

        assert refreshed
        assert "appleranking7" in under_way.result(20)[0].text.text
    assert library.search("pearranking7")[0].course == "The Pear Course"
    library.close()


def test_a_closed_library_is_empty(folder: Path) -> None:
    library = Library.open(folder / "data", HashingEmbedder())

    library.close()

    assert library.search("apple") == []


def test_a_lesson_is_read_from_its_beginning_and_to_its_end(library: Library) -> None:
    whole = library.search("About mailbox", APPLE, 1, limit=20, characters=100_000)
    starts = [each.start for each in whole if each.start is not None]
    ends = [
        each.start + len(each.text.text) for each in whole if each.start is not None
    ]

    (beginning,) = library.lesson_part(APPLE, 1, "beginning")
    (end,) = library.lesson_part(APPLE, 1, "end")

    assert beginning.start == min(starts)
    assert end.start is not None
    assert end.start + len(end.text.text) == max(ends)
    assert (end.course, end.lesson, end.kind) == (APPLE, 1, "text")


def test_no_part_of_a_missing_lesson_is_read(library: Library) -> None:
    assert library.lesson_part(APPLE, 99, "end") == []
