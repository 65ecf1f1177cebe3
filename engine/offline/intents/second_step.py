"""Finds what a question asks of a lesson that has to be found first: its second step, and the words of the first."""

from __future__ import annotations

import re

from antiphon.engine.offline.intents.clauses import (
    EXACT,
    asks_of_texts,
    clauses_of,
)
from antiphon.engine.offline.intents.inquiry import Inquiry
from antiphon.engine.offline.intents.parsing import Parsed
from antiphon.language.asking import asked_of_catalogue
from antiphon.language.questions import LESSONS

_DESCRIBED_BY = r"(?:that|which|whose|where|in which|with|about|on)"
_LESSON = r"(?:lesson|lecture)"
_SENTENCES = re.compile(r"[^.?!\n]+[.?!]*")
_A_COURSE = re.compile(r"\b(?:course|class|courses)\b", re.I)
_LESSON_OF_IT = re.compile(
    rf"\b(?:its|his|her|their)\s+(?:\w+\s+){{0,2}}{_LESSON}\b"
    rf"|\b{_LESSON}\b[^.?!\n]{{0,30}}\b(?:of|in|from)\s+(?:it|that|this)\b",
    re.I,
)
_IN_LESSON_OF_COURSE = re.compile(
    rf"\W*(?:in|from|according to)\s+[^.,;?!\n]{{0,30}}\b{_LESSON}\b[^.,;?!\n]{{0,20}}\b(?:of|in|from)\s+"
    rf"(?:the|that)\s+(?:course|class)\s+{_DESCRIBED_BY}\s+(?P<said>[^.,;?!\n]{{3,150}}),\s*(?P<wanted>.+)",
    re.I | re.S,
)
_LESSON_OF_COURSE_SAYS = re.compile(
    rf"\W*what\s+(?:do|does|did)\s+[^.,;?!\n]{{0,30}}\b{_LESSON}\b[^.,;?!\n]{{0,20}}\b(?:of|in|from)\s+"
    rf"(?:the|that)\s+(?:course|class)\s+{_DESCRIBED_BY}\s+(?P<said>[^.,;?!\n]{{3,150}}?)\s+"
    r"(?:say|tell us|teach|recommend|advise)\s+(?:about|on|of)\s+(?P<wanted>.+)",
    re.I | re.S,
)
_MADE_BY = r"(?:(?:(?:made|given|taught|held|presented|run) )?(?:by|from))"
_TEACHER = r"(?:instructor|teacher|lecturer|tutor|professor|speaker|presenter|host)"
_NOUN = rf"(?:course|class|{_TEACHER})"
_COURSE = (
    rf"(?:the|that|one|a)\s+(?:\w+\s+)?{_NOUN}\s+(?:{_DESCRIBED_BY}|who|{_MADE_BY})"
)
# Of some course anything may be said: "One of the lecturers used to be a singer."
_SOME_COURSE = (
    rf"(?:there(?:['\u2019]s|\s+is|\s+was)\s+)?(?:one|some|an?|another)\s+"
    rf"(?:of\s+(?:the|your|these|all)\s+)?(?:\w+\s+)?{_NOUN}(?:e?s)?"
)
# "In the course that builds a pier, what is said of nails?"
_IN_COURSE = re.compile(
    rf"\W*(?:in|from|according to|during)\s+{_COURSE}\s+(?P<said>[^.,;:?!\n]{{3,150}})[,:;]\s*(?P<wanted>.+)",
    re.I | re.S,
)
# Of "The course with the pier also talks about nails: which ones?" three parts.
_COURSE_ALSO = re.compile(
    rf"\W*(?:in\s+)?(?:(?P<some>{_SOME_COURSE})|{_COURSE})\s+(?P<said>[^.;:?!\n]{{3,150}}?)"
    r"(?:\s+also\s+(?:(?:\w+\s+){0,2}?(?:about|of|on|with|covers|treats|explains|discusses)\s+)?"
    r"(?P<also>[^.;:?!\n]{2,80}))?"
    r"\s*(?:[:;.]|\s[-\u2013\u2014]+)\s*(?:and\s+)?(?P<wanted>(?:what|which|who|how|why|when|where)\b.+)",
    re.I | re.S,
)
# "There's a lesson with a pier in it. In that same lesson, what do they say of nails?"
_IN_DESCRIBED_LESSON = re.compile(
    rf"\W*(?:(?:there(?:['\u2019]s|\s+is|\s+was)|in|from|during|i\s+remember)\s+)?(?:an?|some|one|the|that)\s+(?:\w+\s+)?"
    rf"{_LESSON}\s+{_DESCRIBED_BY}\s+(?P<said>[^.,;:?!\n]{{3,150}}?)(?:\s+in\s+it)?"
    r"\s*(?:[.,;:]|\s[-\u2013\u2014]+)\s*(?:and\s+)?"
    rf"(?:(?:in|from)\s+(?:that|the)\s+(?:same\s+)?(?:one|{_LESSON})\b[,:]?\s*)?"
    r"(?P<wanted>(?:what|which|who|how|why|when|where)\b.+)",
    re.I | re.S,
)
# "What does the course with the pier recommend against rust?"
_COURSE_SAYS = re.compile(
    rf"\W*(?P<asks>what|which|how|why)\b(?P<of>[^.,;?!\n]{{0,40}}?)\s+(?:do|does|did)\s+{_COURSE}\s+"
    r"(?P<said>[^.,;?!\n]{3,150}?)\s+(?P<verb>say|tell us|teach|recommend|advise|suggest|warn|give|use|choose)\b"
    r"\s*(?P<wanted>[^?\n]{3,200})",
    re.I | re.S,
)
# "What does its lesson 6 say about where the id comes from?" asks where the id comes from.
_FRAME = re.compile(
    r"\W*(?:and\s+)?what\s+(?:do|does|did)\s+[^.,;?!\n]{1,60}?\b(?:say|tell us|tell)\b\s*"
    r"(?P<about>(?:about|on|of)\b)?\s*(?P<said>.+)",
    re.I | re.S,
)
_ASKS_PLACE = re.compile(
    r"\b(?:which|what)\s+(?:\w+\s+){0,2}(?:course|class|lesson|lecture)s?\b", re.I
)
_FEWEST_WORDS = 2
_ABOUT = re.compile(r"^(?:about|on|of|against)\s+", re.I)
_SAYING = frozenset(("say", "tell us", "teach"))
_ASKS = re.compile(r"(?:what|which|who|whose|how|why|when|where|whether|if)\b", re.I)
_LEADING_AND = re.compile(r"^\W*(?:and|then|so)\s+", re.I)
_POINTS_AT_FOUND = re.compile(
    rf"\b(?:it|its|there|they|he|she|his|her|their|that (?:other )?(?:course|class|lesson|one|person|{_TEACHER})"
    rf"|the (?:other )?(?:course|class|lesson|one|{_TEACHER}))\b",
    re.I,
)


