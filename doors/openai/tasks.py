"""Replies to Open WebUI's own requests to a model: a title, tags, follow-up questions. They do not become queries.

A request is recognised by its form, which Open WebUI's settings may change
(https://github.com/open-webui/open-webui/blob/main/backend/open_webui/config.py, `DEFAULT_…_PROMPT_TEMPLATE`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from antiphon.doors.conversation import ToldMessage, last_text
from antiphon.service import Antiphon
from antiphon.vocabulary.access import without_keys

TITLE_CHARS = 60
FOLLOW_UPS = 3
MOST_SUGGESTIONS = 20
TASK = "### Task:\n"
HISTORY = "<chat_history>"
_WANTED = re.compile(r"\{\s{0,9}\"(title|tags|follow_ups|queries|prompt|text)\":")
"""The form of the reply, which each request shows before any text of the user's."""
_ASKED = re.compile(r"<chat_history>\s{0,9}USER: (.+)")


async def reply_to_task(
    service: Antiphon, messages: Sequence[ToldMessage]
) -> str | None:
    """Returns the JSON for one of these requests, made without a model; None for a question."""
    if len(messages) != 1 or messages[0].role != "user":
        return None
    prompt = without_keys(last_text(messages))
    wanted = _WANTED.search(prompt)
    if wanted is None or not prompt.startswith(TASK) or HISTORY not in prompt:
        return None
    kind = wanted[1]
    made: object = [] if kind in ("tags", "queries") else ""
    if kind == "title":
        made = _title(prompt)
    elif kind == "follow_ups":
        made = await _follow_ups(service, prompt)
    return msgspec.json.encode({kind: made}).decode()


def _title(prompt: str) -> str:
    """Returns the beginning of the first question."""
    asked = _ASKED.search(prompt)
    return asked[1].strip()[:TITLE_CHARS] if asked else ""


async def _follow_ups(service: Antiphon, prompt: str) -> list[str]:
    """Returns questions that the index answers, first those of the courses that the conversation names."""
    found = await service.suggestions(MOST_SUGGESTIONS)
    near = sorted(found, key=lambda each: each.course not in prompt)
    return [each.question for each in near[:FOLLOW_UPS]]
