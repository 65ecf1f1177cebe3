"""Formulas of an answer as a person sees them: drawn, whole, and where there is no room, to be scrolled."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage, serving_double, violations

PHONE = {"width": 360, "height": 740}
WIDE_SUM = " + ".join([f"x_{{{number}}}" for number in range(40)])
ANSWER = (
    "The share is $\\frac{a}{b}$, which costs $5 and no more than $10 in `$HOME`.\n\n"
    "$$\n\\begin{aligned} f(x) &= \\frac{1}{1+e^{-x}} \\\\ &= g(x) \\end{aligned}\n$$\n\n"
    f"$$\n{WIDE_SUM}\n$$\n\nThat is $\\class{{composer}}{{x}}$."
)
SCRIPT = {"replies": [{"text": ANSWER}]}
# A fraction as it is drawn: its parts above one another, in their own box, and that in the window.
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
