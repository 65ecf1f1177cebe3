"""Search in large libraries: time of one search, filtered or not, memory, size of the index: `make bench-search`.

The texts are made up: words as frequent as those of a language are (Zipf's law), vectors by chance, because what they
say does not matter for time. The question is embedded by the real embedder.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from antiphon.knowledge import Library, index_paths, load_embedder
from antiphon.vocabulary.ports import Embedder
from antiphon.vocabulary.values import Value

SENTENCES_PER_CHUNK = 8
LESSONS = 20
VOCABULARY = 40_000
SEARCHES = 60
FILTERED_COURSES = 20


class ChanceVectors:
    """An embedder without a model: quick, and of the real one's name and size, so that its index can be searched."""

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
    """Milliseconds of one search; `cpu_ms` are those of the processor, which other work on the machine leaves alone."""

    kind: str
    median_ms: float
    cpu_ms: float
    slowest_ms: float


def words(chance: random.Random) -> Iterator[str]:
    """Yields words without end, as frequent as those of a language."""
    vocabulary = []
    for _ in range(VOCABULARY):
        letters = chance.choices("abcdefghiklmnoprstuvwz", k=chance.randint(3, 9))
        vocabulary.append("".join(letters))
    # The commonest words of a language are stop words, which no index holds.
    weights = [1.0 / (rank + 20) for rank in range(VOCABULARY)]
    while True:
        yield from chance.choices(vocabulary, weights, k=10_000)


def write_courses(folder: Path, chunks: int) -> None:
    """Writes courses of twenty lessons that make about so many chunks."""
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
    """Returns questions of the same words: five of them, which are as many tokens as those of a longer question."""
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
        # Another question each time, since one that was asked before is not embedded again.
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


def run(folder: Path, chunks: int, console: Console) -> None:
    """Indexes what is not indexed yet, and prints what searching it takes."""
    embedder = load_embedder("onnx")
    data = folder / "data"
    if not data.exists():
        courses = folder / "courses"
        courses.mkdir(parents=True)
        write_courses(courses, chunks)
        started = time.perf_counter()
        index_paths([courses], data, ChanceVectors(embedder))
        console.print(
            f"indexed in {time.perf_counter() - started:.0f} s without the embedder; the index takes "
            f"{_size(data) / 1e6:.0f} MB; index again to measure searching in a process of its own"
        )
        return
    library = Library.open(data, embedder)
    library.search("warm up")
    table = Table(title=f"{library.describe().chunks:,} chunks")
    for column in ("search", "median ms", "cpu ms", "slowest ms"):
        table.add_column(column)
    for timing in measure(library):
        table.add_row(
            timing.kind,
            f"{timing.median_ms:.1f}",
            f"{timing.cpu_ms:.1f}",
            f"{timing.slowest_ms:.1f}",
        )
    console.print(table)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    console.print(f"peak memory {peak_mb:.0f} MB; index {_size(data) / 1e6:.0f} MB")
    library.close()


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, help="where the index is kept")
    arguments = parser.parse_args()
    console = Console()
    folder = arguments.folder or Path(tempfile.mkdtemp())
    run(folder, arguments.chunks, console)


if __name__ == "__main__":
    main()
