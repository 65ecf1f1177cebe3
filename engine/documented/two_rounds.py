"""A model that plays the usual two rounds: it searches, requests an outline, and cites every source that it sees."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.engine.offline.reading import read_task, summary_task
from antiphon.engine.offline.task import OUTLINE, SEARCH
from antiphon.engine.offline.wire import Draft
from antiphon.vocabulary.ports import Json

_SUMMARY = "Nothing to note."
_NOTHING = "Nothing in the courses speaks about that."
_BEFORE_A_CALL = {"type": "text", "text": "I look up what the courses say."}


def play_two_rounds(body: Json) -> Sequence[Json]:
    """Returns the blocks of the reply, which depends on what the request shows.

    Raises:
        RefusedError: The request does not have the API's shape.
    """
    draft = Draft()
    if summary_task(body) is not None:
        draft.say(_SUMMARY)
        return draft.blocks
    task = read_task(body)
    rounds: Sequence[tuple[str, Json]] = (
        (SEARCH, {"query": task.question}),
        (OUTLINE, {}),
    )
    for name, arguments in rounds[task.rounds_done :]:
        if name in task.tool_names:
            call = {"type": "tool_use", "name": name, "input": arguments}
            return [_BEFORE_A_CALL, call | {"id": f"toolu_{task.rounds_done}"}]
    for source in task.sources:
        if source.number is not None and source.blocks:
            draft.cite(source, 0, 1)
    if not draft.blocks:
        draft.say(_NOTHING)
    return draft.blocks
