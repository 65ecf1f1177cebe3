"""Tables and code on the way from a document to an answer: they keep their lines, and a row keeps its header."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.knowledge import index_paths, load_embedder
from antiphon.service import Antiphon, load_settings

ROWS = "\n".join(f"| Rope type {n} | {n * 3} m | {n * 7} euro |" for n in range(1, 61))
MANUAL = f"""# Harbour manual
## Ropes
All rope types:

| Type | Length | Price |
|---|---|---|
{ROWS}

## Starting
To start the harbour service run:

```bash
$ docker build -t harbour .
$ docker run --rm \\
    harbour
```
"""


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("manual")
    (folder / "manual.md").write_text(MANUAL)
    index_paths([folder], folder / "data", load_embedder("onnx"))
    return folder / "data"


async def ask(data_dir: Path, question: str) -> str:
    settings = load_settings(data_dir=data_dir, embedder="onnx", reasoner="offline")
    async with Antiphon.open(settings) as service:
        return (await service.ask(question)).text


async def test_a_row_far_down_is_shown_with_its_header_and_without_twenty_others(
    data_dir: Path,
) -> None:
    answer = await ask(data_dir, "How much does rope type 37 cost?")

    assert (
        "| Type | Length | Price |\n|---|---|---|\n| Rope type 37 | 111 m | 259 euro |"
        in answer
    )
    assert answer.count("| Rope type") <= 3


async def test_a_found_row_says_what_its_columns_are(data_dir: Path) -> None:
    settings = load_settings(data_dir=data_dir, embedder="onnx", reasoner="offline")
    async with Antiphon.open(settings) as service:
        found = await service.search("price of rope type 37")

    best = found.passages[0]
    assert "| Rope type 37 | 111 m | 259 euro |" in best.text
    assert best.place == "Type | Length | Price"


async def test_code_keeps_its_lines_and_its_indentation(data_dir: Path) -> None:
    answer = await ask(data_dir, "How do I start the harbour service?")

    assert "$ docker run --rm \\\n    harbour\n```" in answer
