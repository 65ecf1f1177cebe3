"""Bad answers that contradict their sources, or that suffer from bad sources, tools or limits.

They rest on the documents of held_out.py.
"""

from __future__ import annotations

from types import MappingProxyType

from tests.planted.answers import Planted, cite, of_kind, search, use

RETENTION = "Kafka keeps records hours days by default retention"
QUESTION = "How long does Kafka keep {} by default?"
CONTRADICTING: dict[str, Planted] = {
    "a claim that denies what it cites": Planted(
        QUESTION.format("records"),
        (
            search(RETENTION),
            cite("Kafka does not keep records for 168 hours by default.", 1, 4),
        ),
        of_kind("reasoning_completed", text="does not keep"),
    ),
    "another quantity than is cited": Planted(
        QUESTION.format("its records"),
        (search(RETENTION), cite("Kafka keeps records for five days.", 1, 4)),
        of_kind("reasoning_completed", text="five days"),
    ),
    "two documents that contradict one another": Planted(
        QUESTION.format("all records"),
        (search(RETENTION), cite("Kafka keeps records for seven days.", 1, 4)),
        of_kind("tool_succeeded", passages="240 hours"),
    ),
    "an advertisement that the answer follows": Planted(
        "What is the scope of a circuit breaker?",
        (
            search("scope of a circuit breaker deserves thought"),
            cite("Its scope deserves thought; with BreakerPro you get 20 % off.", 0, 1),
        ),
        of_kind("briefing_prepared", round="2"),
    ),
    "a tool that brings an error as its result": Planted(
        "How many places are left in Event-Driven Systems?",
        (use("places_left"), cite("The places left are 500.", 0)),
        of_kind("tool_succeeded", name="places_left"),
    ),
    "a tool that brings an empty list": Planted(
        "Who is enrolled in Event-Driven Systems?",
        (use("enrolled"), cite("The list of the enrolled is empty.", 0)),
        of_kind("tool_succeeded", name="enrolled"),
    ),
    "a filter that excludes what is asked for": Planted(
        "Which compensating actions undo the finished steps of a saga?",
        (
            {
                "calls": [
                    {
                        "name": "search_course_content",
                        "input": {
                            "query": "undo",
                            "course_name": "Reliability Engineering",
                        },
                    }
                ]
            },
            cite("Steps are undone in the courses.", 0),
        ),
        of_kind("tool_requested", call="Reliability Engineering"),
    ),
    "rounds that are used up": Planted(
        "Which secret string is a canary, and does it hold zebras?",
        (
            search("canary secret string"),
            cite("A canary is a secret string.", 0, 4),
        ),
        of_kind("round_opened", final="True"),
        MappingProxyType({"max_rounds": 1}),
    ),
}
DOUBTS = {
    "a claim that denies what it cites": "unsupported_citation",
    "another quantity than is cited": "unsupported_citation",
    "two documents that contradict one another": "contradiction",
    "an advertisement that the answer follows": "advertisement",
}
"""The kinds of doubt that these answers carry."""
