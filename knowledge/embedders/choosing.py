"""The embedder that a setting names."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable
from typing import cast

from antiphon.knowledge.embedders.names import NAMES
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.ports import Embedder

_MODULES = {"minilm": "antiphon.knowledge.embedders.minilm", "onnx": "knowledge.embedders.onnx"}
_PACKAGES = {"minilm": "sentence_transformers", "onnx": "onnxruntime"}


def installed_embedders() -> tuple[str, ...]:
    """The embedders whose packages are installed, the default first."""
    return tuple(name for name, package in _PACKAGES.items() if importlib.util.find_spec(package))


def embedder_called(name: str) -> str | None:
    """Which embedder (see `load_embedder`) writes `name` into its indexes; None where none does."""
    return next((key for key, written in NAMES.items() if written == name), None)


def load_embedder(name: str) -> Embedder:
    """Loads an embedder's packages and weights, which takes seconds.

    Args:
        name: `minilm` (sentence-transformers and torch) or `onnx` (onnxruntime, a third of the memory).

    Raises:
        ConfigurationError: No such embedder, or its packages are not installed.
    """
    if name not in _MODULES:
        raise ConfigurationError(f"there is no embedder {name!r}; choose one of {', '.join(_MODULES)}")
    # The weights come with a package: no download, no progress bar and no warning about threads is wanted.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        module = importlib.import_module(_MODULES[name])
    except ModuleNotFoundError as error:
        other = next(one for one in _MODULES if one != name)
        raise ConfigurationError(
            f"the embedder {name!r} needs the package {error.name}, which is not installed: "
            f"pip install 'antiphon[{name}]', or choose the embedder {other!r} (ANTIPHON_EMBEDDER={other})"
        ) from error
    return cast(Callable[[], Embedder], module.load)()
