"""The BERT encoder of all-MiniLM-L6-v2 on plain numpy, from the weights that sentence-transformers loads.

`import sentence_transformers` takes six seconds of processor time, `import torch` two, and embedding a question takes
15 ms with either. These few lines are the whole model (Devlin et al. 2018, https://arxiv.org/abs/1810.04805); a test
compares them with sentence-transformers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from threadpoolctl import threadpool_limits

LAYERS = 6
HEADS = 12
_EPSILON = np.float32(1e-12)

Floats = NDArray[np.float32]


class BertEncoder:
    """Turns rows of token ids into one vector of unit length each; for many threads, each of which takes one core."""

    def __init__(self, weights: Mapping[str, Floats]) -> None:
        self._weights = weights

    @classmethod
    def load(cls, folder: Path) -> BertEncoder:
        # Otherwise numpy wakes all cores for each product, and embedding threads wait for one another: six times the
        # CPU.
        threadpool_limits(limits=1, user_api="blas")
        return cls(load_file(folder / "model.safetensors"))

    def __call__(self, rows: Sequence[Sequence[int]]) -> list[list[float]]:
        """Returns the vectors; the padding of the shorter rows is masked and does not change them."""
        longest = max(map(len, rows))
        ids = np.zeros((len(rows), longest), dtype=np.int64)
        there = np.zeros((len(rows), longest), dtype=bool)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = row
            there[number, : len(row)] = True
        sums = (self._states(ids, there) * there[:, :, None]).sum(axis=1)
        vectors: list[list[float]] = (
            sums / np.linalg.norm(sums, axis=1, keepdims=True)
        ).tolist()
        return vectors

    def _states(self, ids: NDArray[np.int64], there: NDArray[np.bool_]) -> Floats:
        weights = self._weights
        states = (
            weights["embeddings.word_embeddings.weight"][ids]
            + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
            + weights["embeddings.token_type_embeddings.weight"][0]
        )
        states = self._normed("embeddings", states)
        # For every head and every attending token: adds nothing for the tokens that it sees.
        unseen = np.where(there, 0, -np.inf).astype(np.float32)[:, None, None, :]
        for number in range(LAYERS):
            layer = f"encoder.layer.{number}"
            states = self._attended(f"{layer}.attention", states, unseen)
            inner = _gelu(self._dense(f"{layer}.intermediate.dense", states))
            outer = self._dense(f"{layer}.output.dense", inner)
            states = self._normed(f"{layer}.output", outer + states)
        return states

    def _attended(self, name: str, states: Floats, unseen: Floats) -> Floats:
        texts, tokens, width = states.shape
        parts: list[Floats] = []
        for part in ("query", "key", "value"):
            wide = self._dense(f"{name}.self.{part}", states)
            parts.append(wide.reshape(texts, tokens, HEADS, -1).swapaxes(1, 2))
        query, key, value = parts
        scale = np.float32(1 / math.sqrt(width // HEADS))
        attention = _softmax(query @ key.swapaxes(2, 3) * scale + unseen)
        joined = (attention @ value).swapaxes(1, 2).reshape(states.shape)
        return self._normed(
            f"{name}.output", self._dense(f"{name}.output.dense", joined) + states
        )

    def _dense(self, name: str, states: Floats) -> Floats:
        # As one matrix, because numpy would multiply text by text.
        rows = states.reshape(-1, states.shape[-1])
        product = rows @ self._weights[f"{name}.weight"].T
        product += self._weights[f"{name}.bias"]
        return product.reshape(*states.shape[:-1], -1)

    def _normed(self, name: str, states: Floats) -> Floats:
        weights = self._weights
        centred: Floats = states - states.mean(axis=-1, keepdims=True)
        variance = np.square(centred).mean(axis=-1, keepdims=True)
        centred /= np.sqrt(variance + _EPSILON)
        centred *= weights[f"{name}.LayerNorm.weight"]
        centred += weights[f"{name}.LayerNorm.bias"]
        return centred


def _softmax(scores: Floats) -> Floats:
    # Shifted, so that no exponential overflows.
    shares: Floats = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    return shares


def _gelu(inputs: Floats) -> Floats:
    """Returns x Φ(x), of which erf is computed to 1.5e-7 (Abramowitz and Stegun 1964, formula 7.1.26).

    In place if possible: these are the largest arrays, and each pass over one costs time.
    """
    size = np.abs(inputs)
    share = np.reciprocal(1 + np.float32(0.3275911 / math.sqrt(2)) * size)
    tail: Floats = np.float32(1.061405429) * share
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail += np.float32(factor)
        tail *= share
    # 1 - Φ(|x|): the tail on the other side of the curve.
    tail *= size * np.float32(0.5)
    size *= size
    size *= np.float32(-0.5)
    tail *= np.exp(size, out=size)
    return np.maximum(inputs, 0) - tail
