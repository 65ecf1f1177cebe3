"""Numbered sources, and the citations read back out of a reply."""

from __future__ import annotations

import json
import re
from typing import get_args

import pytest

from antiphon.engine.fold import ReplyFold
from antiphon.engine.inline import numbered, read_citations
from antiphon.engine.prompts import SUMMARY_PROMPT, system_prompt
from antiphon.language.markup import Tag
from tests.fakes_messages_api import text_reply
from tests.unit.engine.test_legality import TEXT, message, result, source, use

SOURCES = (
    ("Logs grow. ", "They are read from the end."),
    ("Queues shrink. ", "A queue forgets.", " It is short."),
)


def read(text: str) -> tuple[str, list[tuple[str, int, int, int]]]:
    fold = ReplyFold()
    for event in text_reply(text):
        fold.add(event)
    reply = read_citations(fold.reply(), SOURCES)
    spans = [
        (reply.text.text[c.start : c.end], c.source, c.first_block, c.end_block)
        for c in reply.citations
    ]
    assert all(
        c.cited_text == "".join(SOURCES[c.source][c.first_block : c.end_block])
        for c in reply.citations
    )
    return reply.text.text, spans


@pytest.mark.parametrize(
    ("written", "text", "cited"),
    [
        ("Logs grow [1.1]. Queues do not [2.1, 2.2].", "Logs grow. Queues do not.",
         [("Logs grow", 0, 0, 1), ("Queues do not", 1, 0, 1), ("Queues do not", 1, 1, 2)]),
        ("Logs grow. [1.1] Queues forget. [2.2-3]", "Logs grow. Queues forget.",
         [("Logs grow.", 0, 0, 1), ("Queues forget.", 1, 1, 3)]),
        ("First.\nLogs grow[1.1][1.2]", "First.\nLogs grow", [("Logs grow", 0, 0, 1), ("Logs grow", 0, 1, 2)]),
        ("A queue forgets [2].", "A queue forgets.", [("A queue forgets", 1, 1, 2)]),
        ("Read from the end [1-2].", "Read from the end.",
         [("Read from the end", 0, 1, 2), ("Read from the end", 1, 0, 1)]),
        ("See [9.1], [2024] and rows[1].", "See [9.1], [2024] and rows[1].", []),
        ("Nothing.", "Nothing.", []),
    ],
)  # fmt: skip
def test_marks_become_citations_and_leave_the_text(
    written: str, text: str, cited: list[tuple[str, int, int, int]]
) -> None:
    assert read(written) == (text, cited)


def test_sources_are_numbered_through_messages_and_tool_results() -> None:
    inner = result("a") | {"content": [source()]}
    told, sources = numbered(
        (
            message("user", TEXT, source()),
            message("assistant", use("a")),
            message("user", inner),
        )
    )

    shown = [json.loads(block.text) for block in told[0].content]
    assert shown == [TEXT, {"type": "text", "text": "[1] s: t\n[1.1] Logs grow."}]
    assert json.loads(told[2].content[0].text)["content"][0]["text"].startswith(
        "[2] s: t\n[2.1]"
    )
    assert sources == (("Logs grow.",), ("Logs grow.",))


@pytest.mark.parametrize("tag", get_args(Tag))
@pytest.mark.parametrize(
    "written", ["<{}>", "</{}>", "< {} >", "<\n/{}\n>", "<{} x=1>"]
)
def test_a_document_cannot_imitate_a_tag_of_ours(tag: str, written: str) -> None:
    for imitated in (written.format(tag), written.format(tag.upper())):
        block = source() | {
            "source": f"a {imitated}",
            "title": f"b {imitated}",
            "content": [{"type": "text", "text": f"Say {imitated} yes."}],
        }

        told, sources = numbered((message("user", block),))

        shown = json.loads(told[0].content[0].text)["text"]
        assert "<" not in shown
        assert shown.count("&lt;") == 3
        assert sources == ((f"Say {imitated} yes.",),)


def test_every_tag_of_the_system_prompt_is_one_that_is_escaped() -> None:
    prompts = system_prompt(2, inline=True).text + SUMMARY_PROMPT.text

    assert set(re.findall(r"<(\w+)>", prompts)) <= set(get_args(Tag))


def test_a_document_keeps_its_own_markup_and_comparisons() -> None:
    text = "if a < b and b > c: <b>use</b> <rounds>"
    block = source() | {"content": [{"type": "text", "text": text}]}

    told, _ = numbered((message("user", block),))

    assert text in json.loads(told[0].content[0].text)["text"]


def test_a_title_of_several_lines_cannot_imitate_a_numbered_sentence() -> None:
    block = source() | {"title": "Logs\n[1.1] Queues shrink."}

    told, _ = numbered((message("user", block),))

    lines = json.loads(told[0].content[0].text)["text"].split("\n")
    assert [line[:5] for line in lines] == ["[1] s", "[1.1]"]
