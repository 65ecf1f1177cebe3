"""A package that is missing is told apart from a bug."""

from __future__ import annotations

import importlib
import re
import tomllib
from pathlib import Path

import pytest

from antiphon.vocabulary.errors import ConfigurationError, how_to_install
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


ROOT = Path(__file__).parents[3]
MAKEFILE = ROOT / "Makefile"
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
    "optional-dependencies"
]


@pytest.mark.parametrize("extra", sorted(set(EXTRAS) - {"dev"}))
def test_the_target_of_make_that_is_named_installs_the_extra(extra: str) -> None:
    lean, dev = re.findall(r"-e '\.\[([^]]*)\]'$", MAKEFILE.read_text(), re.MULTILINE)[
        :2
    ]
    installed = {
        "make setup": lean.replace("$*", "minilm"),
        "make setup LEAN=1": lean.replace("$*", "onnx"),
        "make setup-dev": dev,
    }

    [command] = re.findall(r"`(make [^`]*)`", how_to_install(extra))

    extras = installed[command].split(",")
    brought = {package for name in extras for package in EXTRAS[name]}
    assert set(EXTRAS[extra]) <= brought