def asked_then(question: str) -> str:
    """Returns what is asked behind the clause that names a lesson: "…, and what does it say broke the cache?"."""
    at = 0
    for number, clause in enumerate(clauses_of(question)):
        at = question.index(clause, at)
        if number and _asks_of_found(clause):
            return question[at:]
        at += len(clause)
    return ""


def _asks_of_found(clause: str) -> bool:
    """Returns True for a clause that asks for what a text says; not for "and in which context", nor for a place."""
    if (
        not asks_of_texts(clause)
        or LESSONS.search(clause)
        or _ASKS_PLACE.search(clause)
    ):
        return False
    return len(asked_of_catalogue(clause).topic) >= _FEWEST_WORDS


def bare_question(asked: str) -> str:
    """Returns what is asked of a text, without the words that ask what the text says of it."""
    asked = _LEADING_AND.sub("", asked, count=1)
    framed = _FRAME.match(asked)
    if framed is None:
        return asked.strip()
    said = framed["said"].strip()
    if not framed["about"]:
        return f"What {said}"
    return _as_question(said)


def _as_question(said: str) -> str:
    """Returns what a text is asked about as a question of its own: "the tenant id" is none yet."""
    if _ASKS.match(said):
        return said
    return f"What is said about {said}"


def goes_on_in_found(first: Inquiry, question: Inquiry, asked: str) -> bool:
    """Returns True for what is asked of the lesson of another course that the question before it looks for."""
    if first.kind != "look_up" or first.wanted or question.has_course:
        return False
    if question.kind not in ("plain", "across") or question.place is not None:
        return False
    return _POINTS_AT_FOUND.search(asked) is not None and asks_of_texts(asked)


