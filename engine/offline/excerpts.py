"""Writes excerpts into a reply: each with its source in front, cited, its telling sentence marked; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from antiphon.engine.offline.task import Source
from antiphon.engine.offline.wire import Draft
from antiphon.language.certainty import (
    MEDIUM,
    MOST_UNKNOWN,
    Certainty,
    certainty,
    probability,
)
from antiphon.language.evidence import Measures, is_unknown
from antiphon.language.extract import MOST_EXCERPTS, Excerpt, Extraction, extract
from antiphon.language.fit import Fit
from antiphon.language.runs import LONGEST_RUN_CHARS
from antiphon.language.shortfall import falls_short
from antiphon.language.tongues import ENGLISH, tongue_of, wordings
from antiphon.language.words import is_english

NEAR_IN_ANOTHER_LANGUAGE = 0.2
"""An embedder for English reads German and Spanish a little: what answers them in samples/open.jsonl is 0.26 and more
like them, and what is nearest to one that nothing answers 0.06."""
MEDIUM_IN_ANOTHER_LANGUAGE = 0.5
"""Of what is less likely, half of the answers in samples/open.jsonl are none."""
READ_CHARS = 1_000
_VERSIONS = re.compile(r"\b[A-Z][A-Za-z]+-?\d+(?:\.\d+)*\b")
_THAT_IS = re.compile(
    r"\W*(?:(?:and|so|now|but)\W+)?(?:in (?:\w+ ){1,3})?(?:(?:that|this|those|these)(?:['\u2019]s| is| are)\b"
    r"|(?:it|they)(?:['\u2019]s|['\u2019]re| is| are) called\b"
    r"|(?:i|we|you|they|people) call (?:it|that|this|them|these|those)\b)",
    re.I,
)
"""Who explains by speaking says what a thing does first, and then: "That's the agentic loop.", or "In databases that's
called bi-temporal."."""
_MOST_NAMED = 3
"""As many sentences say what a thing is, before it is given its name."""
_ASKED = "?"
_MARK = "**"
"""Around the sentence that carries the answer: bold in Markdown, and plain to see where Markdown is not rendered."""


class Found(NamedTuple):
    """What was found in some sources for one question, or for a part of it.

    Attributes:
        certainty: How sure it is that it answers.
    """

    sources: Sequence[Source]
    extraction: Extraction
    certainty: Certainty

    @property
    def answers(self) -> bool:
        """True where it speaks to the question at all."""
        return self.certainty != "none"

    @property
    def is_likely(self) -> bool:
        """True where it is at least likely that it answers."""
        return self.certainty in ("medium", "high")

    @property
    def is_of_unknown(self) -> bool:
        """True where the courses have no words for most of what is looked for."""
        return self.extraction.fit.unknown > MOST_UNKNOWN


def look(
    sources: Sequence[Source],
    question: str,
    measures: Measures,
    limit: int = MOST_EXCERPTS,
) -> Found:
    """Looks for the excerpts of the sources that answer the question best."""
    asked, *_ = wordings(question, measures.weigh)
    if tongue_of(question) is not ENGLISH:
        measures = _of_known_words(measures)
    extraction = _extract(sources, asked, measures, limit)
    found = Found(sources, extraction, _sure(question, sources, extraction))
    if found.is_likely and _falls_short(question, found, measures):
        found = found._replace(certainty="low")
    return found


def _extract(
    sources: Sequence[Source],
    question: str,
    measures: Measures,
    limit: int,
) -> Extraction:
    """Chooses the excerpts of the sources that answer a question best, at most `limit`."""
    passages = [source.blocks for source in sources]
    labels = [source.label for source in sources]
    return extract(question, passages, measures, limit=limit, titles=labels)


def _of_known_words(measures: Measures) -> Measures:
    """Returns the measures for a question in another language: its words that the courses lack tell nothing."""
    weigh = measures.weigh
    if weigh is None:
        return measures

    def weigh_known(term: str) -> float:
        if is_unknown(term, weigh):
            return 0.0
        return weigh(term)

    return measures._replace(weigh=weigh_known)


def _sure(
    question: str, sources: Sequence[Source], extraction: Extraction
) -> Certainty:
    """Returns how sure the fit makes it, but for what words and meaning cannot tell."""
    if tongue_of(question) is not ENGLISH:
        sure = _sure_of_foreign(extraction.fit, MEDIUM_IN_ANOTHER_LANGUAGE)
    elif not is_english(question):
        # Words without a sentence are written like those of a language that is not known.
        sure = _sure_of_foreign(extraction.fit, MEDIUM)
    else:
        sure = certainty(extraction.fit)
    if sure in ("none", "low"):
        return sure
    best = sources[extraction.excerpts[0].passage]
    if _names_another_version(question, best):
        return "low"
    return sure


def _sure_of_foreign(fit: Fit, medium: float) -> Certainty:
    """Returns how sure the fit makes it for a question in another language, which is medium from a likelihood on."""
    # Its words stand nowhere in the courses whatever it asks.
    sure = certainty(fit._replace(unknown=0.0))
    if sure == "none" and (fit.likeness or 0.0) < NEAR_IN_ANOTHER_LANGUAGE:
        return "none"
    if probability(fit) < medium:
        return "low"
    return sure


def _falls_short(question: str, found: Found, measures: Measures) -> bool:
    """Returns True where the excerpts lack what is asked of the things that they name."""
    likeness = found.extraction.fit.likeness
    if likeness is None or tongue_of(question) is not ENGLISH:
        return False
    shown: list[str] = []
    for excerpt in _as_shown(found):
        source = found.sources[excerpt.passage]
        shown.append(source.label)
        shown.append("".join(source.blocks[excerpt.first : excerpt.end]))
    return falls_short(question, shown, likeness, measures.weigh)


