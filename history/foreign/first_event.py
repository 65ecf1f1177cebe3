"""Makes the first event of another program's query: its question, limits that fit it, and the gaps in its recording."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.history.foreign.loops import Loop
from antiphon.history.foreign.messages import text_of
from antiphon.history.foreign.model_calls import ForeignTrace, ModelCall
from antiphon.vocabulary.access import without_keys
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import RULES, QueryReceived
from antiphon.vocabulary.values import Exchange, Imported, QuerySettings

MOST_EXCHANGES = 20
"""Earlier questions of a conversation that are kept from the first request."""
MOST_NAME = 200
LEAST_S = 600.0
"""Least deadline: a rule's decision must not depend on how long another program took."""


def first_event(trace: ForeignTrace, loop: Loop, began_at: float) -> QueryReceived:
    """Returns the first event of a loop."""
    calls = [attempts[-1] for attempts in loop.attempts]
    request = calls[0].request
    question, history = _asked(loop)
    tools = [name_of(tool["name"]) for tool in request.get("tools", ())]
    ended_at = max(call.ended_at or began_at for call in calls)
    return QueryReceived(
        query=question.replace("\x00", "").strip() or "(no question was recorded)",
        # It does not belong to a conversation of this service; earlier exchanges are its history.
        session_id="",
        settings=QuerySettings(
            # One more than it used, because its last call could have requested another round.
            max_rounds=len(calls),
            deadline_s=max(LEAST_S, 2 * (ended_at - began_at)),
            max_tool_calls=max(1, *[len(call.called) for call in calls]),
            model=name_of(request["model"]),
            max_tokens=max(1, request["max_tokens"]),
            early_dispatch=False,
            context="transcript",
        ),
        history=history,
        tools=tuple(dict.fromkeys(tools)),
        rules=RULES,
        imported=Imported(
            form=trace.form,
            agent=trace.agent[:MOST_NAME],
            missing=(*trace.missing, *_missing(trace, calls)),
        ),
    )


def name_of(text: str) -> str:
    """Returns a name within bounds. A key in it is refused, not redacted, because names connect events.

    Raises:
        BadInputError: It contains a key.
    """
    if without_keys(text) != text:
        raise BadInputError(
            "a name or an id in it is a key (`antiphon keys`): rotate the key"
        )
    return text[:MOST_NAME]


def _asked(loop: Loop) -> tuple[str, tuple[Exchange, ...]]:
    """Returns the question of the first request, and the exchanges before it."""
    exchanges: list[Exchange] = []
    question = answer = ""
    for message in loop.first_messages:
        said = text_of([b for b in message["content"] if b["type"] == "text"])
        if message["role"] == "assistant":
            answer = said or answer
        elif said.strip():
            if question and answer:
                exchanges.append(Exchange(question=question, answer=answer))
            question, answer = said, ""
    return question, tuple(exchanges[-MOST_EXCHANGES:])


def _missing(trace: ForeignTrace, calls: list[ModelCall]) -> list[str]:
    """Describes the parts of a query that the recording lacks."""
    usages = [call.response["usage"] for call in calls if call.response]
    held: dict[str, Sequence[object]] = {
        "when its calls were made": [call.began_at for call in calls],
        "how many tokens it took": [any(usage.values()) for usage in usages],
        "what it cost": [call.cost_usd is not None for call in calls],
        "which tools its model was offered": ["tools" in calls[0].request],
        "a system prompt": ["system" in calls[0].request],
        "when its tools ran": [run.began_at for run in trace.runs] or [None],
    }
    return [name for name, of_each in held.items() if not all(of_each)]
