"""An answer's formulas as a person sees them: drawn, whole, and scrollable if there is no room."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import (
    OpenPage,
    serving,
    serving_double,
    violations,
    without_traces,
)

PHONE = {"width": 360, "height": 740}
WIDE_SUM = " + ".join([f"x_{{{number}}}" for number in range(40)])
ANSWER = (
    "The share is $\\frac{a}{b}$, which costs $5 and no more than $10 in `$HOME`.\n\n"
    "$$\n\\begin{aligned} f(x) &= \\frac{1}{1+e^{-x}} \\\\ &= g(x) \\end{aligned}\n$$\n\n"
    f"$$\n{WIDE_SUM}\n$$\n\nThat is $\\class{{composer}}{{x}}$."
)
SCRIPT = {"replies": [{"text": ANSWER}]}
# A properly drawn fraction: its parts lie one above the other in their own box, which lies in the window.
_DRAWN = """(fraction) => {
    const whole = fraction.getBoundingClientRect();
    const [above, below] = [...fraction.children].map((part) => part.getBoundingClientRect());
    return above.height > 0 && below.height > 0 && above.bottom <= below.top + 1
        && whole.height >= above.height + below.height
        && whole.top >= 0 && whole.left >= 0 && whole.right <= innerWidth && whole.bottom <= innerHeight;
}"""


def test_formulas_are_drawn_whole_and_money_is_not(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    with serving_double(data_dir, tmp_path, SCRIPT) as server:
        watched = open_page(server, viewport=PHONE)
        page = watched.open()

        watched.ask("What is the share?")

        expect(page.locator(".answer-foot")).to_be_visible()
        answer = page.locator(".answer-text")
        expect(answer.locator("math")).to_have_count(3)
        for fraction in answer.locator("mfrac").all():
            fraction.scroll_into_view_if_needed()
            assert fraction.evaluate(_DRAWN)
        expect(answer).to_contain_text("costs $5 and no more than $10")
        expect(answer).to_contain_text("\\class{composer}{x}")
        wide = answer.locator("math").nth(2)
        room = wide.evaluate(
            "(math) => [math.scrollWidth > math.clientWidth, math.clientWidth <= innerWidth]"
        )
        assert room == [True, True]
        assert page.evaluate("document.body.scrollWidth <= innerWidth")
        wide.focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function(
            "(math) => math.scrollLeft > 0", arg=wide.element_handle()
        )
        assert violations(page) == []


COURSE = """Course Title: Logistic Curves
Lesson 1: The sigmoid
The sigmoid of a score is $\\sigma(z) = \\frac{1}{1+e^{-z}}$, and a lamp costs $5 or $10.

A derivative stands on lines of its own:
$$
\\frac{d\\sigma}{dz}
= \\sigma(z)(1-\\sigma(z))
$$
"""


def test_formulas_of_a_passage_are_drawn_in_its_card_in_the_reader_and_in_the_search(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    file = tmp_path / "curves.txt"
    file.write_text(COURSE)
    with serving(without_traces(data_dir, tmp_path), tmp_path) as server:
        watched = open_page(server)
        page = watched.open()
        page.locator(".composer input[type=file]").set_input_files([file])
        files = page.get_by_label("Documents", exact=True)
        expect(files).to_contain_text(
            "Ready for questions: 1 document.", timeout=90_000
        )
        watched.ask("What is the sigmoid of a score?")
        mark = page.locator(".mark").first
        expect(mark).to_be_visible()

        mark.hover()

        card = page.get_by_role("tooltip")
        expect(card.locator("mark mfrac")).to_have_count(1)
        assert card.locator("mark mfrac").evaluate(_DRAWN)
        expect(card).to_contain_text("costs $5 or $10")
        mark.click()
        text = page.get_by_role("region", name="Text")
        expect(text.locator("mfrac")).to_have_count(2)
        for fraction in text.locator("mfrac").all():
            fraction.scroll_into_view_if_needed()
            assert fraction.evaluate(_DRAWN)
        expect(text).to_contain_text("costs $5 or $10")
        expect(text).not_to_contain_text("frac")
        assert violations(page) == []
        watched.open("/search?q=sigmoid+of+a+score")
        found = page.locator(".result mfrac").first
        expect(found).to_be_visible()
        assert found.evaluate(_DRAWN)
