"""An answer as HTML: Markdown and marks of citations, and nothing else that whoever wrote it might wish for."""

from __future__ import annotations

import re
import time

import pytest

from antiphon.api.answer_html import ELEMENTS, answer_html
from antiphon.vocabulary.values import Citation
from tests.unit.api.calling import Browser, app_of
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
