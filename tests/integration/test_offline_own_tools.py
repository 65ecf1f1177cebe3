"""The tool of docs/tools.md in the hands of the built-in reasoner: it is called, and the answer rests on it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from antiphon.bus import SystemClock
from antiphon.dispatcher import Registry, course_tools, tool_from_function
from antiphon.engine import offline_model
from antiphon.faults.runs.small_library import SmallLibrary, WordEmbedder
from antiphon.service import (
    Antiphon,
    Outcome,
    Question,
    Resources,
    ServiceResources,
    Settings,
    open_trace_store,
)

GUIDE = Path(__file__).parents[2] / "docs/tools.md"


def room_of() -> Any:
    """The first function of the guide."""
    (snippet,) = re.findall(
        r"```python\n(async def room_of.*?)```", GUIDE.read_text(), re.DOTALL
    )
    names: dict[str, Any] = {"__name__": "my_tools"}
    exec(compile(snippet, "docs/tools.md", "exec"), names)
    return names["room_of"]


async def ask(question: str, folder: Path) -> Outcome:
    library = SmallLibrary(WordEmbedder())
    tools = Registry([*course_tools(library), tool_from_function(room_of())])
    model = offline_model(courses=library.courses)
    shared = Resources(
        clock=SystemClock(),
        models={"primary": model, "fallback": model},
        tools=tools,
        tool_definitions=tools.definitions(),
    )
    built = ServiceResources(
        shared=shared,
        store=open_trace_store(folder),
        library=library,
        models=(model,),
        reasoner="offline",
        versions=(),
    )
    service = Antiphon.over(Settings.model_construct(), built)
    try:
        return await service.ask(Question(query=question))
    finally:
        await service.close()


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("In which room is Retrieval in Small taught?", "room 4.12"),
        ("What room is Retrieval in Small in?", "room 4.12"),
        ("Which room does the course Retrieval in Small use?", "room 4.12"),
        ("Tell me the room of Retrieval in Small.", "room 4.12"),
        ("Where does Retrieval in Small meet?", "Monday and Thursday"),
        ("When does the course Retrieval in Small meet?", "Monday and Thursday"),
        ("On which days does Retrieval in Small meet?", "Monday and Thursday"),
    ],
)
async def test_the_tool_of_the_guide_answers_in_seven_phrasings(
    question: str, says: str, tmp_path: Path
) -> None:
    outcome = await ask(question, tmp_path)

    assert outcome.response is not None
    assert says in outcome.response.answer
    assert outcome.response.sources == ("room_of",)


async def test_a_question_about_what_is_taught_is_answered_from_the_courses(
    tmp_path: Path,
) -> None:
    outcome = await ask("What states has a circuit breaker?", tmp_path)

    assert outcome.response is not None
    assert "half-open" in outcome.response.answer
    assert "room_of" not in outcome.response.sources
