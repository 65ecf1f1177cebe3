"""Markdown as sites and books write it: what their generators put into it is no text, and what it says stays."""

from __future__ import annotations

import pytest

from antiphon.knowledge.readers import markdown


def shown(text: str) -> list[str]:
    """The lines that hold anything, headings marked by their level."""
    lines = []
    for line in markdown.read(text.encode()).lines:
        if line.text.strip():
            mark = f"{'#' * line.level} " if line.level else ""
            lines.append(f"{mark}{line.text.strip()}")
    return lines


@pytest.mark.parametrize(
    "markup",
    [
        "{% include nav.html\n   path='x' %}",
        "{% comment %}\nNot yet.\n{% endcomment %}",
        "{{ site.title }}",
        "{{< youtube abc >}}",
        "{{% notice note %}}",
        "* TOC\n{:toc}",
        "[[toc]]",
        "[TOC]",
        "{: .notice #id}",
        'import Tabs from "x"',
        'export const a = {\n  b: 1,\n}',
        "{/* a comment */}",
        "<!-- a comment\n\nof two paragraphs -->",
        '<a name="top"></a>',
        "![](https://img.shields.io/badge/x.svg)",
        "[![Build](https://travis-ci.org/x.svg)](https://travis-ci.org/x)",
        "[← Back to chapter 6](../06.md) | [Next →](../08.md)",
        "**[Continue to Chapter 02 →](../02.md)**",
        "Next: [Lesson 2](b.md)",
        "[Previous](a.md) · [Home](.) · [Next](c.md)",
        "🎯 [Goals](#goals) &ensp; ✅ [Setup](#setup)",
        "- [Setup](#setup)\n- [Back to top](#top)",
        "[⬆ Back to top](#top)",
        "Back to top",
        '<p align="right">(<a href="#top">back to top</a>)</p>',
        ":rocket: :tada:",
        "```{toctree}\nlogs\nqueues\n```",
        "<script>\nevil()\n</script>",
    ],
)  # fmt: skip
def test_what_is_no_text_goes_and_what_stands_around_it_stays(markup: str) -> None:
    lines = shown(f"Before it.\n\n{markup}\n\nAfter it.")

    assert [line for line in lines if line != "-"] == ["Before it.", "After it."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Ropes {#ropes .big}", ["# Ropes"]),
        ("# {{ page.title }} Ropes", ["# Ropes"]),
        ("See [the manual](m.md){:target='_blank'} now.", ["See the manual now."]),
        ("A `std::string:` and std::mem::drop.", ["A std::string: and std::mem::drop."]),
        ("`{{ kept }}` and `{% if %}` stay.", ["{{ kept }} and {% if %} stay."]),
        ("{% raw %}{{ kept }}{% endraw %}", ["{{ kept }}"]),
        ("Print by {:?}.", ["Print by {:?}."]),
        ("Vec<T> and Pin<Ptr> stay.", ["Vec<T> and Pin<Ptr> stay."]),
        ("Read [next week's plan](x) first.", ["Read next week's plan first."]),
        ("{ref}`the ropes <target>` and {doc}`knots`", ["the ropes and knots"]),
        ("[[Knots|the knots]] and [[Ropes]]", ["the knots and Ropes"]),
        ("Tall[^1].\n\n[^1]: Forty", ["Tall.", "[note: Forty]"]),
        (
            "Tall[^a].\n\n```\nx[^a]\n```\n\n[^a]: Forty\nmetres.\n[^b]: See.",
            ["Tall.", "```", "x[^a]", "```", "[note: Forty", "metres.]", "[note: See.]"],
        ),
        ("No vowel is [^aeiou] in `[^1]`.", ["No vowel is [^aeiou] in [^1]."]),
        (
            "In @sec-data-import, see [@fig-whole-game], -@tbl-z and me@fig-x.org.",
            ["In section data import, see figure whole game, table z and me@fig-x.org."],
        ),
        ("| a |\n|---|\n\n: All formats {#tbl-all}", ["| a |", "All formats"]),
        ("- [ ] grease\n- [x] ~~paint~~", ["- [ ] grease", "- [x] paint"]),
        ("1. one\n   - two\n     - three", ["1. one", "- two", "- three"]),
        ("It is $a_i * b_i * c$ here.", ["It is $a_i * b_i * c$ here."]),
        ("$$\nx\n= y\n- z\n$$", ["$$", "x", "= y", "- z", "$$"]),
        ("```{math}\n:label: e\nx\n- z\n```", ["x", "- z"]),
        ("<h1 align=center>Ropes</h1>", ["# Ropes"]),
        ("<table><tr><td>a</td>\n<td>b &amp; c</td></tr></table>", ["| a | b & c |"]),
        ("<pre>ls -l\ncd</pre>", ["```", "ls -l", "cd", "```"]),
        ("> [!NOTE]\n> Mind it.", ["Mind it."]),
        ("> [!tip] Wet ropes\n> Mind it.", ["Wet ropes", "Mind it."]),
    ],
)  # fmt: skip
def test_what_is_text_stays(text: str, expected: list[str]) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "::: {.callout-note title='x' title=\"Wet ropes\"}\n{}\n:::",
        ":::note Wet ropes\n{}\n:::",
        ":::note[Wet ropes]\n\n{}\n\n:::",
        ":::{admonition} Wet ropes\n:class: tip\n{}\n:::",
        "```{admonition} Wet ropes\n:class: tip\n\n{}\n```",
        "~~~~{note} Wet ropes\n{}\n~~~~",
        '!!! note "Wet ropes"\n    {}',
        '??? question "Wet ropes"\n\n    {}\n',
        '=== "Wet ropes"\n\n    {}\n',
        'import A from "a"\n\n<A title="Wet ropes">\n    {}\n</A>',
        "<Tabs>\n  <Tab label='Wet ropes'>\n    {}\n  </Tab>\n</Tabs>",
        "<details>\n<summary>Wet ropes</summary>\n\n{}\n\n</details>",
        '<Quiz choices={[{text: "Wet ropes", explain: "{}", correct: true}]} />',
    ],
)
def test_boxes_keep_their_title_and_text(text: str) -> None:
    said = "They lose a fifth."

    assert shown(f"{text.replace('{}', said, 1)}\n\nAfter it.") == [
        "Wet ropes",
        said,
        "After it.",
    ]


