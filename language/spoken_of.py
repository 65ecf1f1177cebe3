"""Recognises things that a question merely mentions and does not ask for: a thing's name, a teacher who acts.

Pure.
"""

from __future__ import annotations

import re

READ_CHARS = 2_000
_THING_CALLED = re.compile(
    r"\b(?:is|was|are|were|['\u2019]s)\s+(?:that|the|this|those|these)\s+(?P<thing>\w+)\s+(?:called|named)\b",
    re.I,
)
_SOME_TITLE = re.compile(r"(?<!\bha[sd] )(?<!have )(?<!with )\ba title\b", re.I)
_HAS_TITLE = frozenset(("course", "class", "lesson", "lecture", "session", "one"))
_TEACHER = r"(?:the|our|your|this|that)\s+(?:teacher|instructor|lecturer|professor|prof|tutor|educator|author)s?"
_ACTS = re.compile(
    rf"\b(?:how|what|why|when|where)\b[^.;?!\n]{{0,60}}?\b(?:do|does|did|would|should|has|have|had)\s+{_TEACHER}\s+"
    r"(?!called\b|named\b|of\b|for\b|in\b|teach)[a-z]",
    re.I,
)


def asks_name_of_thing(text: str) -> bool:
    """Returns True for "What was that rule called?", which asks for no title of a lesson."""
    found = _THING_CALLED.search(text)
    return found is not None and found["thing"].lower() not in _HAS_TITLE


def speaks_of_some_title(text: str) -> bool:
    """Returns True for "when a title is deleted": a lesson's would be "the title"."""
    return _SOME_TITLE.search(text) is not None


def has_teacher_act(text: str) -> bool:
    """Returns True for "How does the lecturer explain it?", which does not ask for the lecturer's name."""
    return _ACTS.search(text[:READ_CHARS]) is not None