def _names_another_version(question: str, source: Source) -> bool:
    """Returns True where the source lacks a name with a number in it, such as GPT-4: GPT-2 is another thing."""
    text = _joined(f"{source.label} {''.join(source.blocks)}")
    named = _VERSIONS.findall(question[:READ_CHARS])
    return any(_joined(name) not in text for name in named)


def _joined(text: str) -> str:
    """Returns the text without what may stand between a name and its number."""
    return text.casefold().replace("-", "").replace(" ", "")


def quote_all(found: Found, draft: Draft, *, with_course: bool = False) -> None:
    """Writes the excerpts, each in a paragraph with its source in front; the first is the best, and goes on.

    Args:
        with_course: Each names its course, even where that is the same for all.
    """
    excerpts = _as_shown(found)
    courses = {found.sources[excerpt.passage].course for excerpt in excerpts}
    for excerpt in excerpts:
        source = found.sources[excerpt.passage]
        named = with_course or len(courses) > 1
        draft.paragraph(f"{place_of(source, with_course=named)}: ")
        quote(excerpt, source, draft)


def _as_shown(found: Found) -> list[Excerpt]:
    """Returns the excerpts with what goes with each: what it names, what is said next, or the reply to a question."""
    named = [_with_what_it_names(each, found) for each in found.extraction.excerpts]
    shown = [_going_on(excerpt, found) for excerpt in named[:1]]
    shown += [_with_reply(excerpt, found) for excerpt in named[1:]]
    return shown


def _with_what_it_names(excerpt: Excerpt, found: Found) -> Excerpt:
    """Returns an excerpt that begins with "That's called X" with what that is, as far as an excerpt may be long."""
    blocks = found.sources[excerpt.passage].blocks
    if not _THAT_IS.match(blocks[excerpt.first]):
        return excerpt
    wall = max(excerpt.first - _MOST_NAMED, 0)
    for other in found.extraction.excerpts:
        if other.passage == excerpt.passage and other.end <= excerpt.first:
            wall = max(wall, other.end)
    first = excerpt.first
    while first > wall:
        if len("".join(blocks[first - 1 : excerpt.end]).strip()) > LONGEST_RUN_CHARS:
            break
        first -= 1
    return excerpt._replace(first=first)


def _going_on(excerpt: Excerpt, found: Found) -> Excerpt:
    """Returns the best excerpt with what is said next, up to the next excerpt and as far as one may be long.

    A question is often answered in the sentence behind those that it is like.
    """
    blocks = found.sources[excerpt.passage].blocks
    before_next = blocks[: _wall_behind(excerpt, found)]
    end = end_of_room(before_next, excerpt.first, excerpt.end, LONGEST_RUN_CHARS)
    return excerpt._replace(end=end)


def _wall_behind(excerpt: Excerpt, found: Found) -> int:
    """Returns where the next excerpt of the same passage begins, or where the passage ends."""
    wall = len(found.sources[excerpt.passage].blocks)
    for other in found.extraction.excerpts:
        if other.passage == excerpt.passage and other.first >= excerpt.end:
            wall = min(wall, other.first)
    return wall


def end_of_room(blocks: Sequence[str], first: int, end: int, most_chars: int) -> int:
    """Returns where a run of sentences ends with what is said next, as far as it is no longer than it may be."""
    while end < len(blocks):
        if len("".join(blocks[first : end + 1]).strip()) > most_chars:
            break
        end += 1
    return end


def _with_reply(excerpt: Excerpt, found: Found) -> Excerpt:
    """Returns an excerpt that ends with a question, or in front of one, with what is said to it.

    "And it gets slower. Why? Because eight cores can do eight things at once."
    """
    blocks = found.sources[excerpt.passage].blocks
    wall = _wall_behind(excerpt, found)
    end = excerpt.end
    while end < wall and _ASKED in (
        blocks[end - 1].rstrip()[-1:],
        blocks[end].rstrip()[-1:],
    ):
        if len("".join(blocks[excerpt.first : end + 1]).strip()) > LONGEST_RUN_CHARS:
            break
        end += 1
    return excerpt._replace(end=end)


def place_of(source: Source, *, with_course: bool) -> str:
    """Returns where a source stands, in words: "Lesson 5, Prompt caching"."""
    if source.lesson is None:
        return source.course
    named = [f"Lesson {source.lesson}"]
    if source.title not in ("", source.source):
        named.append(source.title)
    if with_course:
        named.insert(0, source.course)
    return ", ".join(named)


def quote(excerpt: Excerpt, source: Source, draft: Draft) -> None:
    """Cites the excerpt, its telling sentence marked and cited by itself: the place in its file is that sentence's."""
    for first, end in (
        (excerpt.first, excerpt.key),
        (excerpt.key, excerpt.key + 1),
        (excerpt.key + 1, excerpt.end),
    ):
        text = " ".join("".join(source.blocks[first:end]).split())
        if not text:
            continue
        if first == excerpt.key and excerpt.end - excerpt.first > 1:
            text = _marked(text)
        if first > excerpt.first:
            draft.say(" ")
        draft.cite(source, first, end, text)


def _marked(sentence: str) -> str:
    # Stars of its own would end the mark early.
    if not sentence or "*" in sentence:
        return sentence
    return f"{_MARK}{sentence}{_MARK}"