def test_a_box_of_carpentries_is_its_headings_and_text() -> None:
    text = (
        ":::::: challenge\n\n## Do it\n\n:::: solution\nSolved.\n::::\n::::::\nAfter."
    )

    assert shown(text) == ["## Do it", "Solved.", "After."]


@pytest.mark.parametrize(
    ("opening", "closing", "language"),
    [
        ("```python", "```", "python"),
        ("~~~~ {.python .numberLines}", "~~~~", "python"),
        ("```{python}\n#| label: fig", "```", "python"),
        ("```{r setup, echo=FALSE}", "```", "r"),
        ("```{code-cell} ipython3\n---\ntags: [a]\n---", "```", "python"),
        ("```{code-block} python\n:linenos:", "```", "python"),
        ("```rust,editable", "```", "rust"),
        ("~~~", "~~~\n{: .language-python}", "python"),
        ("{% highlight ruby linenos %}", "{% endhighlight %}", "ruby"),
    ],
)
def test_a_program_keeps_its_language_and_its_text(
    opening: str, closing: str, language: str
) -> None:
    code = "x = '{{ y }}' :rocket:\n\n# [!NOTE] <Tab>\n::: no"

    lines = markdown.read(f"{opening}\n{code}\n{closing}\n\nAfter.".encode()).lines

    texts = [line.text for line in lines if line.is_code]
    assert texts == [f"```{language}", *code.split("\n"), "```"]
    assert lines[-2].text == "After."


def test_captions_of_a_chunk_are_text_and_its_other_options_are_not() -> None:
    text = (
        "```{r}\n#| echo: false\n#| fig-alt: |\n#|   Ropes by\n#|   age.\nplot(x)\n```"
    )

    assert shown(text) == ["Ropes by age.", "```r", "plot(x)", "```"]


def test_what_is_seen_and_not_read_is_told() -> None:
    content = markdown.read(
        b"![](plan.png) ![A plan](plan.png) <img src=x.png alt='Two ropes'>\n\n"
        b"```rust\n{{#include a.rs}}\n```\n\n<img src=x.png>\n<iframe src=y></iframe>\n"
    )

    assert content.losses == (
        "2 images without a description",
        "an embedded video was not read",
        "a part that is in another file",
    )
    assert any("A plan Two ropes" in line.text for line in content.lines)


@pytest.mark.parametrize(
    "matter",
    [
        '---\ntitle: "Harbour: the basics"\nauthor: Ada\nlesson: 3\n---\n',
        "\ufeff---\ntitle: Harbour: the basics\nauthor: Ada\nsidebar_position: 3\n---\n",
        '+++\ntitle = "Harbour: the basics"\nauthor = "Ada"\nnav_order = 3\n+++\n',
        '+++\ntitle = "Harbour: the basics"\nauthor = "Ada"\norder = 3\nbad = \n+++\n',
        '{\n"title": "Harbour: the basics", "author": "Ada", "lesson": 3}\n\n',
    ],
)
def test_front_matter_of_every_form_is_read(matter: str) -> None:
    content = markdown.read(f"{matter}# Quays\nText.".encode())

    assert (content.title, content.instructor) == ("Harbour: the basics", "Ada")
    assert [line.text for line in content.lines if line.text] == ["Quays", "Text."]


def test_what_front_matter_says_to_its_readers_is_searched_too() -> None:
    matter = (
        "---\ntitle: 2024\nsubtitle: Of ropes\ndescription: >\n  What they\n  hold.\nkeypoints:\n- Dry them.\n"
        "tags: [ropes, knots]\nlayout: page\n---\n"
    )

    content = markdown.read(f"{matter}Text.".encode())

    assert content.title == "2024"
    assert [line.text for line in content.lines if line.text] == [
        "Of ropes",
        "What they hold.",
        "- Dry them.",
        "Tags: ropes, knots",
        "Text.",
    ]
