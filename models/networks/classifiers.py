# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Classifiers with the layers, widths and activations of their papers, as torchvision has them.

import numpy as np

from graph import Graph

# Deviation of a residual branch against that of what it is added to.
BRANCH = 0.5


def divisible(value, by=8):
    """The multiple nearest to a width, not more than a tenth below it."""
    rounded = max(by, int(value + by / 2) // by * by)
    return rounded + by if rounded < 0.9 * value else rounded


def resnet18():
    """He et al., Deep Residual Learning for Image Recognition, arXiv:1512.03385. Batch norms are
    nodes of their own, as in the ONNX model zoo's file."""
    g = Graph("resnet18", fold=False)
    x = g.block(g.input("image", 3, 224, 224), 64, 7, "relu", stride=2)
    x = g.max_pool(x, 3, 2, 1)
    for width, stride in [(64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2),
                          (512, 1)]:
        y = g.block(x, width, 3, "relu", stride)
        y = g.conv(y, width, 3, norm=True, scale=BRANCH)
        if stride != 1 or x.channels != width:
            x = g.conv(x, width, 1, stride, norm=True)
        x = g.activate(g.add(y, x), "relu")
    g.output(g.classifier(x, 1000), "logits")
    return g


def mobilenetv2():
    """Sandler et al., Inverted Residuals and Linear Bottlenecks, arXiv:1801.04381, table 2. Batch
    norms are nodes of their own, as in the ONNX model zoo's file."""
    g = Graph("mobilenetv2", fold=False)
    x = g.block(g.input("image", 3, 224, 224), 32, 3, "relu6", stride=2)
    for expand, width, count, first in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                        (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for stride in [first] + [1] * (count - 1):
            inner = expand * x.channels
            y = g.block(x, inner, 1, "relu6") if expand != 1 else x
            y = g.block(y, inner, 3, "relu6", stride, groups=inner)
            same = stride == 1 and x.channels == width
            y = g.conv(y, width, 1, norm=True, scale=BRANCH if same else 1.0)
            x = g.add(x, y) if same else y
    g.output(g.classifier(g.block(x, 1280, 1, "relu6"), 1000), "logits")
    return g


def mobilenetv3_large():
    """Howard et al., Searching for MobileNetV3, arXiv:1905.02244, table 1."""
    g = Graph("mobilenetv3_large")
    x = g.block(g.input("image", 3, 224, 224), 16, 3, "hardswish", stride=2)
    for kernel, inner, width, squeeze, activation, stride in [
            (3, 16, 16, False, "relu", 1), (3, 64, 24, False, "relu", 2),
            (3, 72, 24, False, "relu", 1), (5, 72, 40, True, "relu", 2),
            (5, 120, 40, True, "relu", 1), (5, 120, 40, True, "relu", 1),
            (3, 240, 80, False, "hardswish", 2), (3, 200, 80, False, "hardswish", 1),
            (3, 184, 80, False, "hardswish", 1), (3, 184, 80, False, "hardswish", 1),
            (3, 480, 112, True, "hardswish", 1), (3, 672, 112, True, "hardswish", 1),
            (5, 672, 160, True, "hardswish", 2), (5, 960, 160, True, "hardswish", 1),
            (5, 960, 160, True, "hardswish", 1)]:
        y = g.block(x, inner, 1, activation) if inner != x.channels else x
        y = g.block(y, inner, kernel, activation, stride, groups=inner)
        if squeeze:
            y = g.squeeze_excite(y, divisible(inner // 4), "relu", "hardsigmoid")
        same = stride == 1 and x.channels == width
        y = g.conv(y, width, 1, norm=True, scale=BRANCH if same else 1.0)
        x = g.add(x, y) if same else y
    x = g.block(x, 960, 1, "hardswish")
    x = g.activate(g.classifier(x, 1280), "hardswish")
    g.output(g.linear(x, 1000), "logits")
    return g


def efficientnet_b0():
    """Tan and Le, EfficientNet, arXiv:1905.11946, table 1."""
    g = Graph("efficientnet_b0")
    x = g.block(g.input("image", 3, 224, 224), 32, 3, "silu", stride=2)
    for expand, kernel, first, width, count in [
            (1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3),
            (6, 5, 1, 112, 3), (6, 5, 2, 192, 4), (6, 3, 1, 320, 1)]:
        for stride in [first] + [1] * (count - 1):
            inner = expand * x.channels
            y = g.block(x, inner, 1, "silu") if expand != 1 else x
            y = g.block(y, inner, kernel, "silu", stride, groups=inner)
            y = g.squeeze_excite(y, x.channels // 4, "silu", "sigmoid")
            same = stride == 1 and x.channels == width
            y = g.conv(y, width, 1, norm=True, scale=BRANCH if same else 1.0)
            x = g.add(y, x) if same else y
    g.output(g.classifier(g.block(x, 1280, 1, "silu"), 1000), "logits")
    return g


def regnet_widths(depth, first, slope, ratio, group):
    """Widths and depths of the stages, from the parameters of arXiv:2003.13678, section 3.3."""
    steps = np.round(np.log((first + slope * np.arange(depth)) / first) / np.log(ratio))
    widths = (np.round(first * ratio ** steps / 8) * 8).astype(int)
    widths = [int(round(width / group) * group) for width in widths]
    return [(width, widths.count(width)) for width in sorted(set(widths))]


def regnet_y_400mf():
    """Radosavovic et al., Designing Network Design Spaces, arXiv:2003.13678."""
    g = Graph("regnet_y_400mf")
    x = g.block(g.input("image", 3, 224, 224), 32, 3, "relu", stride=2)
    group = 8
    for width, count in regnet_widths(16, 48, 27.89, 2.09, group):
        for stride in [2] + [1] * (count - 1):
            y = g.block(x, width, 1, "relu")
            y = g.block(y, width, 3, "relu", stride, groups=width // group)
            y = g.squeeze_excite(y, round(0.25 * x.channels), "relu", "sigmoid")
            y = g.conv(y, width, 1, norm=True, scale=BRANCH)
            if stride != 1 or x.channels != width:
                x = g.conv(x, width, 1, stride, norm=True)
            x = g.activate(g.add(x, y), "relu")
    g.output(g.classifier(x, 1000), "logits")
    return g


def convnext_tiny():
    """Liu et al., A ConvNet for the 2020s, arXiv:2201.03545."""
    g = Graph("convnext_tiny")

    def norm(x):
        return g.transpose(g.layer_norm(g.transpose(x, 2, 3, 1)), 3, 1, 2)

    x = norm(g.conv(g.input("image", 3, 224, 224), 96, 4, stride=4, pad=0))
    for stage, (width, count) in enumerate([(96, 3), (192, 3), (384, 9), (768, 3)]):
        if stage:
            x = g.conv(norm(x), width, 2, stride=2, pad=0)
        for _ in range(count):
            y = g.transpose(g.conv(x, width, 7, groups=width), 2, 3, 1)
            y = g.activate(g.matmul(g.layer_norm(y), 4 * width), "gelu")
            y = g.transpose(g.matmul(y, width), 3, 1, 2)
            scale = g.uniform(f"{g.scope()}.scale", (width, 1, 1), 0.1, BRANCH)
            g.parameters += width
            x = g.add(g.node("Mul", [scale, y], y.dims), x)
    x = norm(g.global_pool(x))
    g.output(g.linear(g.node("Flatten", [x], (x.channels,), axis=1), 1000), "logits")
    return g
