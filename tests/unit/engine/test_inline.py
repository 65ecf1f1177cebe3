"""Numbered sources, and the citations read back out of a reply."""

from __future__ import annotations

import json

import pytest

from antiphon.engine.fold import ReplyFold
from antiphon.engine.inline import numbered, read_citations
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
