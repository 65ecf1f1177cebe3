"""Notebooks of every version: what a reader of the page would cite is text, and what was not read is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from antiphon.knowledge.readers import notebook
from antiphon.knowledge.readers.content import Content


def read(*cells: dict[str, Any], **metadata: Any) -> Content:
    return notebook.read(json.dumps({"cells": cells, "metadata": metadata}).encode())


def code(source: str, *outputs: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "source": source.splitlines(keepends=True),
        "outputs": outputs,
        "metadata": metadata,
    }


def printed(text: str, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": [text]}


def shown(**data: Any) -> dict[str, Any]:
    bundle = {name.replace("_", "/"): value for name, value in data.items()}
    return {"output_type": "execute_result", "data": bundle}


def texts(content: Content) -> list[str]:
    return [line.text for line in content.lines if line.text]


def test_code_keeps_its_language_and_what_it_printed() -> None:
    content = read(
        code("x = 1\nx", printed("77\n"), shown(text_plain=["1"])),
        code("%%bash\nls"),
        code("a <- 1", vscode={"languageId": "r"}),
        language_info={"name": "python"},
    )

    assert texts(content) == [
        *("```python", "x = 1", "x", "```", "```output", "77", "1", "```"),
        *("```bash", "%%bash", "ls", "```"),
        *("```r", "a <- 1", "```"),
    ]
    assert [line.place for line in content.lines if line.place] == [
        "cell 1",
        "cell 2",
        "cell 3",
    ]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (printed("a warning", "stderr"), []),
        (printed("10%\r50%\rdone\n"), ["```output", "done", "```"]),
        (printed("\x1b[31mred\x1b[0m"), ["```output", "red", "```"]),
        (shown(text_plain="<Axes: >"), []),
        (shown(text_plain="[<Line2D at 0x7f>]"), []),
        (shown(text_plain="Pin<Box>"), ["```output", "Pin<Box>", "```"]),
        (shown(text_markdown="**Bold** words"), ["Bold words"]),
        (shown(image_png="iVBO", text_plain="<Figure>"), []),
        ({"output_type": "error", "ename": "KeyError", "evalue": "'x'"}, ["```output", "KeyError: 'x'", "```"]),
        ({"output_type": "pyout", "text": ["3"], "prompt_number": 1}, ["```output", "3", "```"]),
        ("no output", []),
    ],
)  # fmt: skip
def test_of_an_output_what_a_reader_would_cite_is_text(
    output: Any, expected: list[str]
) -> None:
    assert texts(read(code("x", output)))[3:] == expected


def test_what_is_seen_and_not_read_is_told() -> None:
    long = "".join(f"row {number}\n" for number in range(500))
    content = read(
        code("x", printed(long), shown(image_png="iVBO"), shown(image_jpeg="iVBO")),
        {"cell_type": "markdown", "source": "![](attachment:a.png) ![A plan](b.png)"},
    )

    assert content.losses == (
        "an image without a description",
        "2 images in the output",
        "the rest of a long output",
    )
    assert "row 199" in texts(content)
    assert "row 200" not in texts(content)
    assert "A plan" in texts(content)[-1]


def test_an_output_that_is_only_a_page_is_read_as_one() -> None:
    page = "<script>no()</script><table><tr><th>Ship<tr><td>Vasa</table>"
    shown_as = {"text/html": page, "text/plain": "<IPython.core.display.HTML object>"}
    comment = {"data": {"text/html": "<!-- no -->"}, "output_type": "display_data"}

    content = read(code("x", {"data": shown_as}, comment))

    assert texts(content)[-2:] == ["| Ship |", "| Vasa |"]


def test_what_a_book_leaves_out_is_left_out() -> None:
    content = read(
        code("setup()", printed("1"), tags=["remove-cell"]),
        code("hidden()", printed("2"), tags=["remove_input"]),
        code("noisy()", printed("3"), tags=["remove-output", "other"]),
    )

    assert texts(content) == ["```output", "2", "```", "```", "noisy()", "```"]


def test_a_notebook_may_speak_of_itself_in_front_matter_or_metadata() -> None:
    matter = {"cell_type": "raw", "source": "---\ntitle: Ropes\n---\nBegin."}

    by_matter = read(matter)
    by_metadata = read(title="Knots", authors=[{"name": "Ada"}])

    assert (by_matter.title, texts(by_matter)) == ("Ropes", ["Begin."])
    assert (by_metadata.title, by_metadata.instructor) == ("Knots", "Ada")


def test_headings_of_an_old_notebook_keep_their_level() -> None:
    cells = [{"cell_type": "heading", "level": 2, "source": ["Ropes"]}]
    data = {"worksheets": [{"cells": cells}], "metadata": {"name": "Old"}}

    content = notebook.read(json.dumps(data).encode())

    assert content.other_title == "Old"
    assert [(line.text, line.level) for line in content.lines if line.text] == [
        ("Ropes", 2)
    ]


def test_lines_without_ends_are_lines() -> None:
    source = ["# Logs", "", "They are", "appended."]
    cells = [
        {"cell_type": "markdown", "source": source},
        {"cell_type": "code", "input": ["x = 1", "x"], "outputs": []},
    ]
    old = {"nbformat": 2, "worksheets": [{"cells": cells}]}

    lines = texts(notebook.read(json.dumps(old).encode()))

    assert lines == ["Logs", "They are", "appended.", "```", "x = 1", "x", "```"]
