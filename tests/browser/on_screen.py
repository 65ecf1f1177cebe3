"""The part of an element that a person sees: inside the window, and not clipped by any box around it."""

from __future__ import annotations

from playwright.sync_api import Locator

# Lines beyond a line clamp lie outside their element's own box, so it clips them like any other box.
_HIDDEN = """(element) => {
    if (!element.isConnected) return null;
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
    """Returns the lines of an element's text that a person cannot see now."""
    hidden: list[str] | None = None
    # The page may redraw the element between finding it and looking at it: then look again.
    while hidden is None:
        hidden = what.evaluate(_HIDDEN)
    return hidden


# Words may span several elements, and other elements may cover them.
_SEEN = """(root, words) => {
    const nodes = [];
    let text = "";
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const { data } = walker.currentNode;
        for (let at = 0; at < data.length; at += 1) {
            if (/\\s/.test(data[at]) && text.endsWith(" ")) continue;
            text += /\\s/.test(data[at]) ? " " : data[at];
            nodes.push([walker.currentNode, at]);
        }
    }
    const isSeen = (box, left, top, right, bottom) => {
        for (; box !== null; box = box.parentElement) {
            const { display, overflowX, overflowY } = getComputedStyle(box);
            if (display === "inline" || (overflowX === "visible" && overflowY === "visible")) continue;
            const edges = box.getBoundingClientRect();
            if (left < edges.left - 1 || top < edges.top - 1 || right > edges.right + 1 || bottom > edges.bottom + 1)
                return false;
        }
        return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
    };
    for (let at = text.indexOf(words); at !== -1; at = text.indexOf(words, at + 1)) {
        const range = document.createRange();
        range.setStart(...nodes[at]);
        const [last, offset] = nodes[at + words.length - 1];
        range.setEnd(last, offset + 1);
        const lines = [...range.getClientRects()];
        const seen = lines.filter((line) => {
            const there = document.elementFromPoint((line.left + line.right) / 2, (line.top + line.bottom) / 2);
            const box = range.startContainer.parentElement;
            return root.contains(there) && isSeen(box, line.left, line.top, line.right, line.bottom);
        });
        if (lines.length > 0 && seen.length === lines.length) return true;
    }
    return false;
}"""


def shows(what: Locator, words: str) -> bool:
    """Whether a person sees all these words together in an element now, neither clipped nor covered."""
    seen: bool = what.evaluate(_SEEN, words)
    return seen
