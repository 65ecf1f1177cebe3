"""Moments say what a scan of all vectors would say."""

from __future__ import annotations

import numpy as np
import pytest

from antiphon.knowledge.vectors import Moments


def test_mean_and_spread_are_those_of_a_scan_over_all_vectors() -> None:
    random = np.random.default_rng(7)
    vectors = random.normal(size=(500, 32)).astype(np.float32)
    query = random.normal(size=32).astype(np.float32)

    mean, deviation = Moments.of([vectors[:200], vectors[200:]], 32).spread(query)

    assert mean == pytest.approx(float((vectors @ query).mean()), abs=1e-5)
    assert deviation == pytest.approx(float((vectors @ query).std()), rel=1e-5)


def test_no_vectors_have_no_spread() -> None:
    assert Moments.of([], 4).spread(np.ones(4, dtype=np.float32)) == (0.0, 0.0)