def asks_of_described_course(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes what is asked of a lesson of a course that is only described.

    "There's a course with a hardware store. What does its lesson 6 say about the tenant id?"
    """
    if inquiry.has_course or not parsed.catalogue:
        return None
    steps_of = _steps
    if inquiry.place is None:
        steps_of = _steps_in_course
    steps = steps_of(parsed.question)
    if steps is None:
        return None
    said, wanted = steps
    return inquiry._replace(
        kind="find",
        topic=said,
        wanted=bare_question(wanted),
        asks=frozenset(),
        lesson=None,
        by_lesson=False,
    )


def asks_of_described_lesson(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes what is asked of a lesson that is only described: "In the lesson with the pier, what rusts first?"."""
    found = _IN_DESCRIBED_LESSON.match(parsed.question)
    if found is None or not parsed.catalogue or inquiry.lesson is not None:
        return None
    if inquiry.step or not asks_of_texts(found["wanted"]):
        return None
    return inquiry._replace(
        kind="find",
        topic=found["said"],
        wanted=bare_question(found["wanted"]),
        asks=frozenset(),
        by_lesson=True,
    )


def _steps_in_course(question: str) -> tuple[str, str] | None:
    """Returns what is said of a course, and what is asked of its texts; None where the question is of no such form."""
    says = _COURSE_SAYS.match(question)
    if says is not None:
        return says["said"], _as_question(_without_about(says))
    for form in (_IN_COURSE, _COURSE_ALSO):
        found = form.match(question)
        if found is not None and _is_wanted_of(found):
            named = found.groupdict()
            # "What does it recommend?" asks it of what was named in front.
            also = f"{named['also']}: " if named.get("also") else ""
            return found["said"], f"{also}{found['wanted']}"
    return None


def _is_wanted_of(described: re.Match[str]) -> bool:
    """Returns True where what is asked behind a description is asked of the texts, and of what is described."""
    wanted = described["wanted"]
    if not asks_of_texts(wanted):
        return False
    if not described.groupdict().get("some"):
        return True
    # "What is it called and who is the person speaking in it?" asks the catalogue.
    of_course = asked_of_catalogue(wanted, of_course=True)
    return not of_course.asks & EXACT and _POINTS_AT_FOUND.search(wanted) is not None


def _without_about(says: re.Match[str]) -> str:
    """Returns what is asked of a course that is described within the question: "about rust", or "what for rust"."""
    about = _ABOUT.sub("", says["wanted"], count=1)
    if not says["of"].strip() and says["verb"].lower() in _SAYING:
        return about
    return f"{says['asks']}{says['of']} {says['verb']} {says['wanted']}?"


def _steps(question: str) -> tuple[str, str] | None:
    """Returns what is said of a course, and what is asked of its lesson; None where the question is of no such form."""
    for form in (_IN_LESSON_OF_COURSE, _LESSON_OF_COURSE_SAYS):
        found = form.match(question)
        if found is not None:
            return found["said"], _as_question(found["wanted"])
    *before, last = _SENTENCES.findall(question) or [""]
    said = " ".join(before)
    if not _A_COURSE.search(said) or not _LESSON_OF_IT.search(last):
        return None
    if not asks_of_texts(last.strip()) or not asked_of_catalogue(said).topic:
        return None
    return said.strip(), last
