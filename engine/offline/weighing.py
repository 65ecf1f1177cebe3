"""Which of the sources speak to a question, and how weak evidence may be; pure."""

from __future__ import annotations

from antiphon.engine.offline.intents import Intent, Side
from antiphon.engine.offline.task import Source, Task
from antiphon.language.evidence import telling_words
from antiphon.language.markup import Attempt
from antiphon.language.words import terms, words

WEAK = 0.32
"""Evidence below this answers nothing. Chosen on samples/questions.jsonl and fourteen questions of our own that sound
as if the courses could answer them: every answerable question lies above, twelve of these and all others below."""


def focus(intent: Intent) -> str:
    """What to look for: the topic, or the whole question where the places it names are all it says."""
    return intent.topic if telling_words(intent.topic) else intent.question


def fitting(intent: Intent, task: Task) -> tuple[Source, ...]:
    """The passages of the course that the question names; all where none is of it."""
    return _of_course(intent.course, task.passages)


def for_side(side: Side, task: Task) -> tuple[Source, ...]:
    """The passages that were found for one side of a comparison, best first; all of its course where none says so."""
    numbers = [number for attempt in task.attempts if _is_for(side, attempt) for number in attempt.facts]
    found = tuple(task.sources[n - 1] for n in dict.fromkeys(numbers) if 0 < n <= len(task.sources))
    return _of_course(side.course, tuple(source for source in found if not source.is_outline) or task.passages)


def _is_for(side: Side, attempt: Attempt) -> bool:
    """Whether a search was made for this side, in its own words or in fewer of them."""
    query = attempt.arguments.get("query")
    return isinstance(query, str) and bool(words(query)) and frozenset(words(query)) <= frozenset(words(side.topic))


def _of_course(name: str | None, sources: tuple[Source, ...]) -> tuple[Source, ...]:
    wanted = frozenset(terms(name)) if name is not None else frozenset()
    return tuple(source for source in sources if wanted <= frozenset(terms(source.course))) or sources
