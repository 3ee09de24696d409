# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The whole networks that the ONNX project keeps without weights (its tests' light_*.onnx): gives
# them seeded random ones, and a free batch.

import zlib
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper


def folder():
    """The onnx package brings them."""
    return Path(onnx.__file__).parent / "backend/test/data/light"


# Ops whose result is like their first input, as far as the scale of weights matters.
PASSING = {"MaxPool", "AveragePool", "GlobalAveragePool", "Reshape", "Transpose", "Concat",
           "Dropout", "LRN", "Unsqueeze"}


class Uses:
    """How the values of a graph are used."""

    def __init__(self, graph):
        self.readers, self.writer = {}, {}
        for node in graph.node:
            for name in node.input:
                self.readers.setdefault(name, []).append(node)
            for name in node.output:
                self.writer[name] = node

    def reader(self, weight):
        """The node that a weight is of, and as which input."""
        node = self.readers.get(weight, [None])[0]
        while node is not None and node.op_type in ("Unsqueeze", "Reshape"):
            weight = node.output[0]
            node = self.readers.get(weight, [None])[0]
        return (node, list(node.input).index(weight)) if node is not None else (None, 0)

    def is_rectified(self, name):
        node = self.writer.get(name)
        while node is not None and node.op_type in PASSING:
            node = self.writer.get(node.input[0])
        return node is not None and node.op_type == "Relu"

    def is_branch(self, node):
        """Whether the node ends a residual branch."""
        after = {reader.op_type for reader in self.readers.get(node.output[0], [])}
        return bool(after) and after <= {"Add", "Sum"}


def sample(uses, name, shape, rng):
    """He-normal weights, statistics of batch norms and scales near 1, small biases; and small
    residual branches, so that sums do not grow from block to block until a softmax saturates."""
    node, position = uses.reader(name)
    op = node.op_type if node is not None else ""
    if op == "BatchNormalization":
        if position in (2, 3):
            return rng.normal(0, 0.05, shape)
        scale = 0.3 if position == 1 and uses.is_branch(node) else 1
        return rng.uniform(0.8, 1.2, shape) * scale
    if op == "Mul":
        return rng.uniform(0.8, 1.2, shape)
    if len(shape) >= 2 and op != "Add":
        gain = 2 if uses.is_rectified(node.input[0]) else 1
        return rng.standard_normal(shape) * np.sqrt(gain / max(1, np.prod(shape[1:])))
    return rng.standard_normal(shape) * 0.05


def materialize(graph, seed):
    """Every ConstantOfShape of a known shape becomes an initializer: these stand for weights. Batch
    norms that were kept belong to weights that were not, and are made anew too."""
    known = {tensor.name: tensor for tensor in graph.initializer}
    known.update((node.output[0], node.attribute[0].t) for node in graph.node
                 if node.op_type == "Constant")
    uses, kept = Uses(graph), []

    def weights(name, shape):
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        values = sample(uses, name, shape, rng).astype(np.float32)
        return numpy_helper.from_array(values, name)

    for tensor in graph.initializer:
        node, _ = uses.reader(tensor.name)
        if node is not None and node.op_type == "BatchNormalization":
            tensor.CopyFrom(weights(tensor.name, list(tensor.dims)))
    for node in graph.node:
        if node.op_type != "ConstantOfShape" or node.input[0] not in known:
            kept.append(node)
            continue
        shape = [int(extent) for extent in numpy_helper.to_array(known[node.input[0]])]
        graph.initializer.append(weights(node.output[0], shape))
    del graph.node[:]
    graph.node.extend(kept)


def prune(graph):
    """Takes out what nothing reads: shapes of weights that are weights now, and their inputs."""
    read = {name for node in graph.node for name in node.input}
    read |= {value.name for value in graph.output}
    for kept in (graph.initializer, graph.input):
        wanted = [item for item in kept if item.name in read]
        del kept[:]
        kept.extend(wanted)
    weights = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in weights]
    del graph.input[:]
    graph.input.extend(inputs)


def free_batch(graph):
    """Makes the first dimension symbolic, and reshapes take it over from their input."""
    for value in [*graph.input, *graph.output]:
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    del graph.value_info[:]
    targets = {node.input[1] for node in graph.node if node.op_type == "Reshape"}
    for tensor in graph.initializer:
        if tensor.name in targets:
            shape = numpy_helper.to_array(tensor).copy()
            if shape[0] == 1:
                shape[0] = 0  # "Copy from the input", in Reshape.
                tensor.CopyFrom(numpy_helper.from_array(shape, tensor.name))


def network(name, seed=0):
    model = onnx.load(folder() / f"light_{name}.onnx")
    materialize(model.graph, seed)
    prune(model.graph)
    free_batch(model.graph)
    model.ir_version = max(model.ir_version, 4)  # From there on weights need not be inputs too.
    onnx.checker.check_model(model)
    return model
