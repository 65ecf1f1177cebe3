"""A package that is missing is told apart from a bug."""

from __future__ import annotations

import importlib

import pytest

from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.imports import needing_extra


def test_a_missing_package_is_refused_with_the_extra_that_brings_it() -> None:
    with (
        pytest.raises(ConfigurationError, match=r"`x` needs not_there: .*\[serve\]"),
        needing_extra("serve", "`x`"),
    ):
        importlib.import_module("not_there.within")


def test_a_missing_module_of_ours_stays_a_bug() -> None:
    with (
        pytest.raises(ModuleNotFoundError, match=r"antiphon\.not_there"),
        needing_extra("serve", "`x`"),
    ):
        importlib.import_module("antiphon.not_there")
