"""What a person sees of an element: what lies in the window, and is cut off by no box round it."""

from __future__ import annotations

from playwright.sync_api import Locator

# Lines beyond a clamp lie outside their element's own box, which cuts them off as any other box does.
_HIDDEN = """(element) => {
    const text = document.createRange();
    text.selectNodeContents(element);
    let [left, top, right, bottom] = [0, 0, innerWidth, innerHeight];
    for (let box = element; box !== null; box = box.parentElement) {
        const { display, overflowX, overflowY } = getComputedStyle(box);
        if (display === "inline" || (overflowX === "visible" && overflowY === "visible")) continue;
        const edges = box.getBoundingClientRect();
        [left, top] = [Math.max(left, edges.left), Math.max(top, edges.top)];
        [right, bottom] = [Math.min(right, edges.right), Math.min(bottom, edges.bottom)];
    }
    const lines = [...text.getClientRects()];
    const hidden = lines.filter((line) =>
        line.left < left - 1 || line.top < top - 1 || line.right > right + 1 || line.bottom > bottom + 1);
    return lines.length === 0 ? ["nothing is drawn"] : hidden.map((line) => `a line at ${Math.round(line.top)} px`);
}"""


def hidden_parts(what: Locator) -> list[str]:
    """The lines of an element's text that a person does not see now."""
    hidden: list[str] = what.evaluate(_HIDDEN)
    return hidden
