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


def roles(graph):
    """How each value is read first: op, and position among the op's inputs."""
    found = {}
    for node in graph.node:
        for position, name in enumerate(node.input):
            found.setdefault(name, (node.op_type, position))
    return found


def sample(role, shape, rng):
    """He-normal weights, plausible statistics of batch norms, small biases."""
    op, position = role
    if op == "BatchNormalization":
        low, high = {1: (0.5, 1.5), 2: (-0.1, 0.1), 3: (-0.1, 0.1), 4: (0.5, 1.5)}[position]
        return rng.uniform(low, high, shape)
    if len(shape) >= 2:
        return rng.standard_normal(shape) * np.sqrt(2 / max(1, np.prod(shape[1:])))
    return rng.standard_normal(shape) * 0.01


def materialize(graph, seed):
    """Every ConstantOfShape of a known shape becomes an initializer: these stand for weights."""
    known = {tensor.name: tensor for tensor in graph.initializer}
    known.update((node.output[0], node.attribute[0].t) for node in graph.node
                 if node.op_type == "Constant")
    reads, kept = roles(graph), []
    for node in graph.node:
        if node.op_type != "ConstantOfShape" or node.input[0] not in known:
            kept.append(node)
            continue
        name = node.output[0]
        shape = [int(extent) for extent in numpy_helper.to_array(known[node.input[0]])]
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        values = sample(reads.get(name, ("", 0)), shape, rng).astype(np.float32)
        graph.initializer.append(numpy_helper.from_array(values, name))
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
