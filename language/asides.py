"""Takes out of a message what names nothing that is asked; pure.

A reason speaks of the person who asks ("since two of my colleagues would like to enrol"), the form of an answer says
how it is to be given ("in short", "tldr"), and what is denied is not wanted ("not a single lesson").
"""

from __future__ import annotations

import re

READ_CHARS = 2_000
_CONJUNCTION = r"(?:so that|in order that|since|as|because|given that|now that)"
_OF_ASKER = r"(?:[\w'\u2019]+ ){0,3}(?:i|i['\u2019]\w+|we|my|our)\b"
_REASON_BEHIND = re.compile(
    rf",\s*{_CONJUNCTION}\s+{_OF_ASKER}[^.;?!\n]*", re.IGNORECASE
)
_REASON_IN_FRONT = re.compile(
    rf"(?:^|(?<=[.?!] )){_CONJUNCTION}\s+{_OF_ASKER}[^.,;?!\n]*,\s*", re.IGNORECASE
)
_PURPOSE_IN_FRONT = re.compile(
    r"(?:^|(?<=[.?!] ))for (?:my|our)\s+[^.,;?!\n]{1,60}?(?:,\s*|\s+(?=(?:i|we)\b))",
    re.IGNORECASE,
)
_PURPOSE_BEHIND = re.compile(
    r",?\s+for (?:my|our) \w+(?: \w+)?\s*(?=[.?!]*\s*$)", re.IGNORECASE
)
_COUNTED_IN = re.compile(
    r",\s*(?:the\s+)?\w+ (?:included|excluded)\b|,?\s*including the introduction\b",
    re.IGNORECASE,
)
_SAID_AFTERWARDS = re.compile(
    r"(?<=[?.!])\s+(?:i|we|my|our)\b(?! (?:mean|meant|want|need|ask))[^.;?!\n]*[.!]?\s*$",
    re.IGNORECASE,
)
_FORM = (
    r"(?:tl;?\s?dr|eli\s?5|(?:explain|explained) (?:it )?like i['\u2019]?m (?:five|5)|(?:very )?briefly"
    r"|in (?:short|brief|a nutshell)|in (?:a few|few|one|two|three|simple|plain) (?:words?|sentences?|lines|terms)"
    r"|in (?:simple|plain) english"
    r"|for dummies|(?:the )?short (?:version|answer|explanation))"
)
_FORM_IN_FRONT = re.compile(rf"^\W*{_FORM}\b[\s,:.!\u2013-]*", re.IGNORECASE)
_FORM_BEHIND = re.compile(rf"[\s,:.(\u2013-]+{_FORM}\W*$", re.IGNORECASE)
_DENIED = re.compile(
    r"(?:^|[,;(.])\s*(?:and |but )?not (?:(?:a|an|any|the|of|one|single|particular|individual)\s+){1,3}"
    r"(?:lesson|lecture|course)s?\s*(?=[.,;!?)]|$)",
    re.IGNORECASE,
)


def without_form(question: str) -> str:
    """Returns the question without words at its ends that ask for a form of the answer; as it is, if that is all."""
    text = question[:READ_CHARS]
    asked = _FORM_BEHIND.sub("", _FORM_IN_FRONT.sub("", text)).strip()
    if not asked or asked == text.strip():
        return question
    if text.rstrip().endswith("?"):
        return f"{asked.rstrip('?')}?"
    return asked


def without_reasons(question: str) -> str:
    """Returns the question without the clauses in which the person who asks says why, or what is not wanted."""
    text = question[:READ_CHARS]
    for pattern in (
        _REASON_BEHIND,
        _REASON_IN_FRONT,
        _PURPOSE_IN_FRONT,
        _PURPOSE_BEHIND,
        _COUNTED_IN,
        _SAID_AFTERWARDS,
        _DENIED,
    ):
        text = pattern.sub("", text)
    return text.strip() or question
