# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Networks that answer for every place of a picture: a detector and a segmenter.

import numpy as np

from graph import Graph


def yolov8n():
    """Ultralytics YOLOv8-n, 80 classes, 640x640: widths 0.25, depths 0.33 of yolov8.yaml; boxes and
    scores as its ONNX export gives them."""
    g = Graph("yolov8n")

    def conv(x, oc, kernel=1, stride=1):
        return g.block(x, oc, kernel, "silu", stride)

    def c2f(x, width, count, shortcut):
        parts = g.split(conv(x, width), width // 2, width // 2)
        for _ in range(count):
            y = conv(conv(parts[-1], width // 2, 3), width // 2, 3)
            parts.append(g.add(parts[-1], y) if shortcut else y)
        return conv(g.concat(*parts), width)

    def pyramid_pool(x, width):
        parts = [conv(x, width // 2)]
        for _ in range(3):
            parts.append(g.max_pool(parts[-1], 5, 1, 2))
        return conv(g.concat(*parts), width)

    x = conv(conv(g.input("images", 3, 640, 640), 16, 3, 2), 32, 3, 2)
    x = c2f(x, 32, 1, True)
    third = c2f(conv(x, 64, 3, 2), 64, 2, True)
    fourth = c2f(conv(third, 128, 3, 2), 128, 2, True)
    fifth = pyramid_pool(c2f(conv(fourth, 256, 3, 2), 256, 1, True), 256)
    up = c2f(g.concat(g.upsample(fifth), fourth), 128, 1, False)
    small = c2f(g.concat(g.upsample(up), third), 64, 1, False)
    middle = c2f(g.concat(conv(small, 64, 3, 2), up), 128, 1, False)
    large = c2f(g.concat(conv(middle, 128, 3, 2), fifth), 256, 1, False)
    g.output(_detections(g, conv, [small, middle, large]), "output0")
    return g


def _detections(g, conv, scales, classes=80, bins=16):
    """The decoupled head; boxes from distributions over distances, arXiv:2006.04388."""
    wide = max(16, scales[0].channels // 4, 4 * bins)
    narrow = max(scales[0].channels, min(classes, 100))
    levels, anchors, strides = [], [], []
    for x in scales:
        box = g.conv(conv(conv(x, wide, 3), wide, 3), 4 * bins, 1)
        score = g.conv(conv(conv(x, narrow, 3), narrow, 3), classes, 1)
        levels.append(g.reshape(g.concat(box, score), 4 * bins + classes, -1))
        size = x.dims[1]
        centres = np.arange(size, dtype=np.float32) + 0.5
        anchors.append(np.stack(np.meshgrid(centres, centres)).reshape(2, -1))
        strides.append(np.full(size * size, 640 / size, np.float32))
    places = sum(len(part) for part in strides)
    joined = g.node("Concat", levels, (4 * bins + classes, places), axis=2)
    box, score = g.split(joined, 4 * bins, classes)

    weights = g.constant("bins", np.arange(bins, dtype=np.float32).reshape(1, bins, 1, 1))
    g.parameters += bins
    g.macs += bins * 4 * places
    spread = g.transpose(g.reshape(box, 4, bins, places), 2, 1, 3)
    spread = g.node("Softmax", [spread], spread.dims, axis=1)
    distance = g.node("Conv", [spread, weights], (1, 4, places), kernel_shape=[1, 1])
    near, far = g.split(g.reshape(distance, 4, places), 2, 2)
    anchor = g.constant("anchors", np.concatenate(anchors, 1)[None])
    low = g.node("Sub", [anchor, near], near.dims)
    high = g.node("Add", [anchor, far], far.dims)
    two = g.constant("two", np.float32(2))
    centre = g.node("Div", [g.node("Add", [low, high], low.dims), two], low.dims)
    size = g.node("Sub", [high, low], low.dims)
    boxes = g.node("Mul", [g.concat(centre, size), g.constant("strides", np.concatenate(strides))],
                   (4, places))
    return g.concat(boxes, g.activate(score, "sigmoid"))


def unet():
    """Ronneberger et al., U-Net, arXiv:1505.04597, in the padded form with batch norms and 32
    first channels that PyTorch Hub has for brain scans (mateuszbuda/brain-segmentation-pytorch)."""
    g = Graph("unet")

    def double(x, width):
        return g.block(g.block(x, width, 3, "relu"), width, 3, "relu")

    x, skips = g.input("image", 3, 256, 256), []
    for width in [32, 64, 128, 256]:
        skips.append(double(x, width))
        x = g.max_pool(skips[-1], 2, 2)
    x = double(x, 512)
    for width in [256, 128, 64, 32]:
        x = double(g.concat(g.conv_transpose(x, width, 2, 2), skips.pop()), width)
    g.output(g.activate(g.conv(x, 1, 1), "sigmoid"), "mask")
    return g
