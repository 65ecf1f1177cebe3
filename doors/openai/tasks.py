"""What Open WebUI asks a model for beside the user's questions: a title, tags, what to ask next. No question is asked.

Its requests are told by their form, which its settings may change
(https://github.com/open-webui/open-webui/blob/main/backend/open_webui/config.py, `DEFAULT_…_PROMPT_TEMPLATE`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from antiphon.doors.openai.bodies import Item, Message, last_text
from antiphon.service import Antiphon

TITLE_CHARS = 60
FOLLOW_UPS = 3
TASK = "### Task:\n"
_WANTED = re.compile(
    r"### Output:?\s.{0,2000}?\"(title|tags|follow_ups|queries|text)\"", re.DOTALL
)
_ASKED = re.compile(r"<chat_history>\s*USER: (.+)")


async def reply_to_task(
    service: Antiphon, messages: Sequence[Message | Item]
) -> str | None:
    """Returns the JSON that one of these requests wants, made without a model; None for a question."""
    if len(messages) != 1 or messages[0].role != "user":
        return None
    prompt = last_text(messages)
    wanted = _WANTED.search(prompt) if prompt.startswith(TASK) else None
    if wanted is None:
        return None
    kind = wanted[1]
    reply: dict[str, object] = {kind: []}
    if kind == "follow_ups":
        found = await service.suggestions(FOLLOW_UPS)
        reply = {kind: [each.question for each in found]}
    elif kind == "title":
        asked = _ASKED.search(prompt)
        reply = {kind: asked[1].strip()[:TITLE_CHARS] if asked else ""}
    elif kind == "text":
        reply = {kind: ""}
    return msgspec.json.encode(reply).decode()
