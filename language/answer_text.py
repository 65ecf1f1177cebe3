"""Extracts the answer from the text of a model's reply; pure.

A server that does not parse a model's own format passes its thinking and its tool calls on as text, and some models
write calls as text if they may call no tool. Neither is an answer. Markup within Markdown code is ordinary text,
because an answer may be about it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from antiphon.vocabulary.events import ReasoningCompleted
from antiphon.vocabulary.values import ReplyCitation

READS_REPLIES = 2
"""The first version of the rules (`QueryReceived.rules`) that does not take every text for an answer."""

EMPTY = "the model's reply was empty"
DECLINED = "the model declined to answer"
ONLY_THINKING = "the model wrote down its thinking and no answer"
TOOL_CALL = "the model wrote a tool call in place of an answer"

# Code comes first, so that no other pattern matches inside it. An unclosed fence reaches to the end. Inline code has a
# maximum length; otherwise the search for a partner of each unpaired backtick would scan the whole text.
_CODE = r"""
    ^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(?P<fence>`{3,}|~{3,})[^`\n]*$
    (?:.*?^[ \t>]*(?P=fence)[`~]*[ \t]*$|.*)
    |(?<![`\\])(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n).){1,2000}?(?<!`)(?P=ticks)(?!`)
"""
# At the beginning of a line, because a sentence may name the tag. An unclosed block reaches to the end.
_THINKING = r"^[ ]{0,3}(?:<(?P<tag>think|thinking)>.*?(?:</(?P=tag)>\s*|\Z))+"
# If the prompt opens the block, as some chat templates do, the reply holds only its end
# (https://docs.vllm.ai/en/v0.20.1/api/vllm/reasoning/qwen3_reasoning_parser/).
_THINKING_END = r"^[ \t]*</(?:think|thinking)>[ \t]*$\s*"
# The formats of Claude, and of the models that vLLM parses (https://docs.vllm.ai/en/v0.26.0/api/vllm/parser/).
# The parts of a call must follow the tag, because a sentence may name the tag.
_CALL = r"""
    <(?:[\w-]+:|[|\uff5c]\w+[|\uff5c])?(?:function_calls|tool_calls?)>(?=\s*(?:[{\[]|<(?!/)|\Z|[\w.-]+\s*<arg_)|[ \t]*$)
    |<(?:[\w-]+:|[|\uff5c]\w+[|\uff5c])?invoke\s+\w+\s*=
    |<function=[\w.-]+>
    |<[|\uff5c]tool
    |\[TOOL_CALLS\]
"""
_MARKUP = re.compile(
    f"(?P<code>{_CODE})|(?P<thinking>{_THINKING})|(?P<thinking_end>{_THINKING_END})|(?P<call>{_CALL})",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


class Span(NamedTuple):
    """Characters of a text, from `start` to `end`."""

    start: int
    end: int


class AnswerText(NamedTuple):
    """The part of a reply's text that is an answer.

    Attributes:
        text: The answer, without outer white space; empty if the reply holds none.
        removed: The parts of the reply's text that were left out, in order.
        indent: The length of the white space at the beginning of the rest.
        flaw: Why there is no answer, or why it breaks off, in words for users; empty otherwise.
    """

    text: str
    removed: tuple[Span, ...] = ()
    indent: int = 0
    flaw: str = ""

    def place_of(self, at: int) -> int:
        """Returns the place in the answer of the reply's character `at`, or of the next one if that was left out."""
        place = at - self.indent
        for span in self.removed:
            if span.start < at:
                place -= min(at, span.end) - span.start
        return min(max(0, place), len(self.text))

    def leaves_out(self, cited: ReplyCitation) -> bool:
        """Returns True if the citation belongs to text that was left out."""
        return any(
            span.start <= cited.start < cited.end <= span.end for span in self.removed
        )


def answer_of(reply: ReasoningCompleted, rules: int) -> AnswerText:
    """Returns the answer in a reply, by this version of the rules."""
    text = reply.text.text
    if rules < READS_REPLIES:
        return _without(text, ())
    # Text before a refusal is not part of an answer
    # (https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons).
    if reply.stop_reason == "refusal":
        return AnswerText("", flaw=DECLINED)
    return answer_text(text, reply.citations)


def answer_text(text: str, cited: Sequence[ReplyCitation] = ()) -> AnswerText:
    """Returns the answer in a text.

    Thinking is left out, and so is everything from the first tool call on: it rests on results that nobody found. The
    text before a call merely announces it, unless it cites something.
    """
    # Most answers hold no markup, and need no search.
    if "<" not in text and "[TOOL_CALLS]" not in text:
        return _without(text, ())
    removed: list[Span] = []
    for found in _MARKUP.finditer(text):
        kind = found.lastgroup
        if kind == "code" or _is_quoted(found, cited):
            continue
        if kind == "thinking":
            removed.append(Span(*found.span()))
        elif kind == "thinking_end":
            # The prompt can have opened only the first block.
            start = found.start() if removed else 0
            removed.append(Span(start, found.end()))
        else:
            removed.append(Span(found.start(), len(text)))
            return _before_call(_without(text, removed), cited)
    return _without(text, removed)


def _is_quoted(found: re.Match[str], cited: Sequence[ReplyCitation]) -> bool:
    """Returns True if the source cited for this place holds the same markup."""
    # The offline reasoner quotes literally, and lessons may show such formats.
    for citation in cited:
        if citation.start <= found.start() < citation.end:
            quoted = " ".join(citation.cited_text.split())
            if " ".join(found.group().split()) in quoted:
                return True
    return False


def _before_call(answer: AnswerText, cited: Sequence[ReplyCitation]) -> AnswerText:
    for citation in cited:
        if answer.place_of(citation.start) < answer.place_of(citation.end):
            return answer._replace(flaw=TOOL_CALL)
    return AnswerText("", flaw=TOOL_CALL)


def _without(text: str, removed: Sequence[Span]) -> AnswerText:
    pieces: list[str] = []
    done = 0
    for span in removed:
        pieces.append(text[done : span.start])
        done = span.end
    pieces.append(text[done:])
    rest = "".join(pieces)
    flaw = ""
    if not rest.strip():
        flaw = ONLY_THINKING if removed else EMPTY
    indent = len(rest) - len(rest.lstrip())
    return AnswerText(rest.strip(), tuple(removed), indent, flaw)
