#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Trains the demo model: a small residual network on scikit-learn's handwritten digits. The layers
# and their gradients are written in numpy, so that training needs no framework. Writes into
# models/digits/: the model, its labels, and held-out pictures with the expected answers.
#
#   pip install numpy scikit-learn onnx
#   python3 models/train_digits.py

"""Train models/digits/digits.onnx from scikit-learn's handwritten digits."""

import argparse
import copy
import os
import struct
import zlib
from pathlib import Path

# Sums must not depend on how many threads the BLAS takes; it reads this when it is loaded.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

CLASSES = 10
BN_EPSILON = 1e-5


# --- Layers. forward() keeps what backward() needs; backward() leaves the gradients in .grads. ---


class Conv:
    """3x3 convolution, stride 1, padding 1, no bias: a batch norm follows it."""

    def __init__(self, rng, ic, oc):
        wei = rng.normal(0, np.sqrt(2 / (ic * 9)), (oc, ic, 3, 3))
        self.params = {"wei": wei.astype(np.float32)}

    def forward(self, src, training):
        n, ic, h, w = src.shape
        wei = self.params["wei"]
        padded = np.pad(src, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
        self.columns = windows.transpose(0, 2, 3, 1, 4, 5).reshape(n * h * w, ic * 9)
        self.shape = src.shape
        dst = self.columns @ wei.reshape(len(wei), -1).T
        return dst.reshape(n, h, w, -1).transpose(0, 3, 1, 2)

    def backward(self, grad):
        n, ic, h, w = self.shape
        wei = self.params["wei"]
        grad = grad.transpose(0, 2, 3, 1).reshape(n * h * w, -1)
        self.grads = {"wei": (grad.T @ self.columns).reshape(wei.shape)}
        columns = (grad @ wei.reshape(len(wei), -1)).reshape(n, h, w, ic, 3, 3)
        src = np.zeros((n, ic, h + 2, w + 2), np.float32)
        for ky in range(3):
            for kx in range(3):
                src[:, :, ky : ky + h, kx : kx + w] += columns[..., ky, kx].transpose(0, 3, 1, 2)
        return src[:, :, 1:-1, 1:-1]


class BatchNorm:
    def __init__(self, c):
        self.params = {"scale": np.ones(c, np.float32), "bias": np.zeros(c, np.float32)}
        self.mean = np.zeros(c, np.float32)
        self.var = np.ones(c, np.float32)

    def forward(self, src, training):
        if training:
            mean, var = src.mean((0, 2, 3)), src.var((0, 2, 3))
            self.mean = 0.9 * self.mean + 0.1 * mean
            self.var = 0.9 * self.var + 0.1 * var
        else:
            mean, var = self.mean, self.var
        self.inverse = per_channel(1 / np.sqrt(var + BN_EPSILON))
        self.normal = (src - per_channel(mean)) * self.inverse
        return self.normal * per_channel(self.params["scale"]) + per_channel(self.params["bias"])

    def backward(self, grad):
        axes = (0, 2, 3)
        self.grads = {"scale": (grad * self.normal).sum(axes), "bias": grad.sum(axes)}
        grad = grad * per_channel(self.params["scale"])
        centred = grad - grad.mean(axes, keepdims=True)
        return self.inverse * (
            centred - self.normal * (grad * self.normal).mean(axes, keepdims=True)
        )


class Relu:
    params, grads = {}, {}

    def forward(self, src, training):
        self.positive = src > 0
        return src * self.positive

    def backward(self, grad):
        return grad * self.positive


class MaxPool:
    """2x2, stride 2."""

    params, grads = {}, {}

    def forward(self, src, training):
        n, c, h, w = src.shape
        tiles = src.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5)
        tiles = tiles.reshape(n, c, h // 2, w // 2, 4)
        self.winner = tiles.argmax(-1)
        self.shape = src.shape
        return tiles.max(-1)

    def backward(self, grad):
        n, c, h, w = self.shape
        tiles = np.zeros((n, c, h // 2, w // 2, 4), np.float32)
        np.put_along_axis(tiles, self.winner[..., None], grad[..., None], -1)
        tiles = tiles.reshape(n, c, h // 2, w // 2, 2, 2).transpose(0, 1, 2, 4, 3, 5)
        return tiles.reshape(n, c, h, w)


class Residual:
    """src + body(src)."""

    params, grads = {}, {}

    def __init__(self, *body):
        self.body = body

    def forward(self, src, training):
        dst = src
        for layer in self.body:
            dst = layer.forward(dst, training)
        return src + dst

    def backward(self, grad):
        inner = grad
        for layer in reversed(self.body):
            inner = layer.backward(inner)
        return grad + inner


class GlobalAveragePool:
    params, grads = {}, {}

    def forward(self, src, training):
        self.shape = src.shape
        return src.mean((2, 3))

    def backward(self, grad):
        n, c, h, w = self.shape
        return np.broadcast_to(grad[:, :, None, None] / (h * w), self.shape)


class Dense:
    def __init__(self, rng, ic, oc):
        wei = rng.normal(0, np.sqrt(1 / ic), (oc, ic)).astype(np.float32)
        self.params = {"wei": wei, "bias": np.zeros(oc, np.float32)}

    def forward(self, src, training):
        self.src = src
        return src @ self.params["wei"].T + self.params["bias"]

    def backward(self, grad):
        self.grads = {"wei": grad.T @ self.src, "bias": grad.sum(0)}
        return grad @ self.params["wei"]


def per_channel(vector):
    return vector[None, :, None, None]


# --- The network, once for training and once as ONNX. ---


class Network:
    def __init__(self, rng, mean, std):
        self.mean, self.std = np.float32(mean), np.float32(std)
        self.conv1, self.bn1 = Conv(rng, 1, 32), BatchNorm(32)
        self.conv2, self.bn2 = Conv(rng, 32, 32), BatchNorm(32)
        self.conv3, self.bn3 = Conv(rng, 32, 32), BatchNorm(32)
        self.conv4, self.bn4 = Conv(rng, 32, 64), BatchNorm(64)
        self.dense = Dense(rng, 64, CLASSES)
        self.layers = [
            self.conv1, self.bn1, Relu(),
            Residual(self.conv2, self.bn2, Relu(), self.conv3, self.bn3), Relu(),
            MaxPool(),
            self.conv4, self.bn4, Relu(),
            GlobalAveragePool(),
            self.dense,
        ]  # fmt: skip
        self.trainable = [
            self.conv1, self.bn1, self.conv2, self.bn2, self.conv3, self.bn3, self.conv4, self.bn4,
            self.dense,
        ]  # fmt: skip

    def forward(self, pixels, training=False):
        value = (pixels - self.mean) / self.std
        for layer in self.layers:
            value = layer.forward(value, training)
        return value

    def backward(self, grad):
        for layer in reversed(self.layers):
            grad = layer.backward(grad)

    def as_double(self):
        """A copy that computes in double: the reference for the exported model."""
        double = copy.deepcopy(self)
        for layer in double.trainable:
            layer.params = {key: value.astype(np.float64) for key, value in layer.params.items()}
        return double

    def to_onnx(self, accuracy):
        nodes, initializers = [], []

        def constant(name, value):
            value = np.asarray(value, np.float32)
            initializers.append(numpy_helper.from_array(value, name))
            return name

        def node(op, name, inputs, **attributes):
            nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
            return name

        def conv_bn(index, src, conv, bn):
            name = f"conv{index}"
            wei = constant(f"{name}.weight", conv.params["wei"])
            dst = node("Conv", name, [src, wei], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
            name = f"bn{index}"
            inputs = [
                dst,
                constant(f"{name}.scale", bn.params["scale"]),
                constant(f"{name}.bias", bn.params["bias"]),
                constant(f"{name}.mean", bn.mean),
                constant(f"{name}.var", bn.var),
            ]
            return node("BatchNormalization", name, inputs, epsilon=BN_EPSILON)

        value = node("Sub", "subtract_mean", ["image", constant("mean", self.mean)])
        value = node("Div", "divide_by_std", [value, constant("std", self.std)])
        stem = node("Relu", "relu1", [conv_bn(1, value, self.conv1, self.bn1)])
        value = node("Relu", "relu2", [conv_bn(2, stem, self.conv2, self.bn2)])
        value = conv_bn(3, value, self.conv3, self.bn3)
        value = node("Relu", "relu3", [node("Add", "residual", [value, stem])])
        value = node("MaxPool", "pool", [value], kernel_shape=[2, 2], strides=[2, 2])
        value = node("Relu", "relu4", [conv_bn(4, value, self.conv4, self.bn4)])
        value = node("GlobalAveragePool", "average", [value])
        value = node("Flatten", "flatten", [value], axis=1)
        wei = constant("dense.weight", self.dense.params["wei"])
        bias = constant("dense.bias", self.dense.params["bias"])
        value = node("Gemm", "dense", [value, wei, bias], transB=1)
        node("Softmax", "probabilities", [value], axis=1)

        graph = helper.make_graph(
            nodes,
            "digits",
            [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 1, 8, 8])],
            [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["N", CLASSES])],
            initializers,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        model.producer_name = "train_digits.py"
        model.doc_string = (
            "Handwritten digits, 8x8 grey pixels 0 (paper) to 255 (ink). "
            f"Accuracy on held-out pictures: {100 * accuracy:.2f} %."
        )
        onnx.checker.check_model(model, full_check=True)
        return model


# --- Training. ---


def shifted_and_scaled(rng, pixels):
    """Moves every picture by up to a pixel, turns and scales it a little, bilinearly."""
    n, _, h, w = pixels.shape
    angle, scale = rng.normal(0, 0.12, n), rng.normal(1, 0.06, n)
    dy, dx = rng.uniform(-0.8, 0.8, n), rng.uniform(-0.8, 0.8, n)
    yy, xx = np.mgrid[0:h, 0:w].astype(np.float64) - (h - 1) / 2
    cos, sin = np.cos(angle) * scale, np.sin(angle) * scale
    sy = yy[None] * cos[:, None, None] - xx[None] * sin[:, None, None] + dy[:, None, None]
    sx = yy[None] * sin[:, None, None] + xx[None] * cos[:, None, None] + dx[:, None, None]
    sy, sx = sy + (h - 1) / 2, sx + (w - 1) / 2
    padded = np.pad(pixels[:, 0], ((0, 0), (2, 2), (2, 2)))
    sy, sx = np.clip(sy + 2, 0, h + 2.999), np.clip(sx + 2, 0, w + 2.999)
    y, x = sy.astype(int), sx.astype(int)
    fy, fx = sy - y, sx - x
    i = np.arange(n)[:, None, None]
    out = (padded[i, y, x] * (1 - fy) + padded[i, y + 1, x] * fy) * (1 - fx)
    out += (padded[i, y, x + 1] * (1 - fy) + padded[i, y + 1, x + 1] * fy) * fx
    return out[:, None].astype(np.float32)


def softmax(logits):
    e = np.exp(logits - logits.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def accuracy_of(network, pixels, digits):
    return float((network.forward(pixels).argmax(1) == digits).mean())


def train(network, rng, pixels, digits, epochs, batch=64, peak_rate=0.003, decay=1e-4):
    """Adam with decoupled weight decay; the rate rises for a tenth and falls as a cosine."""
    moments = [
        {k: (np.zeros_like(v), np.zeros_like(v)) for k, v in layer.params.items()}
        for layer in network.trainable
    ]
    steps = epochs * (len(pixels) // batch)
    step = 0
    for epoch in range(epochs):
        order, loss = rng.permutation(len(pixels)), 0.0
        for begin in range(0, len(order) - batch + 1, batch):
            pick = order[begin : begin + batch]
            probabilities = softmax(network.forward(shifted_and_scaled(rng, pixels[pick]), True))
            loss -= np.log(probabilities[np.arange(batch), digits[pick]]).mean()
            probabilities[np.arange(batch), digits[pick]] -= 1
            network.backward((probabilities / batch).astype(np.float32))
            step += 1
            done = step / steps
            rate = peak_rate * (done / 0.1 if done < 0.1 else 0.5 + 0.5 * np.cos(np.pi * done))
            for layer, moment in zip(network.trainable, moments):
                for key, value in layer.params.items():
                    grad, (m, v) = layer.grads[key], moment[key]
                    m += 0.1 * (grad - m)
                    v += 0.001 * (grad * grad - v)
                    direction = (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
                    layer.params[key] = (value - rate * (direction + decay * value)).astype(
                        np.float32
                    )
        if epoch % 10 == 9 or epoch == epochs - 1:
            print(f"epoch {epoch + 1:3d}  loss {loss / (len(order) // batch):.4f}", flush=True)


# --- Files. ---


def write_png(path, grey):
    """8-bit grey PNG; small enough to write by hand."""

    def chunk(kind, data):
        crc = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)

    h, w = grey.shape
    rows = b"".join(b"\0" + row.tobytes() for row in grey)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 0, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows, 9))
        + chunk(b"IEND", b"")
    )


def write_test_data(folder, network, pixels):
    """The pictures as one batch and the network's answer, as ONNX lays out test data."""
    folder.mkdir(parents=True, exist_ok=True)
    answer = softmax(network.as_double().forward(pixels.astype(np.float64))).astype(np.float32)
    for name, array in (("input_0", pixels), ("output_0", answer)):
        tensor = numpy_helper.from_array(array, "image" if name == "input_0" else "probabilities")
        (folder / f"{name}.pb").write_bytes(tensor.SerializeToString())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    here = Path(__file__).resolve().parent
    parser.add_argument("--output", type=Path, default=here / "digits", help="folder to write into")
    parser.add_argument("--epochs", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    data = load_digits()
    # The data set has 17 grey levels; as 8-bit pixels they are what a picture file holds.
    pixels = np.round(data.images * (255 / 16)).astype(np.uint8)
    digits = data.target
    # Neighbours in this data set are often written by one hand: a shuffled split would put pictures
    # of every writer on both sides and flatter the network, so the last quarter is held out whole.
    split = len(pixels) * 3 // 4
    train_x = pixels[:split, None].astype(np.float32)
    test_x = pixels[split:, None].astype(np.float32)
    train_y, test_y = digits[:split], digits[split:]

    rng = np.random.default_rng(args.seed)
    network = Network(rng, train_x.mean(), train_x.std())
    train(network, rng, train_x, train_y, args.epochs)
    accuracy = accuracy_of(network, test_x, test_y)
    wrong = int(round((1 - accuracy) * len(test_y)))
    print(f"training pictures: {100 * accuracy_of(network, train_x, train_y):.2f} % right")
    print(f"held-out pictures: {100 * accuracy:.2f} % right ({wrong} of {len(test_y)} wrong)")

    args.output.mkdir(parents=True, exist_ok=True)
    onnx.save(network.to_onnx(accuracy), args.output / "digits.onnx")
    (args.output / "labels.txt").write_text("".join(f"{digit}\n" for digit in range(CLASSES)))
    # The first held-out picture of each digit, whatever the network says of it.
    samples = [np.flatnonzero(test_y == digit)[0] for digit in range(CLASSES)]
    for digit, sample in enumerate(samples):
        write_png(args.output / f"digit-{digit}.png", test_x[sample, 0].astype(np.uint8))
    write_test_data(args.output / "test_data_set_0", network, test_x[samples])


if __name__ == "__main__":
    main()
