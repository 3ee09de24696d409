# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds the ONNX graph of a network layer by layer, with seeded weights, in the form that exporters
# write. Counts the parameters that the network has in training, and the multiply-accumulates.

import math
import zlib
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# E[x^2] / E[f(x)^2] for a standard normal x: what weights make up for, so that the magnitude of
# activations stays the same from layer to layer.
GAINS = {"none": 1.0, "relu": 2.0, "relu6": 2.0, "silu": 2.81, "hardswish": 2.65, "gelu": 2.35,
         "sigmoid": 1.0, "hardsigmoid": 1.0}


@dataclass(frozen=True)
class Value:
    """A tensor: its name, and its extents without the batch."""

    name: str
    dims: tuple
    gain: float = 1.0  # What the weights that read it have to make up for.

    @property
    def channels(self):
        return self.dims[0]


class Graph:
    """One network. Convolution and batch norm become one Conv, as torch.onnx.export writes them,
    unless `fold` is False."""

    def __init__(self, name, seed=0, fold=True, opset=17):
        self.name, self.seed, self.fold, self.opset = name, seed, fold, opset
        self.nodes, self.constants, self.inputs, self.outputs = [], {}, [], []
        self.parameters = self.macs = 0

    # --- Weights: the same name and seed give the same bytes. ---

    def rng(self, name):
        return np.random.default_rng([self.seed, zlib.crc32(f"{self.name}/{name}".encode())])

    def constant(self, name, value):
        self.constants[name] = np.asarray(value)
        return name

    def normal(self, name, shape, deviation):
        return self.constant(name, (self.rng(name).standard_normal(shape) * deviation)
                             .astype(np.float32))

    def uniform(self, name, shape, low, high):
        return self.constant(name, self.rng(name).uniform(low, high, shape).astype(np.float32))

    # --- Nodes. ---

    def node(self, op, inputs, dims, gain=1.0, outputs=1, **attributes):
        name = f"{op.lower()}_{len(self.nodes)}"
        names = [f"{name}_out{index}" if outputs > 1 else f"{name}_out" for index in range(outputs)]
        words = [value.name if isinstance(value, Value) else value for value in inputs]
        self.nodes.append(helper.make_node(op, words, names, name=name, **attributes))
        if outputs > 1:
            return [Value(name, shape, gain) for name, shape in zip(names, dims)]
        return Value(names[0], tuple(dims), gain)

    def input(self, name, *dims):
        self.inputs.append(Value(name, dims))
        return self.inputs[-1]

    def output(self, value, name):
        self.nodes.append(helper.make_node("Identity", [value.name], [name], name=name))
        self.outputs.append(Value(name, value.dims))

    def scope(self):
        return f"l{len(self.nodes)}"

    def conv(self, x, oc, kernel, stride=1, groups=1, pad=None, bias=True, norm=False, scale=1.0):
        """Convolution. `norm`: a batch norm follows it. `scale`: of the deviation of its result,
        below 1 at the end of a residual branch, so that sums do not grow from block to block."""
        if pad is None:
            pad = (kernel - 1) // 2
        ic, h, w = x.dims
        extents = [(extent + 2 * pad - kernel) // stride + 1 for extent in (h, w)]
        fan_in = ic // groups * kernel * kernel
        where = self.scope()
        weights = self.normal(f"{where}.weight", (oc, ic // groups, kernel, kernel),
                              scale * math.sqrt(x.gain / fan_in))
        self.parameters += oc * fan_in + (2 * oc if norm else oc if bias else 0)
        self.macs += oc * fan_in * extents[0] * extents[1]
        inputs = [x, weights]
        if bias and not norm or norm and self.fold:
            inputs.append(self.normal(f"{where}.bias", (oc,), 0.05 * scale))
        y = self.node("Conv", inputs, (oc, *extents), kernel_shape=[kernel, kernel],
                      strides=[stride, stride], pads=[pad] * 4, group=groups, dilations=[1, 1])
        if not norm or self.fold:
            return y
        return self.node("BatchNormalization", [
            y, self.uniform(f"{where}.gamma", (oc,), 0.8, 1.2),
            self.normal(f"{where}.beta", (oc,), 0.05 * scale),
            self.normal(f"{where}.mean", (oc,), 0.05 * scale),
            self.uniform(f"{where}.variance", (oc,), 0.8, 1.2)], y.dims, epsilon=1e-5)

    def conv_transpose(self, x, oc, kernel, stride):
        ic, h, w = x.dims
        where = self.scope()
        weights = self.normal(f"{where}.weight", (ic, oc, kernel, kernel), math.sqrt(x.gain / ic))
        bias = self.normal(f"{where}.bias", (oc,), 0.05)
        dims = (oc, (h - 1) * stride + kernel, (w - 1) * stride + kernel)
        self.parameters += ic * oc * kernel * kernel + oc
        self.macs += ic * oc * kernel * kernel * h * w
        return self.node("ConvTranspose", [x, weights, bias], dims, kernel_shape=[kernel, kernel],
                         strides=[stride, stride], pads=[0] * 4, group=1, dilations=[1, 1])

    def activate(self, x, kind):
        """An activation as exporters write it: SiLU and GELU have no op of their own."""
        if kind == "none":
            return x
        gain = GAINS[kind]
        if kind == "relu":
            return self.node("Relu", [x], x.dims, gain)
        if kind == "relu6":
            low = self.constant("zero", np.float32(0))
            return self.node("Clip", [x, low, self.constant("six", np.float32(6))], x.dims, gain)
        if kind == "hardswish":
            return self.node("HardSwish", [x], x.dims, gain)
        if kind == "silu":
            return self.node("Mul", [x, self.node("Sigmoid", [x], x.dims)], x.dims, gain)
        if kind == "sigmoid":
            return self.node("Sigmoid", [x], x.dims, gain)
        if kind == "hardsigmoid":
            return self.node("HardSigmoid", [x], x.dims, gain, alpha=1 / 6)
        assert kind == "gelu", kind
        root = self.constant("root_of_two", np.float32(math.sqrt(2)))
        erf = self.node("Erf", [self.node("Div", [x, root], x.dims)], x.dims)
        sum_ = self.node("Add", [erf, self.constant("one", np.float32(1))], x.dims)
        product = self.node("Mul", [x, sum_], x.dims)
        return self.node("Mul", [product, self.constant("half", np.float32(0.5))], x.dims, gain)

    def block(self, x, oc, kernel, activation, stride=1, groups=1, pad=None, scale=1.0):
        """Convolution, batch norm, activation."""
        return self.activate(self.conv(x, oc, kernel, stride, groups, pad, norm=True, scale=scale),
                             activation)

    def add(self, x, y):
        return self.node("Add", [x, y], x.dims)

    def concat(self, *values):
        channels = sum(value.channels for value in values)
        gain = max(value.gain for value in values)
        return self.node("Concat", values, (channels, *values[0].dims[1:]), gain, axis=1)

    def split(self, x, *parts):
        sizes = self.constant(f"{self.scope()}.split", np.array(parts, np.int64))
        return self.node("Split", [x, sizes], [(part, *x.dims[1:]) for part in parts], x.gain,
                         outputs=len(parts), axis=1)

    def max_pool(self, x, kernel, stride, pad=0):
        dims = [(extent + 2 * pad - kernel) // stride + 1 for extent in x.dims[1:]]
        return self.node("MaxPool", [x], (x.channels, *dims), x.gain, kernel_shape=[kernel, kernel],
                         strides=[stride, stride], pads=[pad] * 4)

    def global_pool(self, x):
        return self.node("GlobalAveragePool", [x], (x.channels, 1, 1), x.gain)

    def upsample(self, x):
        scales = self.constant("twice", np.array([1, 1, 2, 2], np.float32))
        return self.node("Resize", [x, "", scales], (x.channels, 2 * x.dims[1], 2 * x.dims[2]),
                         x.gain, mode="nearest", nearest_mode="floor",
                         coordinate_transformation_mode="asymmetric")

    def squeeze_excite(self, x, squeezed, activation, gate):
        """Hu et al., arXiv:1709.01507: scales channels by what a small net says of their means."""
        mean = self.global_pool(x)
        inner = self.activate(self.conv(mean, squeezed, 1), activation)
        scale = self.activate(self.conv(inner, x.channels, 1), gate)
        return self.node("Mul", [x, scale], x.dims, 4 * x.gain)  # A gate is about one half.

    def classifier(self, x, classes):
        """Global average, flatten, fully connected."""
        flat = self.node("Flatten", [self.global_pool(x)], (x.channels,), x.gain, axis=1)
        return self.linear(flat, classes)

    def linear(self, x, classes):
        """On a flat value."""
        where, (ic,) = self.scope(), x.dims
        weights = self.normal(f"{where}.weight", (classes, ic), math.sqrt(x.gain / ic))
        bias = self.normal(f"{where}.bias", (classes,), 0.05)
        self.parameters += classes * (ic + 1)
        self.macs += classes * ic
        return self.node("Gemm", [x, weights, bias], (classes,), transB=1)

    def matmul(self, x, oc, scale=1.0):
        """A fully connected layer on the last dimension of a value with several."""
        where, ic = self.scope(), x.dims[-1]
        weights = self.normal(f"{where}.weight", (ic, oc), scale * math.sqrt(x.gain / ic))
        bias = self.normal(f"{where}.bias", (oc,), 0.05 * scale)
        dims = (*x.dims[:-1], oc)
        self.parameters += oc * (ic + 1)
        self.macs += math.prod(dims) * ic
        return self.node("Add", [bias, self.node("MatMul", [x, weights], dims)], dims)

    def layer_norm(self, x):
        """Over the last dimension."""
        where, size = self.scope(), x.dims[-1]
        self.parameters += 2 * size
        return self.node("LayerNormalization",
                         [x, self.uniform(f"{where}.weight", (size,), 0.8, 1.2),
                          self.normal(f"{where}.bias", (size,), 0.05)],
                         x.dims, axis=-1, epsilon=1e-6)

    def transpose(self, x, *axes):
        """`axes` count from 1: the batch stays in front."""
        return self.node("Transpose", [x], [x.dims[axis - 1] for axis in axes], x.gain,
                         perm=[0, *axes])

    def reshape(self, x, *dims):
        """One of the dims may be -1."""
        known = -math.prod(dims)
        shape = [math.prod(x.dims) // known if dim == -1 else dim for dim in dims]
        name = "_".join(str(dim) for dim in dims).replace("-", "m")
        target = self.constant(f"shape_{name}", np.array([0, *dims], np.int64))
        return self.node("Reshape", [x, target], shape, x.gain)

    # --- The model. ---

    def model(self):
        def info(value):
            return helper.make_tensor_value_info(value.name, TensorProto.FLOAT,
                                                 ["batch", *value.dims])

        constants = [numpy_helper.from_array(value, name) for name, value in self.constants.items()]
        graph = helper.make_graph(self.nodes, self.name, [info(value) for value in self.inputs],
                                  [info(value) for value in self.outputs], constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)],
                                  producer_name="models/zoo", ir_version=8)
        onnx.checker.check_model(model, full_check=True)
        return model
