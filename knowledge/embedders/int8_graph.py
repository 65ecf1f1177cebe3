"""Rewrites the graph of a model with int8 weights so that it multiplies the int8 weights themselves.

The packaged graph converts every weight to a float before use: onnxruntime does that once, while loading, and then
computes with 90 MB of floats. In the rewritten graph, a multiplication takes blocks of int8 weights and quantises its
other operand by blocks too (`MatMulNBits`, an operator of onnxruntime's own), and only the rows of the word table that
a text needs become floats.

Run as a program (`python -m … MODEL CHANGED`), because the memory that the package `onnx` takes is freed only with the
process.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

# Weights that share a scale in `MatMulNBits`, and values that share one in the other operand. Measured for 32, 64 and
# 128: vectors at a cosine of 0.9996, 0.999 and 0.9985 to those of float arithmetic; 64 is the fastest.
_BLOCK = 64
_INT8_ARITHMETIC = (
    4  # `accuracy_level` of `MatMulNBits`: quantise the other operand to int8
)
_RUNTIME_OPERATORS = "com.microsoft"


def write_with_int8_arithmetic(model_file: Path, changed_file: Path) -> None:
    """Writes the model of a file with its large weights kept as int8; other parts stay unchanged."""
    model = onnx.load(model_file)
    graph = model.graph
    unfolding = _Unfolding(graph)
    nodes = []
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in unfolding.weights:
            nodes.append(unfolding.multiplication(node))
        elif node.op_type == "Gather" and node.input[0] in unfolding.weights:
            nodes.extend(unfolding.rows(node))
        else:
            nodes.append(node)
    _replace(graph.node, _used(nodes, graph))
    _replace(graph.initializer, unfolding.initializers(graph))
    model.opset_import.append(helper.make_opsetid(_RUNTIME_OPERATORS, 1))
    onnx.save(model, changed_file)


class _Unfolding:
    """Finds the conversions of int8 weights to floats in a graph: `Cast`, then `Mul` by a scale for each row or column.

    Attributes:
        weights: Names of the int8 weights and of their scales, by the name of the float weights.
    """

    def __init__(self, graph: Any) -> None:
        self._stored = {one.name: one for one in graph.initializer}
        self._made: list[Any] = []
        floats = {}
        self.weights: dict[str, tuple[str, str]] = {}
        for node in graph.node:
            if node.op_type == "Cast" and node.input[0] in self._stored:
                floats[node.output[0]] = node.input[0]
            elif node.op_type == "Mul" and node.input[0] in floats:
                self.weights[node.output[0]] = (floats[node.input[0]], node.input[1])

    def multiplication(self, node: Any) -> Any:
        """Replaces a `MatMul` by float weights with one by int8 weights in blocks."""
        weights, scale = self._numbers(node.input[1])
        height, width = weights.shape
        blocks = height // _BLOCK
        # A column of weights is a row of blocks, in which the byte 128 means zero.
        in_blocks = (weights.astype(np.int16) + 128).astype(np.uint8).T
        stored = f"{node.input[1]}_blocks"
        scales = f"{node.input[1]}_scales"
        self._store(stored, in_blocks.reshape(width, blocks, _BLOCK))
        # All blocks of a column share its scale.
        self._store(scales, np.repeat(np.broadcast_to(scale, (1, width)), blocks))
        return helper.make_node(
            "MatMulNBits",
            [node.input[0], stored, scales],
            list(node.output),
            domain=_RUNTIME_OPERATORS,
            K=height,
            N=width,
            bits=8,
            block_size=_BLOCK,
            accuracy_level=_INT8_ARITHMETIC,
        )

    def rows(self, node: Any) -> list[Any]:
        """Replaces a `Gather` of float rows with one of int8 rows, which become floats afterwards."""
        weights, scale = self.weights[node.input[0]]
        numbers, result = node.input[1], node.output[0]
        taken, scales, floats = f"{result}_int8", f"{result}_scales", f"{result}_floats"
        return [
            helper.make_node("Gather", [weights, numbers], [taken], axis=0),
            helper.make_node("Gather", [scale, numbers], [scales], axis=0),
            helper.make_node("Cast", [taken], [floats], to=onnx.TensorProto.FLOAT),
            helper.make_node("Mul", [floats, scales], [result]),
        ]

    def initializers(self, graph: Any) -> list[Any]:
        """The inputs of the rewritten graph's nodes."""
        read = {name for node in graph.node for name in node.input}
        kept = [one for one in graph.initializer if one.name in read]
        return kept + self._made

    def _numbers(self, name: str) -> tuple[Any, Any]:
        weights, scale = self.weights[name]
        return (
            numpy_helper.to_array(self._stored[weights]),
            numpy_helper.to_array(self._stored[scale]),
        )

    def _store(self, name: str, numbers: Any) -> None:
        array = np.ascontiguousarray(numbers)
        self._made.append(numpy_helper.from_array(array, name))


def _used(nodes: list[Any], graph: Any) -> list[Any]:
    """Keeps the nodes whose results are used: nothing uses the float weights of the replaced operations."""
    read = {one.name for one in graph.output}
    used = []
    for node in reversed(nodes):
        if read.intersection(node.output):
            read.update(node.input)
            used.append(node)
    return used[::-1]


def _replace(repeated: Any, values: list[Any]) -> None:
    copies = list(values)
    del repeated[:]
    repeated.extend(copies)


if __name__ == "__main__":
    write_with_int8_arithmetic(Path(sys.argv[1]), Path(sys.argv[2]))
