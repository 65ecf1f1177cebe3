"""Estimates the mean and spread of likeness over all windows of a library from a sample."""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec
import numpy as np

from antiphon.knowledge.vectors import Moments, SmallVectors, Vector, from_blob
from antiphon.knowledge.windows import REACHES, window_vectors

_SAMPLE = """
SELECT sentences.tokens, sentences.vectors, sections.number, sections.vector FROM sentences
JOIN chunks ON chunks.number = sentences.chunk JOIN sections ON sections.number = chunks.section
WHERE chunks.number % :spread < :together ORDER BY chunks.number
"""
# Number of chunks to sample, enough for two digits. They are read in stretches, because a window reaches into the
# neighbouring chunks.
_SAMPLE_CHUNKS = 1_000
_STRETCH = 50


class _Run(msgspec.Struct, kw_only=True):
    """The sentences of neighbouring chunks of one section."""

    title: Vector
    tokens: list[Any] = []
    rows: list[Vector] = []


def window_moments(sql: sqlite3.Connection, dimensions: int) -> list[tuple[str, bytes]]:
    """Returns the moments of the vectors of windows, by reach, over a sample of them."""
    sample = _sample(sql, dimensions)
    rows = []
    for reach in REACHES:
        batches = [_unit_windows(run, reach) for run in sample]
        moments = Moments.of(batches, dimensions)
        rows.append((f"moments {reach}", moments.encode()))
    return rows


def _sample(sql: sqlite3.Connection, dimensions: int) -> list[_Run]:
    count = int(sql.execute("SELECT count(*) FROM chunks").fetchone()[0])
    stretches = max(count // _SAMPLE_CHUNKS, 1)
    values = {"spread": stretches * _STRETCH, "together": _STRETCH}
    runs: dict[tuple[int, int], _Run] = {}
    for number, (tokens, vectors, section, title) in enumerate(
        sql.execute(_SAMPLE, values)
    ):
        key = (section, number // _STRETCH)
        run = runs.setdefault(key, _Run(title=from_blob(title)))
        run.tokens.append(np.frombuffer(tokens, dtype="<u2"))
        run.rows.append(SmallVectors.decode(vectors, dimensions).rows())
    return list(runs.values())


def _unit_windows(run: _Run, reach: int) -> Vector:
    tokens = np.concatenate(run.tokens).astype(np.float32)
    windows = window_vectors(np.vstack(run.rows), tokens, run.title, reach)
    unit: Vector = windows / np.linalg.norm(windows, axis=1, keepdims=True)
    return unit
