"""Groups model calls into queries: a question, rounds of tools, an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from antiphon.history.foreign.model_calls import ModelCall
from antiphon.vocabulary.ports import Json


@dataclass
class Loop:
    """The calls of one query, each with its attempts, of which all but the last failed.

    Attributes:
        results: Its tools' results by the id of the call, from the next request.
    """

    attempts: list[list[ModelCall]] = field(default_factory=list)
    results: dict[str, Json] = field(default_factory=dict)

    @property
    def first_messages(self) -> list[Json]:
        """The messages of its first call."""
        messages: list[Json] = self.attempts[0][0].request["messages"]
        return messages


def loops_of(calls: Sequence[ModelCall]) -> list[Loop]:
    """Returns the loops in the order in which they begin.

    A call continues a loop if it contains the results of the tools that the loop's last reply called, or if it repeats
    a failed request; otherwise it begins a new loop.
    """
    # By time, or in the order of the file if any time is missing.
    if all(call.began_at is not None for call in calls):
        calls = sorted(calls, key=lambda call: call.began_at or 0.0)
    loops: list[Loop] = []
    waiting: dict[str, list[Loop]] = {}
    failed: list[Loop] = []
    for call in calls:
        messages: list[Json] = call.request["messages"]
        loop = _of_the_same(failed, messages)
        if loop is not None:
            failed.remove(loop)
            loop.attempts[-1].append(call)
        else:
            loop = _that_waits(waiting, messages)
            if loop is None:
                loop = Loop()
                loops.append(loop)
            loop.attempts.append([call])
        if call.response is None:
            failed.append(loop)
        for call_id in call.called:
            waiting.setdefault(call_id, []).append(loop)
    return loops


def _of_the_same(failed: list[Loop], messages: list[Json]) -> Loop | None:
    for loop in failed:
        if loop.attempts[-1][-1].request["messages"] == messages:
            return loop
    return None


def _that_waits(waiting: dict[str, list[Loop]], messages: list[Json]) -> Loop | None:
    """Returns the loop whose results end the messages, and notes them; compares beginnings, because ids may repeat."""
    shown = messages[-1]["content"]
    results = {
        block["tool_use_id"]: block for block in shown if block["type"] == "tool_result"
    }
    for call_id in results:
        for loop in waiting.get(call_id, ()):
            if loop.first_messages[0] == messages[0]:
                for each in results:
                    waiting.pop(each, None)
                loop.results |= results
                return loop
    return None
