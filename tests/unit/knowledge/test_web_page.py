# ruff: noqa: E501 - pages are easier to compare on one line
"""Web pages as people and generators write them: what is furniture of the page goes, all else stays in its shape."""

from __future__ import annotations

import pytest

from antiphon.knowledge.readers import web_page


def shown(body: str) -> list[str]:
    """The lines that hold anything, headings marked by their level."""
    lines = []
    for line in web_page.read(
        f"<!doctype html><meta charset=utf-8>{body}".encode()
    ).lines:
        if line.text.strip():
            mark = f"{'#' * line.level} " if line.level else ""
            lines.append(f"{mark}{line.text.strip()}")
    return lines


@pytest.mark.parametrize(
    "furniture",
    [
        "<nav><a href=/>Home</a> | <a href=/a>Logs</a></nav>",
        "<header><a href=/>The Site</a><p>Best ropes since 1900</p></header>",
        "<footer>© 1900 The Site</footer>",
        "<div role=navigation>Menu</div>",
        "<div role=contentinfo>© 1900</div>",
        "<aside><a href=/a>Logs</a> <a href=/b>Queues</a></aside>",
        "<div class='md-sidebar sidebar'><ul><li><a href=/a>Logs</a></ul></div>",
        "<ul class=breadcrumbs><li><a href=/>Docs</a><li><a href=/a>Logs</a></ul>",
        "<div id=toc><a href=#a>One</a><a href=#b>Two</a></div>",
        "<div id=cookie-banner>We use cookies. <button>Fine</button></div>",
        "<a class=skip href=#main>Skip to content</a>",
        "<a href=https://github.com/x/edit>Edit this page</a>",
        "<p><a href=x>Edit on GitHub</a></p>",
        "<a href=a.html rel=prev>Logs of old</a><a rel=next href=b.html>Queues</a>",
        "<p><a href=a.html>« Previous</a> | <a href=b.html>Next »</a></p>",
        "<button>Copy</button><select><option>One</select><textarea>x</textarea>",
        "<script>evil()</script><style>p {}</style><noscript>Turn it on</noscript>",
        "<dialog>Subscribe?</dialog>",
        "<template>Later</template>",
    ],
)
@pytest.mark.parametrize(
    "around", ["{}", "<div>{}</div>", "<form method=post>{}</form>"]
)
def test_furniture_of_the_page_goes(furniture: str, around: str) -> None:
    body = f"{furniture}<h1>Ropes</h1><p>A rope holds.</p>{furniture}<p>It does.</p>"

    assert shown(around.format(body)) == ["# Ropes", "A rope holds.", "It does."]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<header><h1>Ropes</h1><p>All of them.</p></header><p>Text.</p>", ["# Ropes", "All of them.", "Text."]),
        ("<article><header><p>By Ada</p></header><p>Text.</p><footer>1: A note.</footer></article>", ["By Ada", "Text.", "1: A note."]),
        ("<p>Text.</p><aside><p>Mind it: wet ropes slip.</p></aside>", ["Text.", "Mind it: wet ropes slip."]),
        ("<div class=admonition><p class=title>Warning</p><p>Wet.</p></div>", ["Warning", "Wet."]),
        ("<details><summary>How long?</summary><p>Eleven days.</p></details>", ["How long?", "Eleven days."]),
        ("<h3><button>How long?</button></h3><div><p>Eleven days.</p></div>", ["### How long?", "Eleven days."]),
        ("<button aria-expanded=false>How long?</button><p>Eleven days.</p>", ["How long?", "Eleven days."]),
        ("<p>Take the <a href=b>next</a> rope.</p>", ["Take the next rope."]),
        ("<section id=menu><p>The menu has fish and bread today.</p></section>", ["The menu has fish and bread today."]),
        ("<h2>Ropes<a class=headerlink href=#r title='Permalink'>¶</a></h2>", ["## Ropes"]),
        ("<nav><a href=/a>Logs</a></nav>", ["Logs"]),
        ("<main><p>One.</p></main><p>Cookies?</p><article><p>Two.</p></article>", ["One.", "Two."]),
        ("<main></main><p>Text.</p>", ["Text."]),
        ("<p>Nine weeks on ropes.</p><article><p>Week one is about knots and splices.</p></article>", ["Nine weeks on ropes.", "Week one is about knots and splices."]),
        ("<main><p>Text.</p><div role=navigation><a href=/a>Logs</a></div></main>", ["Text.", "Logs"]),
        ("<body class=has-navigation><p><a href=/a>All about ropes</a></p><p>Text.</p></body>", ["All about ropes", "Text."]),
        ("<div class=related><a href=/a>Knots of old</a> tell how ropes were joined.</div>", ["Knots of old tell how ropes were joined."]),
        ("<header><nav>Menu</nav><article><p>Text.</p></article>", ["Text."]),
        ("<article><p>Teaser.</p></article><p>" + "Text of the page. " * 9 + "</p>", ["Teaser.", ("Text of the page. " * 9).strip()]),
    ],
)  # fmt: skip
def test_what_belongs_to_the_text_stays(body: str, expected: list[str]) -> None:
    assert shown(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<table><tr><th>Rope</th><th>Price</th></tr><tr><td>A</td><td><p>7</p><p>crowns</p></td></tr></table>", ["| Rope | Price |", "| A | 7 crowns |"]),
        ("<table><tr><td>A</td><td>7</td></tr></table>", ["| A | 7 |"]),
        ("<table><tr><td><p>One.</p><p>Two.</p></td></tr></table>", ["One.", "Two."]),
        ("<table role=presentation><tr><td>One.</td><td>Two.</td></tr></table>", ["One.", "Two."]),
        ("<table><tr><td><h2>One</h2>Text.</td><td>Two.</td></tr></table>", ["## One", "Text.", "Two."]),
        ("<table><tr><td>One.</td><td><table><tr><td>a</td><td>b</td></tr></table></td></tr></table>", ["One.", "| a | b |"]),
        ("<ol start=3><li>Three<ul><li>a</ul><li><p>Four</p></ol>", ["3. Three", "- a", "4. Four"]),
        ("<dl><dt>RPM</dt><dd>Turns.</dd><dt>Which?</dt><dd>This.</dd></dl>", ["RPM:", "Turns.", "Which?", "This."]),
        ("<pre><code class=language-python>x = 1\n  y</code></pre>", ["```python", "x = 1", "y", "```"]),
        ("<div class='highlight-sh notranslate'><div class=highlight><pre>ls<br>cd</pre></div></div>", ["```sh", "ls", "cd", "```"]),
        ("<table class=highlighttable><tr><td class=linenos><pre>1\n2</pre></td><td class=code><pre>a\nb</pre></td></tr></table>", ["```", "a", "b", "```"]),
        ("<pre><div>a</div><div>b</div></pre>", ["```", "a", "b", "```"]),
        ("<p>10<sup>6</sup> on the 4<sup>th</sup></p>", ["10^6 on the 4th"]),
        ("<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby> <ruby>字<rt>ji</rt></ruby></p>", ["漢(kan) 字(ji)"]),
    ],
)  # fmt: skip
def test_the_shape_of_tables_lists_and_programs_stays(
    body: str, expected: list[str]
) -> None:
    assert shown(body) == expected


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("<math><mi>v</mi><mo>=</mo><mfrac><mn>1</mn><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow></mfrac></math>", "v = 1/(a + b)"),
        ("<math><msup><mi>x</mi><mn>2</mn></msup><msqrt><mi>y</mi></msqrt></math>", "x^2 √(y)"),
        ("<math><semantics><mi>v</mi><annotation encoding=application/x-tex>v_1</annotation></semantics></math>", "$v_1$"),
        ("<span class=katex><span class=katex-mathml><math><mi>v</mi></math></span><span class=katex-html aria-hidden=true>v</span></span>", "v"),
        ("<script type='math/tex'>v = 17</script>", "$v = 17$"),
        ("<span aria-hidden=true>5 kn</span><span class=sr-only>five knots</span>", "five knots"),
        ("<span aria-hidden=true>5 kn</span>", "5 kn"),
    ],
)  # fmt: skip
def test_a_formula_is_read_once(formula: str, said: str) -> None:
    assert shown(f"<p>It is {formula} here.</p>") == [f"It is {said} here."]


def test_what_is_seen_and_not_read_is_told() -> None:
    content = web_page.read(
        b"<p>Text. <img src=plan.png><img src=x.png alt=''><img src=a.png alt='A plan'>"
        b"<img src=https://img.shields.io/x.svg><img src=dot.png width=1 height=1>"
        b"<iframe src=https://www.youtube.com/embed/x></iframe><video src=x></video><iframe src=demo.html></iframe></p>"
        b"<nav><img src=logo.png></nav>"
    )

    assert content.losses == (
        "2 images without a description",
        "2 embedded videos were not read",
        "an embedded page was not read",
    )
    assert "A plan" in " ".join(line.text for line in content.lines)


def test_xhtml_closes_what_html_would_leave_open() -> None:
    page = (
        b'<?xml version="1.0" encoding="UTF-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head><title/>'
        b'<script src="a.js"/></head><body><a id="x"/><h1>Ropes</h1><div class="nav"/><p>Text.</p></body></html>'
    )

    lines = [line.text for line in web_page.read(page).lines if line.text]

    assert lines == ["Ropes", "Text."]
