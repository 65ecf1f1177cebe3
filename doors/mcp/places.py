"""Places in the courses by their URIs: the resources that clients list, and the passages that a search finds."""

from __future__ import annotations

from collections.abc import Mapping

from mcp.shared.uri_template import UriTemplate
from pydantic import Field, ValidationError

from antiphon.api.schemas import MOST_SEQ, Schema
from antiphon.doors.showing import url_of
from antiphon.service import MOST_TEXT_CHARS, Antiphon
from antiphon.vocabulary.errors import NotFoundError

TEMPLATE = "antiphon://courses/{course}{?lesson,start}"
URIS = UriTemplate.parse(TEMPLATE)


class Place(Schema):
    """A course's outline, or with `lesson` or `start` the text of a lesson, or of no lesson, from that character on."""

    course: str
    lesson: int | None = Field(default=None, ge=-MOST_SEQ, le=MOST_SEQ)
    start: int | None = Field(default=None, ge=0, le=MOST_SEQ)

    @property
    def uri(self) -> str:
        """Its URI."""
        known = self.model_dump(exclude_none=True)
        return URIS.expand({name: str(value) for name, value in known.items()})


class Found(Schema):
    """A text with the id of its place, and an address at which people can read it."""

    id: str
    title: str
    text: str
    url: str


class Fetched(Found):
    """A text, and the id of what follows."""

    next: str | None


def place_of(parts: Mapping[str, object] | None) -> Place:
    """Returns the place that the parts of a URI name. Raises NotFoundError if they do not name one."""
    try:
        return Place.model_validate(parts)
    except ValidationError as error:
        raise NotFoundError(
            "There is no such place: send an id that `search` found, or the URI of a resource."
        ) from error


def places(service: Antiphon) -> Mapping[str, str]:
    """Returns the name of each outline and lesson by its URI; for a course without lessons also that of its text."""
    named: dict[str, str] = {}
    for course in service.courses():
        title = course.title
        named[Place(course=title).uri] = f"{title} (outline)"
        for lesson in course.lessons:
            at = Place(course=title, lesson=lesson.number)
            named[at.uri] = f"{title} - Lesson {lesson.number}: {lesson.title}"
        if not course.lessons:
            named[Place(course=title, start=0).uri] = title
    return named


async def text_at(
    service: Antiphon,
    at: Place,
    base_url: str | None = None,
    before: int = 0,
    most: int = MOST_TEXT_CHARS,
) -> Fetched:
    """Reads the text at a place.

    Args:
        base_url: The address of the service's pages; None: it serves none.
        before: Characters to read before the place.
        most: Most characters to read in all.

    Raises:
        NotFoundError: There is no such place.
        KnowledgeError: The index cannot be read.
    """
    uri = at.uri
    if at.lesson is None and at.start is None:
        named = places(service)
        if uri not in named:
            raise NotFoundError(f"There is no course {at.course[:80]!r}.")
        lines = [f"{name}: {of}" for of, name in named.items() if f"{uri}?" in of]
        text = "\n".join(lines)
        return Fetched(id=uri, title=named[uri], text=text, url=uri, next=None)
    start = at.start or 0
    stretch = await service.text(at.course, at.lesson, max(0, start - before), most)
    end = stretch.start + len(stretch.text)
    following = at.model_copy(update={"start": end}).uri
    # The link leads to the place itself, not to the text read before it.
    words = stretch.text[start - stretch.start :]
    return Fetched(
        id=uri,
        title=stretch.title or at.course,
        text=stretch.text,
        url=url_of(base_url, words, at.course, at.lesson, None) or uri,
        next=following if end < stretch.length else None,
    )
