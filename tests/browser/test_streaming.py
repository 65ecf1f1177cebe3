"""A streaming answer as a person sees it: rendered in every frame, steady at its end, kept when stopped."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WIDE, OpenPage, serving_double
from tests.browser.on_screen import hidden_parts

ANSWER = """## Two kinds of mailbox

A mailbox is a **queue of messages** with `names_and_numbers`, and *never* a list. It is read from its front.

| mailbox | good at | blind to |
|---|---|---|
| **apple** | exact words | meaning |
| pear | paraphrases | 3.5 |

1. first **bold item** of the list
2. second with `code`
   - nested *deep*

```python
# a comment
def f(x):
    return x ** 2
```

> quoted **text
> goes** on

So both are **mailboxes**, and neither is a stack.
"""
SEARCH = {"name": "search_course_content", "input": {"query": "applemailbox2"}}
NARROW = {"width": 360, "height": 740}

# Records for each frame the words outside code, the first paragraph's position, and the text's height.
_WATCH = """() => {
    window.frames_ = [];
    const look = () => {
        const text = document.querySelector(".answer-text");
        if (text !== null) {
            const words = [...text.children].filter((each) => !each.matches("pre, .code-block"));
            const first = text.querySelector("p");
            const top = document.querySelector(".exchange").getBoundingClientRect().top;
            window.frames_.push({
                words: words.map((each) => each.innerText).join("\\n"),
                first: first && Math.round(first.getBoundingClientRect().top - top),
                height: Math.round(text.getBoundingClientRect().height),
                isDraft: text.classList.contains("draft"),
            });
        }
        requestAnimationFrame(look);
    };
    look();
}"""
_SIGNS = re.compile(r"\*|~~|`|##|\||--")


def scripted(text: str, **pace: Any) -> dict[str, Any]:
    """A script in which the model searches once and then writes this text."""
    pace = {"between_s": 0.02, "delta_chars": 5, **pace}
    return {"replies": [{"calls": [SEARCH]}, {"text": text, **pace}], "then": "last"}


def frames_of(page: Page) -> list[dict[str, Any]]:
    """The recorded frames."""
    frames: list[dict[str, Any]] = page.evaluate("window.frames_")
    return frames


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_markdown_is_rendered_in_every_frame_and_nothing_moves_at_the_end(
    size: Any, data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    with serving_double(data_dir, tmp_path, scripted(ANSWER)) as server:
        watched = open_page(server, viewport=size)
        page = watched.open()
        page.evaluate(_WATCH)

        watched.ask("Compare the two mailboxes.")
        expect(page.locator(".answer-foot")).to_be_visible()
        page.wait_for_function("!window.frames_.at(-1).isDraft")

        frames = frames_of(page)
        assert [
            each["words"][-80:] for each in frames if _SIGNS.search(each["words"])
        ] == []
        drafts = [each for each in frames if each["isDraft"]]
        assert len(drafts) > 20
        assert {each["first"] for each in frames if each["first"] is not None} == {
            frames[-1]["first"]
        }
        assert drafts[-1]["height"] == frames[-1]["height"]
        assert frames[-1]["words"].startswith(drafts[-1]["words"])
        heights = [each["height"] for each in drafts]
        assert heights == sorted(heights)


def test_stop_keeps_the_written_text_and_shows_its_cost(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    script = scripted(ANSWER, between_s=0.15)
    with serving_double(data_dir, tmp_path, script) as server:
        watched = open_page(server)
        page = watched.open()
        watched.ask("Compare the two mailboxes.")
        first = page.locator(".answer-text p").first
        expect(first.locator("strong")).to_have_text("queue of messages")
        page.evaluate(_WATCH)

        page.get_by_role("button", name="Stop").click()
        expect(page.locator(".answer-foot")).to_be_visible()

        frames = frames_of(page)
        written = [each["words"] for each in frames]
        assert all(
            each.startswith("Two kinds of mailbox\nA mailbox is a queue")
            for each in written
        )
        assert written == sorted(written, key=len)
        assert len({each["first"] for each in frames}) == 1
        notice = page.locator(".stopped")
        assert hidden_parts(notice) == []
        assert re.search(
            r"You stopped this answer\. Used until then: 1 call, [\d,]+ tokens, \$0\.\d+, and what the provider bills",
            notice.inner_text(),
        )
        assert notice.bounding_box()["y"] > first.bounding_box()["y"]  # type: ignore[index]
        found = page.get_by_text("What had been found by then")
        found.click()
        expect(page.get_by_text("This is what was found")).to_be_visible()


def test_a_new_question_moves_to_the_top_and_the_latest_is_one_press_away(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    script = scripted(ANSWER * 4, between_s=0.01, delta_chars=12)
    with serving_double(data_dir, tmp_path, script) as server:
        watched = open_page(server)
        page = watched.open()
        jump = page.get_by_role("button", name="Jump to the latest")
        for number in range(2):
            watched.ask(f"Compare the two mailboxes, {number}.")
            expect(page.locator(".asked .question").nth(number)).to_be_in_viewport()
            expect(page.locator(".answer-foot")).to_have_count(number + 1)

            # The page must not scroll away from a person who reads the answer from its beginning.
            question = page.locator(".question").nth(number).bounding_box()
            assert question is not None
            assert 0 <= question["y"] < 80
            expect(jump).to_be_visible()
            assert hidden_parts(jump) == []
        jump.click()

        expect(jump).to_be_hidden()
        expect(page.locator(".answer-foot").last).to_be_in_viewport(ratio=1)
        page.locator(".scroller").evaluate("(each) => each.scrollTo(0, 0)")
        expect(jump).to_be_visible()
