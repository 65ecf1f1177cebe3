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
# Each block of code is longer than a passage, so that one begins within it.
NIGHT = f"""# The harbour at night
## Lanterns
```output
{"".join(f"berth {n} is dark, and nobody has lit its lamp{chr(10)}" for n in range(40))}```

The lantern of the crane is lit by this program, which the harbour master starts at dusk.

```python
for lamp in crane.lamps:
    lamp.light(colour="amber")
```

## Berths
<table><tr><td>Keeper of the lighthouse</td><td>Ida Holm, since 1984</td></tr>
<tr><td>Keeper of the bridge</td><td>Nils Berg</td></tr></table>
"""


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("manual")
    (folder / "manual.md").write_text(MANUAL)
    (folder / "night.md").write_text(NIGHT)
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


async def test_prose_after_cut_code_is_not_code(data_dir: Path) -> None:
    answer = await ask(data_dir, "How is the lantern of the crane lit?")

    before, said, after = answer.partition("The lantern of the crane is lit")
    assert said
    assert before.count("```") % 2 == 0
    assert "```python\nfor lamp in crane.lamps:\n    lamp.light" in after


async def test_a_row_without_a_header_shows_no_bars_around_it(data_dir: Path) -> None:
    answer = await ask(data_dir, "Who is the keeper of the lighthouse?")

    assert "Keeper of the lighthouse | Ida Holm, since 1984" in answer
    assert "| Keeper of the lighthouse" not in answer
