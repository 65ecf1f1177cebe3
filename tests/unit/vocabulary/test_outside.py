"""Rules for text from outside: no password in an address, no link but to the web, wherever a source is made."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.traces import event_of, plain
from antiphon.vocabulary.events import ResponseAssembled
from antiphon.vocabulary.outside import (
    clean,
    escaped,
    visible,
    web_link,
    without_userinfo,
)
from antiphon.vocabulary.values import Citation, Passage, StoredText
from tests.story import response_assembled, tool_succeeded

HOSTILE_LINKS = (
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "file:///etc/passwd",
    "//evil.example/x",
    "vbscript:x",
    "http://a b",
    'http://a"onclick="x',
    "http://a\x1b[31m",
    "http://a\u202eb",
    "https://" + "a" * 2_000,
    "",
)


@pytest.mark.parametrize("link", HOSTILE_LINKS)
def test_a_source_has_no_link_but_a_web_address_however_it_is_made(link: str) -> None:
    passage = Passage(id="p", source="s", text=StoredText("t"), link=link)
    citation = Citation(
        start=0, end=1, cited_text="t", source="s", fact="f1", link=link
    )
    answer = plain(response_assembled())
    assert isinstance(answer, dict)
    read = event_of(answer | {"sources": ["s", "t"], "source_links": [link, None]})
    found = plain(tool_succeeded("text"))
    assert isinstance(found, dict)
    found["passages"][0]["link"] = link

    assert passage.link is citation.link is web_link(link) is None
    assert msgspec.structs.replace(passage, source="other", link=link).link is None
    assert read.source_links == (None, None)  # type: ignore[attr-defined]  # a ResponseAssembled
    assert event_of(found).passages[0].link is None  # type: ignore[attr-defined]  # a ToolSucceeded


@pytest.mark.parametrize(
    "links", [[], ["https://a.example"], ["https://a.example"] * 9]
)
def test_an_answer_from_elsewhere_has_as_many_links_as_sources(
    links: list[str],
) -> None:
    answer = plain(response_assembled())
    assert isinstance(answer, dict)

    read = event_of(answer | {"sources": ["s", "t"], "source_links": links})

    assert isinstance(read, ResponseAssembled)
    assert len(read.source_links) == 2


@pytest.mark.parametrize("link", ["https://example.org/a?b=c#d", "HTTP://x/y", None])
def test_a_web_address_stays_as_it_is(link: str | None) -> None:
    assert Passage(id="p", source="s", text=StoredText("t"), link=link).link == link


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no server at http://me:pass@host:80/x", "http://[masked]@host:80/x"),
        ("https://token@host", "https://[masked]@host"),
        ("http://me:p@ss@host and http://a:b@c", "http://[masked]@host and http"),
        ("http://host/path?mail=a@b", "http://host/path?mail=a@b"),
        ("write to a@b.example", "write to a@b.example"),
    ],
)
def test_an_address_is_shown_without_user_name_and_password(
    text: str, shown: str
) -> None:
    assert shown in without_userinfo(text)
    assert "pass" not in without_userinfo(text)
    assert "ss@" not in without_userinfo(text)


@given(st.text(st.characters(codec=None)))
def test_whatever_is_printed_logged_or_written_as_json_holds_nothing_that_steers(
    text: str,
) -> None:
    for shown in (
        clean(text),
        visible(text),
        escaped(json.dumps(text, ensure_ascii=False)),
    ):
        assert not set(shown) & set("\x1b\x9b\x07\r\u202e\U000e0041")
        shown.encode()


def test_json_means_the_same_after_it_was_made_harmless() -> None:
    document = json.dumps("a\x9b\u202e\U000e0041", ensure_ascii=False)

    assert json.loads(escaped(document)) == "a\x9b\u202e\U000e0041"
