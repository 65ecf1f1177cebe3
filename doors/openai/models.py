"""The models that clients choose from: ways to ask, and no model that answers."""

from __future__ import annotations

import re

from antiphon.api.errors import Refusal
from antiphon.doors.conversation import Exchanges, ToldQuestion, told_question
from antiphon.service import Antiphon, refers_back

MODEL = "antiphon"
STRICT = "antiphon-strict"
SLUG_CHARS = 80
MOST_NAMED = 10


def models_of(service: Antiphon) -> dict[str, str | None]:
    """Returns the course that each model is about, by the model's id; None: all courses."""
    models: dict[str, str | None] = {MODEL: None, STRICT: None}
    for course in service.courses():
        words = re.sub(r"\W+", "-", course.title.lower()).strip("-")[:SLUG_CHARS]
        name = f"{MODEL}:{words}"
        number = 2
        while name in models:
            name = f"{MODEL}:{words}-{number}"
            number += 1
        models[name] = course.title
    return models


def course_of(service: Antiphon, model: str) -> str | None:
    """Returns the course that a model is about.

    Raises:
        Refusal: 404: there is no such model.
    """
    models = models_of(service)
    if model not in models:
        named = ", ".join(list(models)[:MOST_NAMED])
        raise Refusal(
            404,
            "model_not_found",
            f"`model` is {model[:100]!r}, which does not exist: there are {named}.",
        )
    return models[model]


def question_to(
    service: Antiphon, model: str, text: str, told: Exchanges
) -> ToldQuestion:
    """Returns the question; that of a course's model names the course, as each before it did.

    Raises:
        Refusal: 404: there is no such model.
    """
    course = course_of(service, model)
    if course is not None:
        told = tuple((_about(asked, course), said) for asked, said in told)
        # What refers back is understood by the question before it, which names the course.
        if not told or not refers_back(text):
            text = _about(text, course)
    return told_question(text, told, strict=model == STRICT)


def _about(question: str, course: str) -> str:
    named = f" (course: {course})"
    return question if question.endswith(named) else f"{question}{named}"
