#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes ONNX test data for a model: seeded random inputs, and the outputs that onnxruntime computes
# with all its graph optimizations off. Needs onnx, numpy and onnxruntime (build/venv has them).

"""Write input_N.pb and output_N.pb for a model, computed by onnxruntime."""

import argparse
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper


def add_logits(path):
    """Makes the inputs of Softmax nodes outputs of the model too, in place."""
    model = onnx.load(path)
    outputs = {output.name for output in model.graph.output}
    for node in model.graph.node:
        if node.op_type == "Softmax" and node.input[0] not in outputs:
            value = onnx.helper.make_tensor_value_info(
                node.input[0], onnx.TensorProto.FLOAT, None
            )
            model.graph.output.append(value)
    onnx.save(model, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--batch", type=int, default=1, help="for free dimensions")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--logits",
        action="store_true",
        help="first add the input of each Softmax to the model's outputs: random weights saturate"
        " a softmax, whose output then hides errors",
    )
    args = parser.parse_args()
    if args.logits:
        add_logits(args.model)

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        str(args.model), options, providers=["CPUExecutionProvider"]
    )
    rng = np.random.default_rng(args.seed)
    args.folder.mkdir(parents=True, exist_ok=True)
    inputs = {}
    for index, info in enumerate(session.get_inputs()):
        if info.type != "tensor(float)":
            parser.error(f"input {info.name} is {info.type}; only tensor(float) is made here")
        shape = [d if isinstance(d, int) else args.batch for d in info.shape]
        inputs[info.name] = rng.uniform(-1, 1, shape).astype(np.float32)
        tensor = numpy_helper.from_array(inputs[info.name], info.name)
        (args.folder / f"input_{index}.pb").write_bytes(tensor.SerializeToString())
    outputs = session.run(None, inputs)
    for index, (info, value) in enumerate(zip(session.get_outputs(), outputs)):
        tensor = numpy_helper.from_array(np.asarray(value), info.name)
        (args.folder / f"output_{index}.pb").write_bytes(tensor.SerializeToString())


if __name__ == "__main__":
    main()
