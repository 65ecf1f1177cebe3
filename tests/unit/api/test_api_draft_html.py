"""A reply's text as HTML while it is written: no sign of Markdown is seen, and at its end it is the answer's HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from antiphon.api.answer_html import ELEMENTS, answer_html
from antiphon.api.draft_html import DraftHtml, TextHtml
from antiphon.vocabulary.events import (
    ReasoningCompleted,
    Recorded,
    TextDelta,
    TextDiscarded,
)
from antiphon.vocabulary.values import StoredText, Usage
from tests.unit.api.calling import Browser, app_of, events_in
from tests.unit.api.fakes import FakeService

WHOLE = """## Two kinds of search

BM25 is strong where **exact words** matter: *error codes*, `names_and_versions`, ~~nothing~~ more. 2 * 3 is 6.
A second line of it,
- with a list that **interrupts** it
- and `more

| method | good at | blind to |
|:---|---|---|
| **BM25** | exact words | meaning |
| vectors | 12 | 3.5 |

1. first **bold item**
2. second with `code`
   - nested *deep*

```python
# a comment
def f(x):
    return x ** 2  # **not bold**
| a | b |
```

> quoted **text
> goes** on

---

A line that is a title
===

The end: **done.** See 2026.
"""


def pieces(text: str, size: int) -> Iterator[TextDelta]:
    """The text as a model sends it."""
    for at in range(0, len(text), size):
        yield TextDelta(call_id="c1", text=text[at : at + size])


def completed(call_id: str = "c1") -> Recorded[ReasoningCompleted]:
    """The end of a reply."""
    event = ReasoningCompleted(
        call_id=call_id,
        round=1,
        content=(),
        text=StoredText(""),
        tool_calls=(),
        citations=(),
        stop_reason="end_turn",
        usage=Usage(),
        model="m",
        message_id="m1",
    )
    return Recorded(query_id="q", seq=9, cause=8, at=1.0, event=event)


def frames(text: str, size: int) -> list[str]:
    """What is shown, piece by piece, and at the end of the reply."""
    draft = DraftHtml()
    shown: list[str] = []
    settled = ""
    sent = [draft.after(item) for item in pieces(text, size)]
    for html in [*sent, draft.after(completed())]:
        if html is not None:
            settled += html.settled
            shown.append(settled + html.open)
    return shown


def seen(html: str) -> str:
    """The words that a person sees outside of code blocks."""
    return re.sub(r"<[^>]*>", "", re.sub(r"<pre>.*?</pre>", "", html, flags=re.DOTALL))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 40, 10_000])
def test_at_its_end_the_text_is_what_the_answer_will_be(size: int) -> None:
    assert frames(WHOLE, size)[-1] == answer_html(WHOLE, [], [])


@pytest.mark.parametrize("size", [1, 3, 7])
def test_no_sign_of_markdown_is_seen_at_any_moment(size: int) -> None:
    text = WHOLE.replace("and `more", "and more")

    shown = frames(text, size)

    signs = re.compile(r"\*\*|~~|`|#|\||--|==|^>|(?<!\d )\*", re.MULTILINE)
    assert [seen(frame)[-60:] for frame in shown if signs.search(seen(frame))] == []
    assert len(shown) > len(text) / size / 4


def test_what_is_settled_never_changes_and_each_block_is_sent_once() -> None:
    draft = DraftHtml()
    sent = [html for item in pieces(WHOLE, 3) if (html := draft.after(item))]
    settled = "".join(html.settled for html in sent)

    assert answer_html(WHOLE, [], []).startswith(settled)
    assert "<h2>Two kinds of search</h2>" in settled
    assert "</table>" in settled
    assert "The end" not in settled
    assert max(len(html.open) for html in sent) < 400


