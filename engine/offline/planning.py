"""Plans the next tool calls, by rule, from one request alone; no call at all means: answer now."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from antiphon.engine.offline.catalogue import CourseEntry
from antiphon.engine.offline.intents import Inquiry, Side
from antiphon.engine.offline.own_tools import calls_of_own_tools
from antiphon.engine.offline.task import (
    COURSE_TOOLS,
    OUTLINE,
    SEARCH,
    OfferedTool,
    Planned,
    Source,
    Task,
)
from antiphon.language.evidence import Weigh, question_shares, telling_words
from antiphon.language.markup import Attempt
from antiphon.language.words import terms
from antiphon.vocabulary.tool_calls import (
    EFFECTS_NOTE,
    CallIdentity,
    call_identity,
)

# Whatever more the query allows: after a second search by rule a third finds nothing new.
MOST_ROUNDS = 2
MOST_CALLS = 8
MOST_COURSES = 6

_ENOUGH = 0.95
_FEW_TERMS = 3
"""A passage that holds a short question, by the weight of its words, answers it; a longer one may lead on."""
_BRIDGES = 3
"""The passages, from the best, of which one leads to the second search."""
_BRIDGE_CHARS = 300
_TITLE_CHARS = 100
_QUERY_CHARS = 600
_MOST_QUERY_CHARS = 1_200
_INTRODUCTION = "introduction: what this course is about and what you will learn"
_DURATION = "how long it takes: hours, minutes, duration, length"


def plan(task: Task, weigh: Weigh | None = None) -> tuple[Planned, ...]:
    """Returns the calls of the next round; none when it is time to answer."""
    if not task.tools or not task.question or task.rounds_done >= MOST_ROUNDS:
        return ()
    inquiry = task.inquiry
    if inquiry.kind == "greeting":
        return ()
    calls = _next_calls(inquiry, task, weigh)
    return tuple(_not_made_before(calls, task)[:MOST_CALLS])


def _next_calls(inquiry: Inquiry, task: Task, weigh: Weigh | None) -> list[Planned]:
    calls: list[Planned] = []
    is_first = not task.attempts and not task.sources
    if is_first and not task.tool_names & COURSE_TOOLS:
        return _call_of_other_tool(task)
    for part in inquiry.parts or (inquiry,):
        if is_first:
            calls += _first_round(part, task)
        else:
            calls += _second_round(part, task, weigh)
    if is_first:
        calls += calls_of_own_tools(inquiry, task.own_tools)
    return calls


def _first_round(inquiry: Inquiry, task: Task) -> list[Planned]:
    # Each call says why it is made: the reason stands in the trace and in the next briefing.
    match inquiry.kind:
        case "outline":
            return _look_into_catalogue(inquiry, task)
        case "look_up":
            return _look_lesson_up(inquiry, task)
        case "compare":
            return [_search_side(side) for side in inquiry.sides]
        case "lesson":
            return _search_lesson(inquiry, task)
        case "across":
            return [_search(inquiry.focus, "To see which courses speak of it")]
        case "find":
            why = "To find the course that is meant"
            return [_search(inquiry.topic, why, inquiry.course)]
        case _:
            return _search_plainly(inquiry)


def _look_into_catalogue(inquiry: Inquiry, task: Task) -> list[Planned]:
    named = list(inquiry.courses)
    # A name that no title holds may still be known by its meaning: the tool finds out.
    if not named and (name := inquiry.course or inquiry.unknown):
        named = [name]
    if not named:
        return _list_courses(task)
    why = "The question is about how the course is built"
    calls = [_outline(course, why) for course in named[:MOST_COURSES]]
    if len(named) == 1:
        calls += _beside_outline(inquiry, task.catalogue.course(named[0]))
    if inquiry.unknown is not None and task.catalogue:
        why = "It may be what a course is about, and not its name"
        calls.append(_search(inquiry.unknown, why))
    return calls


def _beside_outline(inquiry: Inquiry, course: CourseEntry | None) -> list[Planned]:
    """Searches for what is asked of a course and its outline does not hold."""
    if course is None:
        return []
    if "duration" in inquiry.asks:
        query = f"{inquiry.question} {_DURATION}"
        why = "The lessons may say it"
        return [_search(query, why, course.title, inquiry.lesson)]
    if inquiry.wants_introduction and course.lessons:
        first = course.lessons[0].number
        why = "Its first lesson says what it is about"
        return [_search(_INTRODUCTION, why, course.title, first)]
    return []


def _list_courses(task: Task) -> list[Planned]:
    """Asks for the list of all courses; for the outline of each, where the tool must be given a name."""
    for tool in task.tools:
        if tool.name == OUTLINE and "course_name" not in tool.required:
            return [Planned(OUTLINE, {"why": "The question is about all courses"})]
    why = "The question is about all courses, and this is one"
    return [_outline(course.title, why) for course in task.catalogue.courses]


def _look_lesson_up(inquiry: Inquiry, task: Task) -> list[Planned]:
    course = task.catalogue.course(inquiry.course)
    calls = [
        _outline(inquiry.course, f"To learn what lesson {inquiry.lesson} is called")
    ]
    if course is None:
        return [*calls, *_searches_for_courses(inquiry)]
    title = _lesson_title(course, inquiry.lesson)
    why = "To learn what that lesson is about"
    return [*calls, _search(title, why, course.title, inquiry.lesson)]


def _searches_for_courses(inquiry: Inquiry) -> list[Planned]:
    """Searches for the names of other courses, where no catalogue is at hand; none where the question names one."""
    if inquiry.other is not None:
        return []
    return [
        _search(inquiry.question, "Other courses may refer to that lesson"),
        _search("what this course is about", "To learn which other courses there are"),
    ]


def _search_lesson(inquiry: Inquiry, task: Task) -> list[Planned]:
    course = task.catalogue.course(inquiry.course)
    why = "The question names this lesson"
    if course is None or telling_words(inquiry.topic):
        return [_search(inquiry.focus, why, inquiry.course, inquiry.lesson)]
    # Of a lesson as a whole its title says most, and the answer begins with it.
    title = _lesson_title(course, inquiry.lesson)
    return [
        _outline(course.title, "To name the lesson"),
        _search(title, why, course.title, inquiry.lesson),
    ]


def _search_plainly(inquiry: Inquiry) -> list[Planned]:
    why = "To find what answers the question"
    if inquiry.course is not None or not inquiry.courses:
        return [_search(inquiry.focus, why, inquiry.course, inquiry.lesson)]
    # A name that several courses share means each of them.
    return [
        _search(inquiry.focus, why, course, inquiry.lesson)
        for course in inquiry.courses[:MOST_COURSES]
    ]


def _lesson_title(course: CourseEntry, number: int | None) -> str:
    lesson = course.lesson(number)
    if lesson is None:
        return f"lesson {number}"
    return lesson.title


def _second_round(inquiry: Inquiry, task: Task, weigh: Weigh | None) -> list[Planned]:
    if inquiry.kind == "outline" and task.outline_is_settled:
        return _outline_of_meant(inquiry, task)
    if inquiry.kind == "look_up":
        elsewhere = _search_elsewhere(inquiry, task)
        if elsewhere:
            return elsewhere
    if inquiry.kind == "find":
        return _outline_of_best(inquiry.topic, inquiry.course, task)
    # A call that found nothing where it looked is mended before what the others found is followed.
    widened = _widened_searches(inquiry, task)
    if widened:
        return widened
    if inquiry.kind == "compare":
        return _follow_sides(inquiry, task, weigh)
    if inquiry.kind == "across":
        return _search_missing_courses(inquiry, task)
    return _follow_up(inquiry, task, weigh)


def _follow_up(inquiry: Inquiry, task: Task, weigh: Weigh | None) -> list[Planned]:
    """Follows what the first search led to, and asks the catalogue too; neither, where that search answered."""
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
        return [_outline(course, why) for course in inquiry.courses[:MOST_COURSES]]
    if "courses" in inquiry.asks:
        return _list_courses(task)
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
    return [_outline(best.course, "It is the course that speaks of it")]


def _search_elsewhere(inquiry: Inquiry, task: Task) -> list[Planned]:
    """Searches the other courses for what a lesson is about: by its title, and by the best that was found in it."""
    line = task.lesson_line(inquiry.lesson)
    if line is None:
        return []
    why = f"The lesson is called {line.title!r}: what do other courses say of it"
    query = line.title
    own = task.passages_of(line.outline.course, inquiry.lesson)
    if task.catalogue and own:
        query = f"{line.title} {_words_of(own[0])}"
    if inquiry.other is not None:
        return [_search(query, why, inquiry.other)]
    # Searches of everything rank the courses; those of one course each make sure that none was left out.
    calls = [_search(line.title, why), _search(query, why)]
    others = _other_courses(line.title, line.outline.course, task)
    calls += [_search(query, why, course) for course in others[:MOST_COURSES]]
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
    bridges = _bridges(topic, found[:_BRIDGES], weigh)
    if not bridges:
        return []
    query = f"{topic[:_QUERY_CHARS]} {_words_of(bridges[0])}"
    # Of the others the titles alone: they may name what is looked for, and their text would lead elsewhere.
    for title in dict.fromkeys([source.title for source in bridges[1:]]):
        if title not in query:
            query += f" {title[:_TITLE_CHARS]}"
    why = "To follow what the first search led to"
    return [_search(query, why, inquiry.course, inquiry.lesson)]


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
        _search(inquiry.focus, "Nothing was found in this course yet", course)
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
        searches.append(_search(_query_of(attempt, inquiry), why))
    return searches


def _query_of(attempt: Attempt, inquiry: Inquiry) -> str:
    query = attempt.arguments.get("query")
    if isinstance(query, str):
        return query
    return inquiry.question


def _not_made_before(calls: Sequence[Planned], task: Task) -> list[Planned]:
    """Returns the calls whose tool is offered, and that were not made before."""
    made = {_identity(attempt.tool, attempt.arguments) for attempt in task.attempts}
    offered = task.tool_names
    fresh: list[Planned] = []
    for call in calls:
        identity = _identity(call.tool, call.arguments)
        if call.tool in offered and identity not in made:
            made.add(identity)
            fresh.append(call)
    return fresh


def _identity(tool: str, arguments: dict[str, object]) -> CallIdentity:
    return call_identity(tool, msgspec.json.encode(arguments).decode())


def _search(
    query: str, why: str, course: str | None = None, lesson: int | None = None
) -> Planned:
    # Cut to what the tool's own schema takes at most, with room to spare.
    arguments: dict[str, object] = {"query": query[:_MOST_QUERY_CHARS]}
    if course is not None:
        arguments["course_name"] = course[:300]
    if lesson is not None:
        arguments["lesson_number"] = lesson
    arguments["why"] = why
    return Planned(SEARCH, arguments)


def _search_side(side: Side) -> Planned:
    why = f"One side of the comparison: {side.topic[:80]}"
    query = side.topic or f"lesson {side.lesson}"
    return _search(query, why, side.course, side.lesson)


def _outline(course: str | None, why: str) -> Planned:
    return Planned(OUTLINE, {"course_name": course, "why": why})


def _call_of_other_tool(task: Task) -> list[Planned]:
    """Calls the offered tool whose description shares most with the question; none where none shares anything."""
    asked = frozenset(terms(task.question))
    best: OfferedTool | None = None
    most_shared = 0
    for tool in task.tools:
        if not tool.needs_one_text or EFFECTS_NOTE in tool.description:
            continue
        described = frozenset(
            terms(f"{tool.name.replace('_', ' ')} {tool.description}")
        )
        shared = len(asked & described)
        if shared > most_shared:
            best = tool
            most_shared = shared
    if best is None:
        return []
    arguments: dict[str, object] = {best.required[0]: task.question}
    if "why" in best.parameters:
        arguments["why"] = "Its description fits the question"
    return [Planned(best.name, arguments)]
