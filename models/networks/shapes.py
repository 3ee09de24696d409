# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The convolutions of a network as lines for layer-bench, each kind once, in the network's order.

import math

import onnx

def without_weights(model):
    """Makes inputs of the large weights, since inference of shapes copies all that it is given;
    small constants may be what shapes depend on. Returns the extents of all."""
    graph, dims, small = model.graph, {}, []
    for tensor in graph.initializer:
        dims[tensor.name] = list(tensor.dims)
        if math.prod(tensor.dims) <= 16:
            small.append(onnx.TensorProto.FromString(tensor.SerializeToString()))
        else:
            graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type,
                                                                  tensor.dims))
    del graph.initializer[:]
    graph.initializer.extend(small)
    return dims


def known_dims(graph, weights):
    """Extents of every value; a free batch is 1."""
    dims = {}
    for value in [*graph.input, *graph.value_info, *graph.output]:
        shape = value.type.tensor_type.shape.dim
        dims[value.name] = [dim.dim_value if dim.HasField("dim_value") else 1 for dim in shape]
    return {**dims, **weights}


def line(node, dims, pictures):
    """A Conv as `conv IC OC H W KH KW STRIDE PAD [DILATION [GROUPS]]`; None if it needs more words
    than there are. A source among the pictures, the net's inputs, is not blocked yet."""
    attributes = {item.name: onnx.helper.get_attribute_value(item) for item in node.attribute}
    src, wei = dims[node.input[0]], dims[node.input[1]]
    if len(src) != 4 or attributes.get("auto_pad", b"NOTSET") != b"NOTSET":
        return None
    strides = set(attributes.get("strides", [1, 1]))
    pads = set(attributes.get("pads", [0] * 4))
    dilations = set(attributes.get("dilations", [1, 1]))
    if len(strides) > 1 or len(pads) > 1 or len(dilations) > 1:
        return None
    groups, dilation = attributes.get("group", 1), dilations.pop()
    words = ["first" if node.input[0] in pictures else "conv", src[1], wei[0], *src[2:], *wei[2:],
             strides.pop(), pads.pop()]
    if groups != 1:
        words += [dilation, groups]
    elif dilation != 1:
        words.append(dilation)
    return " ".join(map(str, words))


def write(name, model, path):
    loaded = onnx.load(model)
    pictures = {value.name for value in loaded.graph.input}
    weights = without_weights(loaded)
    graph = onnx.shape_inference.infer_shapes(loaded, data_prop=True).graph
    dims = known_dims(graph, weights)
    counts, left_out = {}, 0
    for node in graph.node:
        if node.op_type == "Conv":
            text = line(node, dims, pictures)
            if text:
                counts[text] = counts.get(text, 0) + 1
            else:
                left_out += 1
    texts = [f"# The {sum(counts.values())} convolutions of {name}, each kind once; written by"
             " models/zoo --shapes.",
             "# first or conv: IC OC H W KH KW STRIDE PAD [DILATION [GROUPS]]"]
    if left_out:
        texts.append(f"# Without {left_out} that this form has no words for.")
    path.write_text("\n".join([*texts, *counts]) + "\n")
