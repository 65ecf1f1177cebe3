"""Small course scripts for tests of indexing and searching."""

from __future__ import annotations

from pathlib import Path

FIELDS = (
    "ranking",
    "mailbox",
    "embedding",
    "breaker",
    "replay",
    "citation",
    "budget",
    "snapshot",
)


def write_course(folder: Path, name: str, lessons: int = 2, extra: str = "") -> Path:
    """Writes a course about `name`, with a different subject in each lesson."""
    lines = [
        f"Course Title: The {name.title()} Course",
        f"Course Link: https://example.org/{name}",
    ]
    for number in range(lessons):
        field = FIELDS[number % len(FIELDS)]
        lines += [
            "",
            f"Lesson {number}: About {field}",
            f"Lesson Link: https://example.org/{name}/{number}",
        ]
        lines += [
            f"The {name} uses a {field} in case {case}. It is called {name}{field}{case}."
            for case in range(30)
        ]
    path = folder / f"{name}.txt"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*lines, extra]))
    return path
