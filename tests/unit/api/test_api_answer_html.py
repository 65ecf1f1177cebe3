"""An answer as HTML: Markdown and marks of citations, and nothing else that whoever wrote it might wish for."""

from __future__ import annotations

import re
import time

import pytest

from antiphon.api.answer_html import ELEMENTS, answer_html
from antiphon.vocabulary.values import Citation
from tests.unit.api.calling import Browser, app_of, events_in
from tests.unit.api.fakes import FakeService

SOURCES = ["Search - Lesson 1", "Search - Lesson 2"]


def citing(answer: str, *cited: tuple[str, str]) -> list[Citation]:
    """Citations of spans of the answer, each with its source."""
    found = []
    for span, source in cited:
        start = answer.index(span)
        found.append(
            Citation(
                start=start,
                end=start + len(span),
                cited_text=span,
                source=source,
                fact="f1",
            )
        )
    return found


def test_behind_each_cited_span_stands_the_number_of_its_source() -> None:
    answer = "BM25 ranks. Vectors compare."
    citations = citing(
        answer, ("BM25 ranks.", SOURCES[1]), ("Vectors compare.", SOURCES[0])
    )

    html = answer_html(answer, citations, SOURCES)

    assert html == (
        '<p>BM25 ranks.<sup data-citation="0">2</sup>'
        ' Vectors compare.<sup data-citation="1">1</sup></p>\n'
    )


@pytest.mark.parametrize(
    ("answer", "span", "expected"),
    [
        (
            "So: **it opens.** Then",
            "**it opens.**",
            '<strong>it opens.</strong><sup data-citation="0">1</sup> Then',
        ),
        (
            "So: **it opens.** Then",
            "it opens.",
            '<strong>it opens.<sup data-citation="0">1</sup></strong> Then',
        ),
        (
            "- one\n- two\n",
            "- two\n",
            '<li>two<sup data-citation="0">1</sup></li>',
        ),
        (
            "|a|b|\n|-|-|\n|1|2|\n",
            "|1|2|\n",
            '<td>2<sup data-citation="0">1</sup></td>',
        ),
        (
            "```\nx = 1\n```\n\nafter",
            "```\nx = 1\n```",
            '</code></pre>\n<p><sup data-citation="0">1</sup></p>\n<p>after</p>',
        ),
        ("`x.y` is", "`x.y`", '<code>x.y</code><sup data-citation="0">1</sup> is'),
    ],
)
def test_a_mark_leaves_the_markdown_round_it_as_it_is(
    answer: str, span: str, expected: str
) -> None:
    html = answer_html(answer, citing(answer, (span, SOURCES[0])), SOURCES)

    assert expected in html


def test_two_citations_of_a_source_at_one_place_are_one_mark() -> None:
    answer = "BM25 ranks well."
    citations = citing(
        answer, ("BM25 ranks well.", SOURCES[0]), ("ranks well.", SOURCES[0])
    )

    assert answer_html(answer, citations, SOURCES).count("<sup") == 1


HOSTILE = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "[click](javascript:alert(1))",
    "[click](https://evil.example)",
    "![see](https://evil.example/x.png)",
    "<https://evil.example>",
    "[click][1]\n\n[1]: https://evil.example",
    "<svg/onload=alert(1)>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    '<sup data-citation="0">1</sup>',
    "⸨0⸩ ⸨x0⸩",
    "```<b>\n</code></pre><script>\n```",
    "| <b>a</b> |\n|-|\n| <i>x</i> |",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07",
    "‮evil‬ \U000e0041",
    "\x00\x01",
    "<!-- --><![CDATA[x]]><?php ?>",
    "<style>*{display:none}</style>",
    '<a href="//evil.example" style="position:fixed">x</a>',
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_becomes_text(hostile: str) -> None:
    answer = f"True. {hostile}\n\nSo it ends."

    html = answer_html(answer, citing(answer, ("True.", SOURCES[0])), SOURCES)

    tags = re.findall(r"<(/?)([a-z0-9]+)([^>]*)>", html)
    assert {name for _, name, _ in tags} <= ELEMENTS
    assert {rest for _, _, rest in tags} <= {"", ' data-citation="0"'}
    assert html.count("<sup") == 1
    assert not re.search("[\x00-\x08\x1b‮\U000e0041]", html)
    assert "So it ends." in html


@pytest.mark.parametrize(
    "hostile",
    ["[" * 100_000, "*a " * 50_000, "> " * 50_000, "`" * 100_001, "x" * 10**6],
)
def test_no_text_takes_long_to_render(hostile: str) -> None:
    began = time.process_time()

    answer_html(hostile, [], [])

    assert time.process_time() - began < 5


async def test_html_comes_where_it_is_asked_for_and_nowhere_else() -> None:
    asked = {"query": "x", "html": True}

    plain = await Browser(app_of(FakeService())).post("/api/query", {"query": "x"})
    with_html = await Browser(app_of(FakeService())).post("/api/query", asked)
    live = await Browser(app_of(FakeService())).post(
        "/api/query", asked, accept="text/event-stream"
    )

    assert "html" not in plain.json()
    assert with_html.json()["html"] == (
        '<p>BM25 is good.<sup data-citation="0">1</sup></p>\n'
    )
    assert events_in(live.body)[-1][2]["html"] == with_html.json()["html"]


async def test_the_same_question_with_and_without_html_has_one_idempotency_key() -> (
    None
):
    service = FakeService()
    app = app_of(service)

    first = await Browser(app).post("/api/query", {"query": "x"}, idempotency_key="k")
    again = await Browser(app).post(
        "/api/query", {"query": "x", "html": True}, idempotency_key="k"
    )

    assert (first.status, again.status) == (200, 200)
    assert len(service.asked) == 1
    assert again.json()["html"]


async def test_the_answer_of_a_recorded_query_can_be_read_again() -> None:
    service = FakeService()
    app = app_of(service)
    first = await Browser(app).post("/api/query", {"query": "x"})

    plain = await Browser(app).get("/api/traces/q-1/answer")
    with_html = await Browser(app).get("/api/traces/q-1/answer?html=true")
    missing = await Browser(app).get("/api/traces/nothing/answer")

    assert plain.json() == first.json()
    assert "<sup" in with_html.json()["html"]
    assert missing.status == 404
