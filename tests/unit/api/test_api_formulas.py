"""Formulas in answers: what is one and what only has a dollar, what of them is drawn, and hostile ones."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from antiphon.api.answer_html import answer_html
from antiphon.api.draft_html import DraftHtml
from antiphon.api.formulas import (
    MATH_ATTRIBUTES,
    MATH_ELEMENTS,
    MOST_CHARS,
    formula_html,
)
from antiphon.vocabulary.events import TextDelta
from antiphon.vocabulary.values import Citation

X = "<math><mi>x</mi></math>"
SHOWN_X = '<math display="block"><mi>x</mi></math>'


def html_of(answer: str) -> str:
    return answer_html(answer, [], [])


@pytest.mark.parametrize(
    ("answer", "html"),
    [
        ("So $x$, then", f"<p>So {X}, then</p>"),
        (r"So \(x\), then", f"<p>So {X}, then</p>"),
        ("So $$x$$ then", f"<p>So {SHOWN_X} then</p>"),
        ("$$\nx\n$$", f"<p>{SHOWN_X}</p>"),
        (r"\[ x \]", f"<p>{SHOWN_X}</p>"),
        ("So\n\\[\nx\n\\]\nis", f"<p>So</p>\n<p>{SHOWN_X}</p>\n<p>is</p>"),
        ("so $$ x = y $$ is", '<p>so <math display="block"><mi>x</mi><mo>='),
        (r"so \[ x = y \] is", '<p>so <math display="block"><mi>x</mi><mo>='),
        ("- $x$\n- $$x$$", f"<ul>\n<li>{X}</li>\n<li>\n<p>{SHOWN_X}</p>\n</li>\n</ul>"),
        ("> $$\n> x\n> $$", f"<blockquote>\n<p>{SHOWN_X}</p>\n</blockquote>"),
        ("**the $x$th**", f"<p><strong>the {X}th</strong></p>"),
        (r"$\$5$", "<p><math><mi>$</mi><mn>5</mn></math></p>"),
        # Nothing in a formula is Markdown, and a line of one begins no list.
        (
            "$x_1*y*z_1$",
            "<p><math><msub><mi>x</mi><mn>1</mn></msub><mo lspace=",
        ),
        (
            "$$\nx\n- 1\n= 2\n$$",
            '<p><math display="block"><mi>x</mi><mo>\u2212</mo><mn>1</mn><mo>=</mo><mn>2</mn></math></p>',
        ),
        # What cannot be drawn is shown as it is written.
        (r"$\foo{x}$", r"<p><code>$\foo{x}$</code></p>"),
        (r"\(\frac{1}\)", r"<p><code>\(\frac{1}\)</code></p>"),
        (r"$\cancel{x}$", r"<p><code>$\cancel{x}$</code></p>"),
        ("$$\n<b>&\n$$", "<p><code>$$\n&lt;b&gt;&amp;\n$$</code></p>"),
    ],
)
def test_a_formula_is_mathml_and_its_source_where_it_cannot_be(
    answer: str, html: str
) -> None:
    assert html_of(answer).startswith(html)


@pytest.mark.parametrize(
    "answer",
    [
        "It costs $5 and $10.",
        "US$5 or US$6, or 7$ and 8$",
        "from $5 to$10",
        "$HOME and $PATH",
        "export PATH=$HOME/bin:$PATH",
        "${A}${B}",
        "echo $$ and $$ again",
        "`$x$` and `\\(x\\)`",
        "run `echo $x`, then $y`",
        "```sh\necho $x$\n```",
        "    $$\n    x\n    $$",
        "$ x $",
        "a $x\n\ny$ b",
        r"\$x\$",
        r"see \[12\] and \[13\]",
        r"\\(x\\)",
        "$$",
        "$$$$",
        r"\(\)",
        "$",
        "$$\nnever closed\n\nand $ on",
        "$$\nnever closed",
    ],
)
def test_money_variables_code_and_what_is_not_closed_are_no_formulas(
    answer: str,
) -> None:
    html = html_of(answer)

    assert "<math" not in html
    assert html.count("$") == answer.replace(r"\$", "$").count("$")


def test_a_citation_that_ends_in_a_formula_is_marked_behind_it() -> None:
    answer = "So it is $x + y$, as they say.\n\n$$\nx\n$$\n\nYes."
    for words, html in (
        ("So it is $x", "</math><sup"),
        ("So it is $x + y$", "</math><sup"),
        ("$$\nx", "</math><sup"),
    ):
        start = answer.index(words)
        cited = Citation(
            start=start,
            end=start + len(words),
            cited_text=words,
            source="A",
            course=None,
            lesson=None,
            link=None,
            fact="f1",
        )

        marked = answer_html(answer, [cited], ["A"])

        assert marked.count("<sup") == 1
        assert html in marked
        assert "⸨" not in marked


HOSTILE = {
    "deep": "{" * 900 + "x" + "}" * 900,
    "never closed": "{" * MOST_CHARS,
    "deep fractions": r"\frac{" * 200 + "x" + "}{y}" * 200,
    "deep roots": r"\sqrt" * 300 + "x",
    "deep accents": r"\hat" * 400 + " x",
    "deep tables": r"\begin{matrix}" * 50 + "x" + r"\end{matrix}" * 50,
    "fences": r"\left(" * 160 + r"\right)" * 160,
    "primes": "x" + "'" * 1_900,
    "macros": r"\def\a{xxxxxxxx}\def\b{\a\a\a\a}\def\c{\b\b\b\b}\c\c\c",
    "endless macro": r"\newcommand{\a}{x\a}\a",
    "long": "x+" * MOST_CHARS,
    "link": r"\href{javascript:alert(1)}{x}",
    "reference": r"\eqref{x}",
    "address": r"\url{https://evil.example}",
    "script": r"\text{<script>alert(1)</script>}",
    "image": r"\text{<img src=x onerror=alert(1)>}",
    "markup": "<b>x</b>",
    "closed": "</math><script>alert(1)</script>",
    "class": r"\class{composer}{x}",
    "style": r"\style{position:fixed}{x}",
    "action": r"\texttip{x}{y} \mmlToken{mi}{x}",
    "huge": r"\hspace{99999em}x\rule{999em}{999em}",
    "far away": r"\raisebox{50em}{x}",
    "over other text": r"\hspace{-90em}x\kern-90em y",
    "colour": r"\color{red;background:url(//evil.example)}x",
    "control": "x\x1b[31m\x00\u202ey",
    "half a character": "x\ud800",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_formula_is_harmless_and_small(name: str) -> None:
    for answer in (f"${HOSTILE[name]}$", f"$$\n{HOSTILE[name]}\n$$"):
        html = html_of(answer.encode(errors="replace").decode())

        tags = re.findall(r"<(/?)([a-z0-9]+)([^>]*)>", html)
        assert {each for _, each, _ in tags} <= {"p", "code", "br"} | MATH_ELEMENTS
        allowed = set().union(*MATH_ATTRIBUTES.values())
        for _, _, attributes in tags:
            assert set(re.findall(r" ([a-z]+)=", attributes)) <= allowed
            assert not re.search(r'="-|\d{3}em|url|javascript', attributes)
        assert len(html) < 60_000


def test_what_is_beyond_the_bounds_is_not_even_tried() -> None:
    assert formula_html("x" * MOST_CHARS, is_display=False) is not None
    assert formula_html("x" * (MOST_CHARS + 1), is_display=False) is None
    assert formula_html("{" * 50 + "}" * 50, is_display=False) is not None
    assert formula_html("{" * 51 + "}" * 51, is_display=False) is None


DEEP = r"""
import threading
from antiphon.api.formulas import formula_html

