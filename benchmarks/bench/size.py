"""Search in large libraries, a part of `make bench`: time of a search, filtered or not, memory, and size of the index.

The texts are made up: their words are as frequent as in a language (Zipf's law), their vectors are random, because the
meaning does not affect the time. The real embedder embeds the question.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from antiphon.knowledge import Library, index_paths, load_embedder
from antiphon.vocabulary.ports import Embedder
from antiphon.vocabulary.values import Value

SENTENCES_PER_CHUNK = 8
LESSONS = 20
VOCABULARY = 40_000
SEARCHES = 60
FILTERED_COURSES = 20


class ChanceVectors:
    """A quick embedder without a model, under the real one's name and size, so that its index can be searched."""

    def __init__(self, real: Embedder) -> None:
        self._real = real
        self.name = real.name
        self.dimensions = real.dimensions
        self.max_tokens = real.max_tokens

    def count_tokens(self, text: str) -> int:
        return len(text.split()) + 2

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        vectors = []
        for text in texts:
            chance = np.random.default_rng(hash(text) & 0xFFFFFFFF)
            vector = chance.standard_normal(self.dimensions, dtype=np.float32)
            vectors.append((vector / np.linalg.norm(vector)).tolist())
        return vectors


class Timing(Value, frozen=True, kw_only=True):
    """Milliseconds of one search; `cpu_ms` is processor time, which other work on the machine does not affect."""

    kind: str
    median_ms: float
    cpu_ms: float
    slowest_ms: float


def words(chance: random.Random) -> Iterator[str]:
    """Yields an endless stream of words, as frequent as in a language."""
    vocabulary = []
    for _ in range(VOCABULARY):
        letters = chance.choices("abcdefghiklmnoprstuvwz", k=chance.randint(3, 9))
        vocabulary.append("".join(letters))
    # Leaves out the commonest ranks: in a language those are stop words, which an index does not hold.
    weights = [1.0 / (rank + 20) for rank in range(VOCABULARY)]
    while True:
        yield from chance.choices(vocabulary, weights, k=10_000)


def write_courses(folder: Path, chunks: int) -> None:
    """Writes courses of twenty lessons that make about `chunks` chunks."""
    source = words(random.Random(1))
    courses = max(chunks // 1_000, 2)
    per_lesson = chunks // (courses * LESSONS) * SENTENCES_PER_CHUNK
    for course in range(courses):
        lines = [f"Course Title: Course {next(source)} {course}"]
        for lesson in range(LESSONS):
            lines.append(f"Lesson {lesson}: {next(source)} {next(source)}")
            for _ in range(per_lesson):
                sentence = " ".join(next(source) for _ in range(22))
                lines.append(f"{sentence.capitalize()}.")
        (folder / f"{course}.txt").write_text("\n".join(lines))


def questions(count: int) -> list[str]:
    """Returns questions of five such words, which have as many tokens as a longer question in a language."""
    source = words(random.Random(1))
    return [" ".join(next(source) for _ in range(5)) for _ in range(count)]


def measure(library: Library) -> list[Timing]:
    """Searches everywhere, in one course, and in one lesson of all courses."""
    titles = [course.title for course in library.courses()]
    kinds: list[tuple[str, str | None, int | None]] = [
        ("everywhere", None, None),
        ("in one course", titles[0], None),
        ("in one lesson of a course", titles[-1], 3),
        ("in one lesson of all courses", None, 3),
    ]
    timings = []
    for kind, course, lesson in kinds:
        timings.append(_time(library, kind, course, lesson))
    return timings


def _time(
    library: Library, kind: str, course: str | None, lesson: int | None
) -> Timing:
    walls = []
    cpus = []
    for query in questions(SEARCHES):
        # A different question each time, because the embedder caches earlier ones.
        query = f"{query} {len(kind)}"
        wall, cpu = time.perf_counter(), time.process_time()
        library.search(query, course=course, lesson=lesson)
        walls.append((time.perf_counter() - wall) * 1000)
        cpus.append((time.process_time() - cpu) * 1000)
    return Timing(
        kind=kind,
        median_ms=statistics.median(walls),
        cpu_ms=statistics.median(cpus),
        slowest_ms=max(walls),
    )


def build(folder: Path, chunks: int) -> dict[str, float]:
    """Indexes what is not indexed yet; returns the costs, without the embedder's."""
    data = folder / "data"
    if not data.exists():
        courses = folder / "courses"
        courses.mkdir(parents=True)
        write_courses(courses, chunks)
        started = time.process_time()
        index_paths([courses], data, ChanceVectors(load_embedder("onnx")))
        cpu_s = time.process_time() - started
        (folder / "cpu_s").write_text(str(cpu_s))
    return {
        "index, CPU s": float((folder / "cpu_s").read_text()),
        "index, MB": _size(data) / 1e6,
    }


def search(folder: Path) -> dict[str, float]:
    """Searches an index that another process made; returns the costs."""
    library = Library.open(folder / "data", load_embedder("onnx"))
    library.search("warm up")
    figures: dict[str, float] = {}
    for timing in measure(library):
        figures[f"search {timing.kind}, CPU ms"] = timing.cpu_ms
        figures[f"search {timing.kind}, ms"] = timing.median_ms
        figures[f"search {timing.kind}, slowest ms"] = timing.slowest_ms
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    figures["search, peak MB"] = peak_kb / 1000
    library.close()
    return figures


def figures_of(chunks: int, folder: Path) -> dict[str, float]:
    """Returns the figures of a library of `chunks` chunks, indexed in one process and searched in another."""
    found: dict[str, float] = {}
    for part in ("build", "search"):
        run = subprocess.run(
            [
                *(sys.executable, "-m", "benchmarks.bench.size", part),
                *("--chunks", str(chunks), "--folder", str(folder)),
            ],
            stdout=subprocess.PIPE,
            check=True,
        )
        found |= msgspec.json.decode(run.stdout, type=dict[str, float])
    return found


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["build", "search"])
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument(
        "--folder", type=Path, required=True, help="where the index is kept"
    )
    arguments = parser.parse_args()
    measures = {
        "build": partial(build, arguments.folder, arguments.chunks),
        "search": partial(search, arguments.folder),
    }
    figures = measures[arguments.part]()
    sys.stdout.write(msgspec.json.encode(figures).decode())


if __name__ == "__main__":
    main()
