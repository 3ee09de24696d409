# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The convolutions of a network as lines for layer-bench, each kind once, in the network's order.

import onnx

def known_dims(graph):
    """Extents of every value; a free batch is 1."""
    dims = {}
    for value in [*graph.input, *graph.value_info, *graph.output]:
        shape = value.type.tensor_type.shape.dim
        dims[value.name] = [dim.dim_value if dim.HasField("dim_value") else 1 for dim in shape]
    for tensor in graph.initializer:
        dims[tensor.name] = list(tensor.dims)
    return dims


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
    words = ["first" if node.input[0] in pictures else "conv", src[1], wei[0], src[2], src[3], wei[2],
             wei[3], strides.pop(), pads.pop()]
    if groups != 1:
        words += [dilation, groups]
    elif dilation != 1:
        words.append(dilation)
    return " ".join(map(str, words))


def write(name, model, path):
    graph = onnx.shape_inference.infer_shapes(onnx.load(model), data_prop=True).graph
    dims, pictures = known_dims(graph), {value.name for value in graph.input}
    counts, left_out = {}, 0
    for node in graph.node:
        if node.op_type == "Conv":
            text = line(node, dims, pictures)
            if text:
                counts[text] = counts.get(text, 0) + 1
            else:
                left_out += 1
    texts = [f"# The {sum(counts.values())} convolutions of {name}, each kind once; written by"
             " models/zoo --shapes.", "# first or conv: IC OC H W KH KW STRIDE PAD [DILATION [GROUPS]]"]
    if left_out:
        texts.append(f"# Without {left_out} that this form has no words for.")
    path.write_text("\n".join([*texts, *counts]) + "\n")
