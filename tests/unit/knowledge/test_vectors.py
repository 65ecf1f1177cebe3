"""Moments say what a scan of all vectors would say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from antiphon.knowledge.vectors import Moments, VectorFile


def test_mean_and_spread_are_those_of_a_scan_over_all_vectors() -> None:
    random = np.random.default_rng(7)
    vectors = random.normal(size=(500, 32)).astype(np.float32)
    query = random.normal(size=32).astype(np.float32)

    mean, deviation = Moments.of([vectors[:200], vectors[200:]], 32).spread(query)

    assert mean == pytest.approx(float((vectors @ query).mean()), abs=1e-5)
    assert deviation == pytest.approx(float((vectors @ query).std()), rel=1e-5)


def test_no_vectors_have_no_spread() -> None:
    assert Moments.of([], 4).spread(np.ones(4, dtype=np.float32)) == (0.0, 0.0)


def test_rows_of_a_file_are_those_asked_for(tmp_path: Path) -> None:
    rows = np.arange(40, dtype="<f4").reshape(10, 4)
    (tmp_path / "rows").write_bytes(rows.tobytes())
    file = VectorFile(tmp_path / "rows", 10, 4)

    found = file.rows(np.array([0, 1, 2, 5, 8, 9]))

    assert found.tolist() == rows[[0, 1, 2, 5, 8, 9]].tolist()
    assert file.rows(np.array([], dtype=np.int64)).shape == (0, 4)
    file.close()


def test_a_file_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows").write_bytes(bytes(100))

    with pytest.raises(ValueError, match="100 bytes instead of 160"):
        VectorFile(tmp_path / "rows", 10, 4)
