"""The share of the words of real files that is kept, by format.

It compares our readers with those of another checkout (`--beside`), and with markitdown and docling if `--peer-python`
names an interpreter that has them. The reference words of each file do not come from the product (references.py);
pdfminer in that interpreter is the third reader of PDF. Files without words, and files that no tool can open, count as
files but not in shares.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from antiphon.knowledge.readers.formats import suffixes
from benchmarks.documents.references import PDF_READERS, REFERENCES, reference_text
from benchmarks.documents.running import Outcome, Program
from benchmarks.documents.words import agreed, garbage, missing, without_running, words

WHOLE = 0.98
LARGEST_BYTES = 50_000_000
FIRST_MISSING = 10
LONGEST_SHOWN = 40
COLUMNS = (
    "format",
    "reader",
    "files",
    "with words",
    "refused",
    "words kept",
    "kept 98 %",
    "garbage",
    "CPU s",
)


class Reading(NamedTuple):
    """A tool's reading of one file, compared with the words in the file."""

    path: Path
    outcome: Outcome
    words: int
    missing: list[str]
    garbage: int

    @property
    def kept(self) -> float:
        return 1 - len(self.missing) / self.words if self.words else 1.0


def files_in(folders: Iterable[Path]) -> dict[str, list[Path]]:
    """Returns the files in these folders with a supported format, by suffix."""
    found: dict[str, list[Path]] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
            suffix = path.suffix.lower()
            if (
                suffix in suffixes()
                and path.is_file()
                and path.stat().st_size <= LARGEST_BYTES
            ):
                found.setdefault(suffix, []).append(path)
    return found


def references(
    suffix: str, paths: Sequence[Path], readers: Sequence[Program]
) -> list[list[str]]:
    """Returns the words of each file."""
    if suffix in REFERENCES:
        return [words(reference_text(path)) for path in paths]
    read = [
        [words(without_running(each.text)) for each in reader.read(paths)]
        for reader in readers
    ]
    return [agreed(texts) for texts in zip(*read, strict=True)]


def measure(
    program: Program, paths: Sequence[Path], known: Sequence[list[str]]
) -> list[Reading]:
    """Reads all files of a format with one tool."""
    readings = []
    for path, reference, outcome in zip(paths, known, program.read(paths), strict=True):
        lost = missing(reference, words(outcome.text))
        readings.append(
            Reading(path, outcome, len(reference), lost, garbage(outcome.text))
        )
    return readings


def row(suffix: str, name: str, readings: Sequence[Reading]) -> list[str]:
    """Returns the figures of one tool for one format; a refused file keeps none of its words."""
    with_words = [each for each in readings if each.words]
    total = sum(each.words for each in with_words)
    lost = sum(len(each.missing) for each in with_words)
    whole = sum(each.kept >= WHOLE for each in with_words)
    refused = sum(each.outcome.refused is not None for each in readings)
    seconds = sum(each.outcome.seconds for each in readings)
    return [
        suffix,
        name,
        str(len(readings)),
        str(len(with_words)),
        str(refused),
        _share(total - lost, total, 2),
        _share(whole, len(with_words), 1),
        str(sum(each.garbage for each in readings)),
        f"{seconds:.2f}",
    ]


def _share(part: int, whole: int, digits: int) -> str:
    return f"{100 * part / whole:.{digits}f} %" if whole else "-"


def show_details(console: Console, readings: Sequence[Reading], worst: int) -> None:
    """Prints the reasons of refusals, and the files with the greatest losses."""
    reasons = Counter(each.outcome.refused for each in readings if each.outcome.refused)
    for reason, count in reasons.most_common():
        console.print(f"  refused {count}: {reason}", markup=False, highlight=False)
    lossy = sorted(
        (each for each in readings if each.kept < WHOLE), key=lambda each: each.kept
    )
    for each in lossy[:worst]:
        first = list(dict.fromkeys(each.missing))[:FIRST_MISSING]
        shown = " ".join(word[:LONGEST_SHOWN] for word in first)
        console.print(
            f"  {each.kept:6.1%} of {each.words}  {each.path}: {shown}",
            markup=False,
            highlight=False,
        )


def programs(
    peer_python: str | None, beside: Path | None
) -> tuple[dict[str, Program], list[Program]]:
    """Returns the available tools to measure, by name, and the available reference readers of PDF."""
    tools = {"antiphon": Program("antiphon")}
    if beside is not None:
        tools["before"] = Program("antiphon", checkout=beside)
    readers = [Program(name) for name in PDF_READERS]
    if peer_python is not None:
        tools["markitdown"] = Program("markitdown", peer_python)
        tools["docling"] = Program("docling", peer_python)
        # The last reader is none of our dependencies: the peers' interpreter has it.
        readers[-1] = Program(PDF_READERS[-1], peer_python)
    there = {name: tool for name, tool in tools.items() if tool.is_there()}
    return there, [reader for reader in readers if reader.is_there()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument(
        "--formats", help="endings, such as pdf,docx; all of ours by default"
    )
    parser.add_argument(
        "--peer-python",
        help="an interpreter that has markitdown, docling or pdfminer.six",
    )
    parser.add_argument(
        "--beside", type=Path, help="another checkout of ours, measured too"
    )
    parser.add_argument(
        "--worst",
        type=int,
        default=0,
        help="how many of the worst files to name, by format",
    )
    given = parser.parse_args()

    console = Console(width=160)
    tools, pdf_readers = programs(given.peer_python, given.beside)
    table = Table(*COLUMNS)
    found = files_in(given.folders)
    wanted = given.formats.split(",") if given.formats else None
    for suffix, paths in found.items():
        if wanted is not None and suffix.strip(".") not in wanted:
            continue
        known = references(suffix, paths, pdf_readers)
        for name, program in tools.items():
            readings = measure(program, paths, known)
            table.add_row(*row(suffix, name, readings))
            if name == "antiphon":
                console.print(f"{suffix}: {len(paths)} files", highlight=False)
                show_details(console, readings, given.worst)
    console.print(table)


if __name__ == "__main__":
    main()