def draw():
    for sign in (r"\hat", r"\not", r"\vec", r"\sqrt", r"\left(", r"\frac1", "x^", r"\begin{matrix}", r"\overset1"):
        formula_html(sign * (2_000 // len(sign)), is_display=True)
    formula_html(r"\frac{" * 50 + "x" + "}" * 50, is_display=True)
    print("drawn")

threading.stack_size(1024 * 1024)
thread = threading.Thread(target=draw)
thread.start()
thread.join()
"""


def test_the_deepest_formula_needs_no_more_than_the_smallest_stack_of_a_thread() -> (
    None
):
    # That of Alpine's Python; the process would end, whatever it did.
    done = subprocess.run(
        [sys.executable, "-c", DEEP], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (0, "drawn\n"), done.stderr


def test_a_formula_is_text_until_it_is_closed_while_the_answer_is_written() -> None:
    answer = "We have\n\n$$\nx\n- 1\n$$\n\nand $y_1$ too."
    draft = DraftHtml()
    shown: list[str] = []
    settled = ""
    for sign in answer:
        html = draft.after(TextDelta(call_id="c1", text=sign))
        if html is not None:
            settled += html.settled
            shown.append(settled + html.open)

    assert shown[-1] == html_of(answer)
    for text in shown:
        # A line of the formula that has no end yet is no list.
        assert "<li>" not in text
    assert [text for text in shown if text.count("<math") == 1]
    assert any("$y_1" in text for text in shown)