@pytest.mark.parametrize(
    ("begun", "shown"),
    [
        ("a **bo", "<p>a <strong>bo</strong></p>\n"),
        ("a **bold**", "<p>a <strong>bold</strong></p>\n"),
        ("a ***bo", "<p>a <em><strong>bo</strong></em></p>\n"),
        ("a **b *i", "<p>a <strong>b <em>i</em></strong></p>\n"),
        ("a ~~st", "<p>a <s>st</s></p>\n"),
        ("a `**kw", "<p>a <code>**kw</code></p>\n"),
        ("a ``b`c", "<p>a <code>b`c</code></p>\n"),
        ("x*y and 2 * 3", "<p>x*y and 2 * 3</p>\n"),
        ("##", ""),
        ("## Ti", "<h2>Ti</h2>\n"),
        ("text\n-", "<p>text</p>\n"),
        ("text\n1", "<p>text</p>\n"),
        ("text\n``", "<p>text</p>\n"),
        ("- one\n- **tw", "<ul>\n<li>one</li>\n<li><strong>tw</strong></li>\n</ul>\n"),
        ("```py\nx = 1\n``", "<pre><code>x = 1</code></pre>\n"),
        ("```\n| a", "<pre><code>| a</code></pre>\n"),
    ],
)
def test_what_has_begun_is_shown_as_if_it_were_closed(begun: str, shown: str) -> None:
    html = DraftHtml().after(TextDelta(call_id="c1", text=begun))

    assert html == TextHtml(call_id="c1", settled="", open=shown)


def test_a_table_is_one_from_its_first_line_on() -> None:
    for begun in ("| a | b", "| a | b |\n", "| a | b |\n|--", "| a | b |\n|---|---|\n"):
        html = DraftHtml().after(TextDelta(call_id="c1", text=begun))

        assert html is not None
        assert "<th>a</th>\n<th>b</th>" in html.open
        assert seen(html.open).split() == ["a", "b"]


def test_text_that_is_void_is_forgotten_and_so_is_another_calls() -> None:
    draft = DraftHtml()
    draft.after(TextDelta(call_id="c1", text="Let me **look"))
    draft.after(TextDiscarded(call_id="c1"))

    again = draft.after(TextDelta(call_id="c1", text="So"))
    other = draft.after(TextDelta(call_id="c2", text="Then"))

    assert again == TextHtml(call_id="c1", settled="", open="<p>So</p>\n")
    assert other == TextHtml(call_id="c2", settled="", open="<p>Then</p>\n")
    assert draft.after(completed("c1")) is None


HOSTILE = [
    "<script>alert(1)</script>",
    "[click](javascript:alert(1))",
    "![see](https://evil.example/x.png)",
    '<sup data-citation="0">1</sup>',
    "```<b>\n</code></pre><script>\n```",
    "\x1b[31mred\x1b[0m‮evil‬",
    "| <b>a</b> |\n|-|\n| <i>x</i> |",
    "\ud800 and \udfff",
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_is_text_at_every_moment(hostile: str) -> None:
    for html in frames(f"True. {hostile}\n\nSo it ends.", 1):
        tags = re.findall(r"<(/?)([a-z0-9]+)([^>]*)>", html)
        assert {name for _, name, _ in tags} <= ELEMENTS - {"sup"}
        assert {rest for _, _, rest in tags} <= {""}
        assert not re.search("[\x00-\x08\x1b‮]", html)


@pytest.mark.parametrize(
    "block",
    [
        "word and **more** text\n\n",
        "- item **x** of a list\n",
        "x = 1  ",
        "|a",
        "> x ",
        "$x_1$ and ",
        "$$\nx\n$$\n",
        "$$\n",
        "\\(x ",
    ],
)
def test_the_work_grows_with_the_text_and_not_with_its_square(block: str) -> None:
    def work(text: str) -> int:
        draft = DraftHtml()
        sent = [draft.after(item) for item in pieces(text, 12)]
        return sum(len(html.settled + html.open) for html in sent if html)

    short, long = (block * (chars // len(block)) for chars in (9_000, 90_000))

    assert work(long) < 12 * work(short)


async def test_html_is_streamed_where_it_is_asked_for_and_nowhere_else() -> None:
    streams = {}
    for html in (True, False):
        answer = await Browser(app_of(FakeService())).post(
            "/api/query", {"query": "x", "html": html}, accept="text/event-stream"
        )
        streams[html] = [kind for kind, *_ in events_in(answer.body)]

    assert "text_html" in streams[True]
    assert "text_html" not in streams[False]
    assert [kind for kind in streams[True] if kind != "text_html"] == streams[False]
