"""Where a sentence comes from, as far as its trace tells."""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.history import lineage
from antiphon.vocabulary.events import ContextSynthesized, Event, ToolRequested
from antiphon.vocabulary.values import Citation, Fact, Passage, StoredText, ToolCall
from tests.story import placed, query_received, response_assembled, tool_succeeded

TEXT = "Recall is a share."
PASSAGE = Passage(id="0", source="Course", text=StoredText(TEXT))
FACT = Fact(id="f1", passage=PASSAGE, tool_call_id="t1", round=1)
CITED = Citation(start=0, end=len(TEXT), cited_text=TEXT, source="Course", fact="f1")


def test_a_passage_that_no_reply_asked_for_leads_back_to_its_search_and_no_further() -> (
    None
):
    call = ToolCall(id="t1", name="search", arguments='{"query": "recall"}')
    # With no model to ask, the service searches by itself.
    events: list[Event] = [
        query_received(),
        ToolRequested(round=1, call=call, timeout_s=9.0),
        tool_succeeded(TEXT),
        ContextSynthesized(round=1, facts=(FACT,)),
        replace(response_assembled(TEXT), citations=(CITED,)),
    ]

    [sentence] = lineage(placed("q1", events))

    [origin] = sentence.origins
    assert (origin.requested_seq, origin.found_seq) == (2, 3)
    assert (origin.tool, origin.arguments) == ("search", call.arguments)
    assert (origin.asked_by, origin.reply_seq, origin.request_seq) == ("", 0, 0)
    assert (origin.request_bytes, origin.request_sha256) == (0, "")
    assert origin.earlier == ()
