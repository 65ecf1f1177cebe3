"""The texts of the courses: a citation or a search leads to the exact words in their document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import httpx2
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import (
    WIDE,
    OpenPage,
    Server,
    serving,
    violations,
    without_traces,
)
from tests.browser.on_screen import hidden_parts
from tests.browser.test_views import overflowing

PHONE = {"width": 360, "height": 740}
FILLER = "\n\n".join(
    f"Paragraph {n} tells of the sea and its boats." for n in range(300)
)
TIDES = f"""Course Title: Tides and the Moon
Lesson 1: Spring tides
{FILLER}

A spring tide is a tide of the greatest range. It comes with the new moon and the full moon.

{FILLER}
"""

# The document holds these words twice; the citation means the second place.
NEAP = "A neap tide is the least of all tides, said Lemuel Gulliver of Redriff."
NEAPS = f"""Course Title: Neap tides
Lesson 1: What it is not
{FILLER}

{NEAP} Nobody believed him.

{FILLER}

{NEAP} The half moon brings it.
"""


@pytest.fixture(scope="module")
def neaps(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service with a long course that contains the same sentence twice."""
    folder = tmp_path_factory.mktemp("neaps")
    with serving(without_traces(data_dir, folder), folder) as running:
        files = {"files": ("neaps.txt", NEAPS.encode())}
        begun = httpx2.post(f"{running.url}/api/documents", files=files, timeout=60)
        with httpx2.stream(
            "GET",
            f"{running.url}{begun.headers['location']}",
            headers={"Accept": "text/event-stream"},
            timeout=90,
        ) as job:
            assert '"done"' in job.read().decode()
        yield running


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_lineage_and_retrieval_lead_to_the_passage_in_its_document(
    size: dict[str, int], neaps: Server, open_page: OpenPage
) -> None:
    question = {"query": "What does the half moon bring in a neap tide?"}
    answer = httpx2.post(f"{neaps.url}/api/query", json=question, timeout=60).json()
    lineage = f"{neaps.url}/api/traces/{answer['query_id']}/lineage"
    sentences = httpx2.get(lineage).json()["sentences"]
    number, origin = next(
        (number, origin)
        for number, sentence in enumerate(sentences, start=1)
        for origin in sentence["origins"]
        if "Gulliver" in origin["cited_text"] or "half moon" in origin["cited_text"]
    )
    page = open_page(neaps, viewport=size).open(
        f"/traces/{answer['query_id']}/lineage/{number}"
    )
    marks = page.locator(".reader mark")

    page.locator(".path-step").get_by_role("link", name=origin["source"]).first.click()

    expect(marks.first).to_be_in_viewport()
    assert hidden_parts(marks.first) == []
    cited = " ".join(origin["cited_text"].split())
    assert " ".join(" ".join(marks.all_inner_texts()).split()) == cited
    # Of the two places the cited one is the last paragraph.
    paragraph = page.locator(".reader p", has=page.locator("mark")).last
    expect(paragraph).to_contain_text("The half moon brings it.")
    page.go_back()
    page.get_by_role("link", name="Retrieval").click()
    passage = page.locator(".passage", has_text="The half moon brings it.").first
    words = " ".join(passage.locator(".passage-words").inner_text().split())
    passage.get_by_role("link", name="Neap tides").click()
    expect(marks.first).to_be_in_viewport()
    assert hidden_parts(marks.first) == []
    assert " ".join(" ".join(marks.all_inner_texts()).split()) == words
    assert overflowing(page) == []


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_citation_of_an_uploaded_file_leads_to_its_words(
    size: dict[str, int], data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    file = tmp_path / "tides.txt"
    file.write_text(TIDES)
    with serving(without_traces(data_dir, tmp_path), tmp_path) as server:
        watched = open_page(server, viewport=size)
        page = watched.open()
        page.locator(".composer input[type=file]").set_input_files([file])
        files = page.get_by_label("Documents", exact=True)
        expect(files).to_contain_text(
            "Ready for questions: 1 document.", timeout=90_000
        )
        watched.ask("What is a spring tide?")
        mark = page.locator(".mark").first
        expect(mark).to_be_visible()

        mark.hover()
        card = page.get_by_role("tooltip")
        expect(card).to_contain_text("Opens the text at these words")
        words = " ".join(card.locator("mark").all_inner_texts()).split()
        mark.click()

        expect(
            page.get_by_role("heading", name="Lesson 1: Spring tides")
        ).to_be_attached()
        cited = page.locator("mark").first
        expect(cited).to_be_in_viewport()
        assert " ".join(page.locator("mark").all_inner_texts()).split() == words
        assert hidden_parts(cited) == []
        expect(page.get_by_role("tooltip")).to_have_count(0)
        expect(page).to_have_title("Spring tides · Antiphon")
        assert overflowing(page) == []
        assert violations(page) == []
        page.go_back()
        page.get_by_label("Sources").get_by_role("link", name="Read").click()
        expect(cited).to_be_in_viewport()


def test_the_reader_marks_a_place_by_its_characters_and_says_when_words_are_gone(
    server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server)
    where = {"course": "The Apple Course", "lesson": 1}
    page = watched.open("/read?" + urlencode(where | {"start": 4, "length": 30}))
    text = page.locator(".reader .passage-text")
    expect(text).to_be_visible()
    assert len("".join(page.locator("mark").all_inner_texts())) in range(25, 31)

    watched.open("/read?" + urlencode(where | {"words": "never written"}))
    expect(page.get_by_text("The cited words are not in the text")).to_be_visible()

    watched.expected.append("Failed to load resource")
    watched.open("/read?course=Nowhere")
    expect(
        page.get_by_role("heading", name="This text cannot be shown")
    ).to_be_visible()


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_search_shows_passages_with_scores_and_reasons_and_leads_to_them(
    size: dict[str, int], server: Server, open_page: OpenPage
) -> None:
    page = open_page(server, viewport=size).open("/search")

    page.get_by_label("Search the courses").fill("applemailbox2")
    page.keyboard.press("Enter")

    first = page.locator(".result").first
    expect(first).to_contain_text("applemailbox2")
    expect(first.locator(".result-why")).to_contain_text("Score")
    expect(first.locator(".result-why")).to_contain_text("shared: applemailbox2")
    assert hidden_parts(first.locator("h2")) == []
    assert overflowing(page) == []
    assert violations(page) == []
    page.reload()
    expect(first).to_contain_text("applemailbox2")
    first.get_by_role("link").click()
    expect(page.locator("mark").first).to_be_in_viewport()
    page.go_back()
    expect(first).to_contain_text("applemailbox2")
