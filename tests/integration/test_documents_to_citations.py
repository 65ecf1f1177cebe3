"""A document of each format, from its file to an answer that cites it with its page, heading or time."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import asdict

from antiphon.api.query_schemas import CitationReply
from antiphon.cli.rendering import source_lines
from antiphon.knowledge import Library, index_paths, load_embedder
from antiphon.service import Antiphon, Question, load_settings
from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary.events import BriefingPrepared, ToolSucceeded
from tests.document_files import ABOUT, MADE, write_document
from tests.fakes_knowledge import HashingEmbedder

QUESTION = "What does the zebrafish protocol name?"
# What a citation of the sentence says: its lesson, its place, and the link that leads there.
EXPECTED = {
    ".txt": (2, None, f"{ABOUT}/2"),
    ".md": (2, "Protocols", ABOUT),
    ".html": (2, "Protocols", f"{ABOUT}#protocols"),
    ".pdf": (None, "page 3", None),
    ".docx": (2, "Protocols", None),
    ".pptx": (None, "slide 3", None),
    ".odt": (2, "Protocols", None),
    ".odp": (None, "slide 3", None),
    ".vtt": (None, "at 12:05", f"{ABOUT}#t=725"),
    ".srt": (None, "at 12:05", f"{ABOUT}#t=725"),
    ".ipynb": (None, "cell 3", None),
    ".epub": (2, "Protocols", None),
}


@pytest.mark.parametrize("suffix", MADE)
async def test_a_document_is_cited_with_its_place(suffix: str, tmp_path: Path) -> None:
    path = write_document(tmp_path, suffix)
    data = tmp_path / "data"

    summary = index_paths([path], data, load_embedder("onnx"))
    settings = load_settings(data_dir=data, embedder="onnx", reasoner="offline")
    service = await Antiphon.open(settings)
    try:
        outcome = await service.ask(Question(query=QUESTION))
    finally:
        await service.close()

    cited = [
        citation
        for citation in outcome.response.citations
        if "nearest lighthouse" in citation.cited_text
    ]
    assert (summary.added, summary.failed) == (1, ())
    assert [(each.lesson, each.place, each.link) for each in cited] == [
        EXPECTED[suffix]
    ]
    _, place, _ = EXPECTED[suffix]
    assert CitationReply(**asdict(cited[0])).place == place
    if place is not None:
        titles, words = await _shown(data, outcome.query_id)
        assert f", {place}" in "\n".join(source_lines(outcome.response))
        assert place in titles
        assert f"{place}]\n" in words


async def _shown(data: Path, query_id: str) -> tuple[str, str]:
    """Returns the titles of the search results that the calls contained, and all words of tools."""
    titles = []
    words = []
    store = SqliteTraceStore.open(data)
    for recorded in await store.read(query_id):
        if isinstance(recorded.event, BriefingPrepared):
            for message in recorded.event.messages:
                blocks = [msgspec.json.decode(block.text) for block in message.content]
                titles += [block.get("title", "") for block in blocks]
        if isinstance(recorded.event, ToolSucceeded):
            words.append(recorded.event.output.text)
    await store.close()
    return "\n".join(titles), "\n".join(words)


def test_a_chinese_course_is_split_at_its_stops_and_found_by_its_words(
    tmp_path: Path,
) -> None:
    stops = "\uff01", "\uff1f"
    (tmp_path / "logs.md").write_text(
        f"# 日志\n\n## 位置\n\n日志只在末尾追加。读者记住自己的位置{stops[0]}为什么{stops[1]}\n\n"
        "## 队列\n\n队列按顺序交付消息。\n\n## 故障\n\n断路器打开以后请求立即失败。"
    )
    index_paths([tmp_path / "logs.md"], tmp_path / "data", HashingEmbedder())

    library = Library.open(tmp_path / "data", HashingEmbedder())
    found = library.keyword_search("读者的位置在哪里")
    library.close()

    sentences = [found[0].sentence(n) for n in range(len(found[0].starts))]
    assert sentences == [
        "日志只在末尾追加。",
        f"读者记住自己的位置{stops[0]}",
        f"为什么{stops[1]}",
    ]
