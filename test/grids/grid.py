# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Gathers cases of one node each and writes them as ONNX backend tests, a few nodes to a model.

import onnx
from onnx import TensorProto, helper, numpy_helper
import numpy as np

# Cases of a model: starting a process and the compiler costs as much as compiling some nodes.
CASES_PER_MODEL = 24


class Const:
    """An input that the model has the value of, as axes or pads."""

    def __init__(self, values, dtype=np.int64):
        self.values = np.array(values, dtype)


def element_type(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


class Grid:
    def __init__(self, name):
        self.name = name
        self.groups = {}
        self.count = 0

    def case(self, op, inputs, expected, opset=21, ir=10, **attributes):
        """Inputs are arrays, Const or None for one that is left out; expected an array, or a tuple."""
        expected = expected if isinstance(expected, tuple) else (expected,)
        attributes = {k: v for k, v in attributes.items() if v is not None}
        inputs = [None if value is None else Const(value.values, value.values.dtype)
                  if isinstance(value, Const) else np.asarray(value) for value in inputs]
        self.groups.setdefault((op, opset, ir), []).append((inputs, attributes, expected))
        self.count += 1

    def write(self, root):
        """Writes the tests and returns what each output is: {test: [text, ...]}."""
        legend = {}
        for (op, opset, ir), cases in self.groups.items():
            for start in range(0, len(cases), CASES_PER_MODEL):
                name = f"{self.name}/{op}_{opset}_{start // CASES_PER_MODEL}"
                legend[name] = write_model(root / name, op, opset, ir,
                                           cases[start:start + CASES_PER_MODEL])
        return legend


def write_model(folder, op, opset, ir, cases):
    nodes, inputs, outputs, constants, given, expected, legend = [], [], [], [], [], [], []
    for i, (values, attributes, results) in enumerate(cases):
        names = []
        for j, value in enumerate(values):
            name = "" if value is None else f"x{i}_{j}"
            names.append(name)
            if isinstance(value, Const):
                constants.append(numpy_helper.from_array(value.values, name))
            elif value is not None:
                inputs.append(helper.make_tensor_value_info(name, element_type(value), value.shape))
                given.append(value)
        produced = []
        for j, result in enumerate(results):
            if result is None:
                produced.append("")
                continue
            produced.append(f"y{i}_{j}")
            outputs.append(helper.make_tensor_value_info(produced[-1], element_type(result),
                                                         result.shape))
            expected.append(result)
            legend.append(f"output {j} of {op} {attributes} of " + ", ".join(map(describe, values)))
        nodes.append(helper.make_node(op, names, produced, name=f"{op}_{i}", **attributes))
    graph = helper.make_graph(nodes, "grid", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    for prefix, tensors in (("input", given), ("output", expected)):
        for i, tensor in enumerate(tensors):
            (data / f"{prefix}_{i}.pb").write_bytes(
                numpy_helper.from_array(np.ascontiguousarray(tensor).reshape(tensor.shape))
                .SerializeToString())
    return legend


def describe(value):
    if value is None:
        return "nothing"
    if isinstance(value, Const):
        return f"{value.values.tolist()}"
    return f"{value.dtype}{list(value.shape)}"


def small_integers(shape, dtype=np.float32, low=-4, high=5, seed=0):
    """Values whose sums and products are exact in every type."""
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)
