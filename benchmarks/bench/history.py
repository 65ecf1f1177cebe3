"""Earlier measurements: a JSON file beside the data, never committed, and its plots."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from html import escape
from importlib.metadata import version
from pathlib import Path

import msgspec

from antiphon.service import load_settings
from antiphon.vocabulary.values import Value

_PACKAGES = ("anthropic", "chromadb", "msgspec", "torch", "onnxruntime")
_WIDTH = 720
_HEIGHT = 90
_LEFT = 10
_SHOWN = 60


class Run(Value, frozen=True, kw_only=True):
    """One run of a benchmark.

    Attributes:
        at: Seconds since 1970.
        machine: Cores, processor and versions, without the machine's name.
        figures: Values by name; each name includes the unit.
    """

    at: float
    benchmark: str
    machine: dict[str, str]
    figures: dict[str, float]


def machine() -> dict[str, str]:
    """Describes the conditions of a figure other than the code."""
    found = {
        "cores": str(len(os.sched_getaffinity(0))),
        "processor": _processor(),
        "python": platform.python_version(),
    }
    for package in _PACKAGES:
        found[package] = version(package)
    return found


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def history_file() -> Path:
    """Returns the file of the runs, in the data folder."""
    return load_settings().data_dir / "bench" / "history.json"


def runs_of(file: Path) -> list[Run]:
    """Returns all runs, oldest first."""
    if not file.exists():
        return []
    return msgspec.json.decode(file.read_bytes(), type=list[Run])


def remember(benchmark: str, figures: Mapping[str, float]) -> Path:
    """Adds a run to the history, redraws it, and returns the drawing's file."""
    file = history_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    run = Run(
        at=time.time(),
        benchmark=benchmark,
        machine=machine(),
        figures=dict(figures),
    )
    runs = [*runs_of(file), run]
    file.write_bytes(msgspec.json.format(msgspec.json.encode(runs)))
    of_this = [each for each in runs if each.benchmark == benchmark]
    drawing = file.with_name(f"{benchmark}.svg")
    drawing.write_text(as_svg(of_this))
    return drawing


def as_svg(runs: Sequence[Run]) -> str:
    """Draws a small plot for each figure of the last run: its value in each run, from 0 up."""
    drawn: list[str] = []
    y = 10
    for name in runs[-1].figures:
        values = [run.figures[name] for run in runs if name in run.figures]
        drawn += _plot(name, values[-_SHOWN:], y)
        y += _HEIGHT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{y}" '
        f'viewBox="0 0 {_WIDTH} {y}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="{_WIDTH}" height="{y}" fill="white"/>\n'
        + "\n".join(drawn)
        + "\n</svg>\n"
    )


def _plot(name: str, values: Sequence[float], y: int) -> list[str]:
    highest = max(max(values), sys.float_info.min)
    step = (_WIDTH - 2 * _LEFT) / _SHOWN
    bottom = y + _HEIGHT - 20
    drawn = [f'<text x="{_LEFT}" y="{y + 10}">{escape(name)}: {values[-1]:,.3g}</text>']
    for number, value in enumerate(values):
        height = (_HEIGHT - 36) * value / highest
        drawn.append(
            f'<rect x="{_LEFT + number * step:.1f}" y="{bottom - height:.1f}" width="{step - 2:.1f}" '
            f'height="{height:.1f}" fill="#3b6ea5"/>'
        )
    return drawn
