#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Answers convoy-fuzz with what onnxruntime computes, all optimizations disabled. The protocol is in
# Oracle.h.

import struct
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, numpy_helper

VALUES, NONE, ERROR = 0, 1, 2

# Texts of errors which say that onnxruntime lacks an implementation, not that the model is wrong.
LACKING = ("NOT_IMPLEMENTED", "is not implemented", "not supported yet", "not currently supported",
           "is under development and support for this is limited",
           # LRN of an even size, convolutions with SAME padding and dilations.
           "size_ % 2 == 1 was false", "Dilation not supported for AutoPadType",
           # Pads of pools that only dilations, or strides above the kernel's size, make sense of.
           "Pad should be smaller than kernel", "padding values must be non-negative",
           # output_padding is less than the dilation, but not than the stride.
           "may be too large for stride",
           # Halves are missing where elements are added up or multiplied.
           "data type is not supported with Scatter",
           # Types that an op takes since a later opset than the model's. Convoy takes them in all.
           "Type Error: Type 'tensor(")


def attribute(node, name, default):
    for candidate in node.attribute:
        if candidate.name == name:
            return onnx.helper.get_attribute_value(candidate)
    return default


# Where onnxruntime contradicts ONNX's text: op, the sentence of the text, and which nodes it is about.
# A model with such a node has no answer.
def pads_same_with_dilations(node, model):
    return (attribute(node, "auto_pad", b"NOTSET").startswith(b"SAME")
            and any(dilation != 1 for dilation in attribute(node, "dilations", [])))


def pads_same_with_large_strides(node, model):
    kernel = attribute(node, "kernel_shape", [])
    return (attribute(node, "auto_pad", b"NOTSET").startswith(b"SAME")
            and any(stride > size for stride, size in zip(attribute(node, "strides", []), kernel)))


def windows_may_start_beyond_the_data(node, model):
    kernel = attribute(node, "kernel_shape", [])
    dilations = attribute(node, "dilations", [1] * len(kernel))
    return attribute(node, "ceil_mode", 0) and any(
        stride > (size - 1) * dilation + 1
        for stride, size, dilation in zip(attribute(node, "strides", []), kernel, dilations))


DEVIATIONS = [
    # The shape inference of older opsets counts such windows, and contradicts the kernel's result.
    (op, "Sliding windows that would start in the right padded region are ignored",
     windows_may_start_beyond_the_data)
    for op in ("MaxPool", "AveragePool", "LpPool")
] + [
    # Where strides are larger than the kernel, onnxruntime's pads are negative: it begins inside the
    # data, which takes elements away instead of padding. Its convolutions do not.
    (op, "auto_pad: SAME_UPPER or SAME_LOWER mean pad the input", pads_same_with_large_strides)
    for op in ("AveragePool", "LpPool")
] + [
    # onnxruntime computes the pads as if there were no dilations.
    (op, "auto_pad: SAME_UPPER or SAME_LOWER mean pad the input so that `output_shape[i] = "
     "ceil(input_shape[i] / strides[i])` for each axis `i`", pads_same_with_dilations)
    for op in ("MaxPool", "AveragePool", "LpPool")
]


def deviation(model):
    for node in model.graph.node:
        for op, sentence, concerns in DEVIATIONS:
            if node.op_type == op and concerns(node, model):
                return f"known deviation at {op}: {sentence}"
    return ""


def to_ort(proto):
    if proto.data_type == TensorProto.BFLOAT16:
        bits = np.frombuffer(proto.raw_data, np.uint16).reshape(tuple(proto.dims))
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, TensorProto.BFLOAT16)
    return onnxruntime.OrtValue.ortvalue_from_numpy(numpy_helper.to_array(proto))


def to_proto(value):
    if value.element_type() == TensorProto.BFLOAT16:
        raise NotImplementedError("is not implemented: bfloat16 outputs")
    array = np.ascontiguousarray(value.numpy()).reshape(value.shape())
    proto = TensorProto()
    proto.data_type = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    proto.dims.extend(array.shape)
    proto.raw_data = array.tobytes()
    return proto


def answer(model_bytes, inputs):
    model = onnx.ModelProto.FromString(model_bytes)
    known = deviation(model)
    if known:
        return NONE, known, []
    try:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(model_bytes, options, providers=["CPUExecutionProvider"])
        feeds = {value.name: to_ort(TensorProto.FromString(data))
                 for value, data in zip(model.graph.input, inputs)}
        results = session.run_with_ort_values(None, feeds)
        return VALUES, "", [to_proto(result).SerializeToString() for result in results]
    except Exception as error:  # Whatever it is, convoy-fuzz reports it.
        text = " ".join(str(error).split())
        return (NONE if any(word in text for word in LACKING) else ERROR), text, []


def main():
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    onnxruntime.set_default_logger_severity(4)

    def number():
        data = source.read(4)
        if len(data) < 4:
            sys.exit(0)
        return struct.unpack("<I", data)[0]

    while True:
        request = number()
        model = source.read(number())
        inputs = [source.read(number()) for _ in range(number())]
        kind, text, outputs = answer(model, inputs)
        parts = [text.encode()[:2000]]
        message = struct.pack("<III", request, kind, len(parts[0])) + parts[0]
        message += struct.pack("<I", len(outputs))
        for output in outputs:
            message += struct.pack("<I", len(output)) + output
        sink.write(message)
        sink.flush()


if __name__ == "__main__":
    main()
