"""Recognises sentences that define the thing that a question asks about, by its name; pure.

Speakers put the name as often after the definition ("this is called stemming") as before it, and the long form beside a
short name ("a receiver operator characteristic curve, or ROC curve").
"""

from __future__ import annotations

import re

MOST_WORDS = 4
"""Most words of a name: a longer one is a question of its own, which a sentence that repeats it need not answer."""
_ASKED = re.compile(
    r"\W*(?:(?:so|and|ok|well|hey),? )*(?:what(?:'s|\u2019s| is| are| was| were| does| do)|define|explain) "
    r"(?:meant by |the (?:meaning|definition) of )?(?:an? |the )?(.{2,60}?)"
    r"(?: (?:means?|stands? for|refers? to|called|about))?(?: in [\w ]{1,30})?\W*",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w+#.]+")
_OPENING = (
    r"(?:\W*(?:so|and|now|well|but|basically|in general|an?|the|this|here)\b\W*)*"
)
_OTHER_NAME = r"(?:\s*\([^)]*\)|,\s*(?:or|also|which)[^,]*,)?"
_SAYS = r"(?:is|are|was|means?|refers?|stands?|measures?|describes?|predicts?)\b"
_SAYS_SOMETHING_ELSE = r"(?! (?:used|shown|given|called by|not|very|also|hard)\b)"
_NAMES = (
    r"\b(?:called|known as|named|termed|dubbed|defin\w+|by|refer(?:red|s)? to(?: \w+)? as|call(?: \w+)?"
    r"|(?:definition|meaning|idea|concept) of)\s+(?:an?\s+|the\s+|as\s+)*\W?"
)
_LONG_FORM = r"(?-i:[A-Z]\w+(?:[ -][A-Z]\w+)+)"


class Definition:
    """The thing whose definition a question asks for, if it asks for one."""

    def __init__(self, question: str) -> None:
        self._form: re.Pattern[str] | None = None
        asked = _ASKED.fullmatch(question.strip())
        if asked is None:
            return
        written = _WORD.findall(asked[1])
        if 0 < len(written) <= MOST_WORDS:
            name = r"[\W_]+".join([_any_form(word) for word in written])
            self._form = _form_for(name)

    def stands_in(self, sentence: str) -> bool:
        """Returns True if the sentence defines the thing."""
        return self._form is not None and self._form.search(sentence) is not None


def _any_form(word: str) -> str:
    """Returns a pattern for the singular and the plural of a word."""
    if len(word) > 4:
        word = word[:-1]
    return rf"{re.escape(word)}\w*"


def _form_for(name: str) -> re.Pattern[str]:
    said_first = rf"^{_OPENING}{name}{_OTHER_NAME}\s+{_SAYS}{_SAYS_SOMETHING_ELSE}"
    said_last = rf"{_NAMES}{name}"
    beside_long_form = rf"{_LONG_FORM}[^.]{{0,20}}(?:\bor (?:an? |the )?|\(){name}|\b{name} stands? for"
    in_other_words = rf"\b{name}, (?:or|meaning|that is|which (?:is|are|means?))\b"
    forms = (said_first, said_last, beside_long_form, in_other_words)
    return re.compile("|".join(forms), re.IGNORECASE)
