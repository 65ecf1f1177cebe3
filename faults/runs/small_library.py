"""The library of the miniature service: two courses in memory, with the three parts of a real library."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from antiphon.knowledge import (
    Course,
    CourseMatch,
    Lesson,
    LessonMatch,
    LibraryState,
    resolve_lesson,
)
from antiphon.language.sentences import sentence_starts
from antiphon.language.words import terms
from antiphon.vocabulary.errors import KnowledgeError
from antiphon.vocabulary.health import LastTry
from antiphon.vocabulary.ports import Embedder
from antiphon.vocabulary.values import LessonPart, Passage, StoredText

RELIABILITY, RETRIEVAL = "Reliability in Small", "Retrieval in Small"
_LESSONS: dict[str, tuple[tuple[str, str], ...]] = {
    RELIABILITY: (
        ("Circuit breakers", "A circuit breaker has three states: closed, open and half-open. When it is open, calls "
         "fail at once. After a while one probe is let through, and its success closes the breaker."),
        ("Retries", "Retries with backoff wait longer after each failure. Without jitter all clients retry at once. "
         "A retry budget keeps retries from becoming a storm."),
        ("Deadlines", "A deadline is handed on with the call. Each stage may use its share of it. What is left is "
         "kept for the answer."),
    ),
    RETRIEVAL: (
        ("Ranking", "BM25 ranks passages by rare words. Long passages are held back by their length. Its states of "
         "saturation are set by one parameter."),
        ("Meaning", "Vectors find passages by meaning. Near vectors are near in meaning. A circuit of two searches "
         "is better than each."),
    ),
}  # fmt: skip
RESULTS = 2


class WordEmbedder:
    """Hashes stemmed words into a small vector; satisfies `vocabulary.ports.Embedder`."""

    name = "words"
    dimensions = 32
    max_tokens = 256

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return list(map(self._vector, texts))

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def _vector(self, text: str) -> list[float]:
        # A little of the first dimension, so that even the vector of a text without words is not zero.
        sums = [0.01] + [0.0] * (self.dimensions - 1)
        for term in terms(text):
            # Not by hash(), which differs in every process.
            digest = sha256(term.encode()).digest()
            sign = -1.0 if digest[1] % 2 == 0 else 1.0
            sums[digest[0] % self.dimensions] += sign
        length = sum(value * value for value in sums) ** 0.5
        return [value / length for value in sums]


class SmallLibrary:
    """Satisfies `dispatcher.CourseLibrary`, and has the few methods that the service needs of its library."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.last_search = LastTry()
        self._plain = WordEmbedder()
        self._passages = _passages()
        self._vectors = self._plain.embed(
            [passage.text.text for passage in self._passages]
        )

    def search(
        self,
        query: str,
        course: str | None,
        lesson: int | None,
        limit: int = RESULTS,
        known: Sequence[Passage] = (),
    ) -> list[Passage]:
        (vector,) = self._embedder.embed([query])
        if len(vector) != self._embedder.dimensions:
            raise KnowledgeError(
                "the vector index expects vectors of another length: index again"
            )
        scored: list[tuple[float, Passage]] = []
        for row, passage in zip(self._vectors, self._passages, strict=True):
            likeness = sum(a * b for a, b in zip(vector, row, strict=True))
            scored.append((likeness, passage))
        return _best(scored, course, lesson, limit, known)

    def keyword_search(
        self,
        query: str,
        course: str | None,
        lesson: int | None,
        limit: int = RESULTS,
        known: Sequence[Passage] = (),
    ) -> list[Passage]:
        wanted = set(terms(query))
        scored: list[tuple[float, Passage]] = []
        for passage in self._passages:
            shared = wanted & set(terms(passage.text.text))
            scored.append((float(len(shared)), passage))
        return _best(scored, course, lesson, limit, known)

    def lesson_part(self, course: str, lesson: int, part: LessonPart) -> list[Passage]:
        places = [(each.course, each.lesson) for each in self._passages]
        if (course, lesson) not in places:
            return []
        # Each lesson here is one passage, which is both its beginning and its end.
        del part
        return [self._passages[places.index((course, lesson))]]

    def resolve_course(self, name: str) -> CourseMatch:
        found = [title for title in _LESSONS if name.casefold() in title.casefold()]
        if len(found) == 1:
            return CourseMatch(title=found[0], nearest=tuple(found))
        # If the name fits none, all courses are equally near.
        if not found:
            found = list(_LESSONS)
        return CourseMatch(title=None, nearest=tuple(found))

    def resolve_lesson(self, name: int | str, course: str | None) -> LessonMatch:
        courses = [each for each in self.courses() if course in (None, each.title)]
        return resolve_lesson(name, courses, self._plain.embed)

    def outline(self, title: str) -> Course | None:
        return _course(title) if title in _LESSONS else None

    def courses(self) -> tuple[Course, ...]:
        return tuple(map(_course, _LESSONS))

    def describe(self) -> LibraryState:
        return LibraryState(
            generation=1,
            embedder="words",
            documents=len(_LESSONS),
            chunks=len(self._passages),
        )

    def refresh(self) -> bool:
        return False

    def close(self) -> None:
        """Does nothing, because nothing is open."""


def _best(
    scored: list[tuple[float, Passage]],
    course: str | None,
    lesson: int | None,
    limit: int,
    known: Sequence[Passage],
) -> list[Passage]:
    """Returns the best passages of a course and lesson except the known ones; None means any."""
    best: list[Passage] = []
    known_ids = {passage.id for passage in known}
    for score, passage in sorted(scored, key=lambda pair: -pair[0]):
        asked_for = course in (None, passage.course) and lesson in (
            None,
            passage.lesson,
        )
        if asked_for and score > 0 and passage.id not in known_ids:
            best.append(passage)
    return best[:limit]


def _passages() -> list[Passage]:
    found: list[Passage] = []
    for course, lessons in _LESSONS.items():
        for number, (title, text) in enumerate(lessons, start=1):
            passage = Passage(
                # From the content, like the ids of an index.
                id=sha256(text.encode()).hexdigest()[:32],
                source=f"{course} - Lesson {number}",
                text=StoredText(text),
                starts=sentence_starts(text),
                course=course,
                lesson=number,
                title=title,
                link=f"https://courses.example/{number}",
            )
            found.append(passage)
    return found


def _course(title: str) -> Course:
    lessons = [
        Lesson(number=number, title=name)
        for number, (name, _) in enumerate(_LESSONS[title], start=1)
    ]
    return Course(
        title=title,
        link=None,
        instructor="N. N.",
        lessons=tuple(lessons),
        chunks=len(lessons),
    )
