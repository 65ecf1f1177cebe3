"""Plans the second round by rule: it follows what the first one found, or mends what it did not find."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.engine.offline.calls import (
    MOST_COURSES,
    lesson_title,
    list_courses,
    outline,
    search,
    search_part,
)
from antiphon.engine.offline.catalogue import CourseEntry
from antiphon.engine.offline.catalogue_answers import of_found
from antiphon.engine.offline.elsewhere import subject_of
from antiphon.engine.offline.intents import EXACT, Inquiry
from antiphon.engine.offline.task import Planned, Source, Task
from antiphon.language.evidence import Weigh, question_shares
from antiphon.language.markup import Attempt
from antiphon.language.words import terms

_ENOUGH = 0.95
_FEW_TERMS = 3
"""A passage that holds a short question, by the weight of its words, answers it; a longer one may lead on."""
_BRIDGES = 3
"""The passages, from the best, of which one leads to the second search."""
_BRIDGE_CHARS = 300
_TITLE_CHARS = 100
_QUERY_CHARS = 600


def second_round(inquiry: Inquiry, task: Task, weigh: Weigh | None) -> list[Planned]:
    """Returns the calls that follow what the first round brought; none where that is enough."""
    if inquiry.kind == "outline" and task.outline_is_settled:
        return _outline_of_meant(inquiry, task)
    if inquiry.kind == "look_up":
        elsewhere = _search_elsewhere(inquiry, task)
        if elsewhere:
            return elsewhere
    if inquiry.kind == "find":
        return _course_found(inquiry, task)
    # A call that found nothing where it looked is mended before what the others found is followed.
    widened = _widened_searches(inquiry, task)
    if widened:
        return widened
    if inquiry.kind == "compare":
        return _follow_sides(inquiry, task, weigh)
    if inquiry.kind == "across":
        return _search_missing_courses(inquiry, task)
    return _follow_up(inquiry, task, weigh)


def found_again(inquiry: Inquiry, task: Task) -> list[Planned]:
    """Returns a call that finds once more what the first round found for one of several questions.

    A briefing shows what is found last; what was found before leaves it where it says little of the message as a whole.
    """
    if inquiry.kind not in ("plain", "lesson") or inquiry.part is not None:
        return []
    found = task.found_for(inquiry.focus, inquiry.course)[:1]
    return _search_with(found, inquiry.focus, inquiry)


def _follow_up(inquiry: Inquiry, task: Task, weigh: Weigh | None) -> list[Planned]:
    """Follows what the first search led to, and asks the catalogue too; neither, where that search answered."""
    if inquiry.part is not None:
        return []
    calls = _follow(inquiry.focus, inquiry, task, weigh)
    if calls:
        calls += _catalogue_beside(inquiry, task)
    return calls


def _catalogue_beside(inquiry: Inquiry, task: Task) -> list[Planned]:
    """Asks the catalogue for what the texts may not say."""
    if not inquiry.may_ask_catalogue:
        return []
    if inquiry.courses:
        why = "The catalogue may know it, where the texts do not say it"
        return [outline(course, why) for course in inquiry.courses[:MOST_COURSES]]
    if "courses" in inquiry.asks:
        return list_courses(task)
    return _outline_of_best(inquiry.focus, None, task)


def _outline_of_meant(inquiry: Inquiry, task: Task) -> list[Planned]:
    """Asks for the outline of the course that speaks of what none is called."""
    if task.has_catalogue or inquiry.unknown is None:
        return []
    return _outline_of_best(inquiry.unknown, None, task)


def _outline_of_best(topic: str, course: str | None, task: Task) -> list[Planned]:
    best = task.best_found(topic, course)
    if best is None:
        return []
    return [outline(best.course, "It is the course that speaks of it")]


def _course_found(inquiry: Inquiry, task: Task) -> list[Planned]:
    """Asks for the outline of the course that was found, and for the text of the lesson that is asked about in it."""
    calls = _outline_of_best(inquiry.topic, inquiry.course, task)
    found = of_found(inquiry, task)
    if not found.reads_lesson and "overview" not in inquiry.asks:
        return calls
    course = task.catalogue.course(found.course)
    if course is not None and inquiry.asks_of_found_course:
        why = "It is the course that is asked about"
        return [*calls, search(inquiry.wanted, why, course.title)]
    if course is None or found.lesson is None:
        return calls
    title = lesson_title(course, found.lesson)
    if found.part is not None:
        part = search_part(course.title, found.lesson, title, found.part, task)
        return [*calls, part]
    why = "It is the lesson that is asked about"
    return [*calls, search(inquiry.wanted or title, why, course.title, found.lesson)]


def _search_elsewhere(inquiry: Inquiry, task: Task) -> list[Planned]:
    """Searches the other courses for what a lesson is about: by its title, and by the best that was found in it."""
    line = task.lesson_line(inquiry.lesson)
    if line is None:
        return []
    why = f"The lesson is called {line.title!r}: what do other courses say of it"
    query = subject = subject_of(line.title, inquiry.topic)
    own = task.passages_of(line.outline.course, inquiry.lesson)
    if task.catalogue and own:
        query = f"{subject} {_words_of(own[0])}"
    wanted = query
    if inquiry.wanted:
        wanted = f"{subject} {inquiry.wanted}"
    if inquiry.other is not None:
        return [search(wanted, why, inquiry.other)]
    # Searches of everything rank the courses; those of one course each make sure that none was left out.
    calls = [search(subject, why), search(query, why)]
    listing = list_courses(task)
    if inquiry.asks & EXACT and len(listing) == 1:
        calls = [*listing, *calls]
    others = _other_courses(subject, line.outline.course, task)
    calls += [search(wanted, why, course) for course in others[:MOST_COURSES]]
    return calls


def _other_courses(title: str, own: str, task: Task) -> list[str]:
    """Returns the other courses, those first whose lessons share words with the title."""
    if not task.catalogue:
        known = dict.fromkeys([source.course for source in task.sources])
        return [course for course in known if course != own]
    wanted = frozenset(terms(title))

    def likeness(course: CourseEntry) -> int:
        titles = " ".join([lesson.title for lesson in course.lessons])
        return len(wanted & frozenset(terms(f"{course.title} {titles}")))

    others = [course for course in task.catalogue.courses if course.title != own]
    # Sorting is stable: of two alike, the first by title.
    others.sort(key=likeness, reverse=True)
    return [course.title for course in others]


def _follow_sides(inquiry: Inquiry, task: Task, weigh: Weigh | None) -> list[Planned]:
    calls: list[Planned] = []
    for side in inquiry.sides:
        of_side = inquiry._replace(course=side.course, lesson=side.lesson, courses=())
        calls += _follow(side.topic, of_side, task, weigh)
    return calls


def _follow(
    topic: str, inquiry: Inquiry, task: Task, weigh: Weigh | None
) -> list[Planned]:
    """Searches once more, in the same place, by the question and the best passage that it led to.

    What a question is after is often not named in it, but in what it leads to: measured on hotpotqa_100, this finds far
    more than a longer first search (docs/decisions/141).
    """
    found = task.found_for(topic, inquiry.course)
    if inquiry.lesson is not None:
        found = tuple([each for each in found if each.lesson == inquiry.lesson])
    return _search_with(_bridges(topic, found[:_BRIDGES], weigh), topic, inquiry)


def _search_with(
    bridges: Sequence[Source], topic: str, inquiry: Inquiry
) -> list[Planned]:
    """Searches by a question and the passages that lead on from it; not at all where none does."""
    if not bridges:
        return []
    query = f"{topic[:_QUERY_CHARS]} {_words_of(bridges[0])}"
    # Of the others the titles alone: they may name what is looked for, and their text would lead elsewhere.
    for title in dict.fromkeys([source.title for source in bridges[1:]]):
        if title not in query:
            query += f" {title[:_TITLE_CHARS]}"
    why = "To follow what the first search led to"
    return [search(query, why, inquiry.course, inquiry.lesson)]


def _bridges(topic: str, found: Sequence[Source], weigh: Weigh | None) -> list[Source]:
    """Returns the passages that lead on, the one that speaks to most of the question first; none where all is said."""
    shares = question_shares(topic, weigh)

    def share(source: Source) -> float:
        text = f"{source.title} {''.join(source.blocks)}"
        return shares.share(frozenset(terms(text)))

    # Sorting is stable: of two that say as much, the one that was found first.
    ranked = sorted(found, key=share, reverse=True)
    is_short = len(shares.of_term) <= _FEW_TERMS
    if ranked and is_short and share(ranked[0]) >= _ENOUGH:
        return []
    return ranked


def _words_of(source: Source) -> str:
    """Returns the title and the beginning of a passage."""
    text = " ".join("".join(source.blocks).split())
    return f"{source.title} {text[:_BRIDGE_CHARS]}"


def _search_missing_courses(inquiry: Inquiry, task: Task) -> list[Planned]:
    """Searches in courses that are known of, and from which nothing was found yet."""
    known = [course.title for course in task.catalogue.courses]
    known += [source.course for source in task.sources]
    # Those that the question names are not asked about here: "Which course besides X …".
    found = {source.course for source in task.passages}.union(inquiry.courses)
    missing = [course for course in dict.fromkeys(known) if course not in found]
    return [
        search(inquiry.focus, "Nothing was found in this course yet", course)
        for course in missing[:MOST_COURSES]
    ]


def _widened_searches(inquiry: Inquiry, task: Task) -> list[Planned]:
    """Repeats in a wider place each call that failed or found nothing because of what it was narrowed to.

    A lesson that there is stays the place: what another one says is no answer.
    """
    searches: list[Planned] = []
    for attempt in task.attempts:
        narrowed = attempt.arguments.keys() & {"course_name", "lesson_number"}
        if attempt.outcome not in ("failed", "nothing") or not narrowed:
            continue
        if attempt.outcome == "nothing" and task.catalogue.course(inquiry.course):
            continue
        why = "There was nothing there: search everywhere"
        searches.append(search(_query_of(attempt, inquiry), why))
    return searches


def _query_of(attempt: Attempt, inquiry: Inquiry) -> str:
    query = attempt.arguments.get("query")
    if isinstance(query, str):
        return query
    return inquiry.question
