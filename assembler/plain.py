"""The last way of answering: a plain statement of what was tried and what failed, in words for users."""

from __future__ import annotations

from antiphon.assembler.draft import Draft
from antiphon.assembler.seen import Seen
from antiphon.assembler.uncertainty import indicator
from antiphon.assembler.wording import TOOL_FAILURES, one_line
from antiphon.vocabulary.events import ToolFailed

MOST_TOOLS = 6


def plain(seen: Seen, why: str, event_seq: int) -> Draft:
    """The draft of a statement that rests on nothing; `why` and the tools' names are cut to a line."""
    sentences = [f"This question could not be answered: {one_line(why) or 'no answer came in time'}.", *_tried(seen)]
    return Draft(text=" ".join(sentences), doubts=(indicator("no_evidence", event_seq),))


def _tried(seen: Seen) -> list[str]:
    failures = {
        said.event.tool_call_id: TOOL_FAILURES[said.event.failure]
        for said in seen.troubles
        if isinstance(said.event, ToolFailed)
    }
    told = dict.fromkeys(
        f"{one_line(call.name)} ({failures[call.id]})" if call.id in failures else one_line(call.name)
        for said in seen.replies
        for call in said.event.tool_calls
    )
    if not told:
        return ["Nothing could be looked up."]
    return ["Tried: " + "; ".join(list(told)[:MOST_TOOLS]) + "."]
