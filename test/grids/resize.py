# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Resize: every coordinate mode with every nearest mode, linear and cubic, to smaller and larger
# sizes; and the nearest of opset 10.

import itertools
import math

import numpy as np

from grid import Const, Grid, small_integers

COORDINATES = {
    # output position, output extent, input extent, scale, start and end of the region
    "half_pixel": lambda x, out, n, scale, *_: (x + 0.5) / scale - 0.5,
    "pytorch_half_pixel": lambda x, out, n, scale, *_: (x + 0.5) / scale - 0.5 if out > 1 else 0,
    "align_corners": lambda x, out, n, *_: x * (n - 1) / (out - 1) if out > 1 else 0,
    "asymmetric": lambda x, out, n, scale, *_: x / scale,
    "half_pixel_symmetric": lambda x, out, n, scale, *_:
        n / 2 * (1 - out / (scale * n)) + (x + 0.5) / scale - 0.5,
    "tf_crop_and_resize": lambda x, out, n, scale, start, end:
        start * (n - 1) + x * (end - start) * (n - 1) / (out - 1) if out > 1
        else 0.5 * (start + end) * (n - 1),
}
NEAREST = {
    "round_prefer_floor": lambda x: math.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: math.floor(x + 0.5),
    "floor": math.floor,
    "ceil": math.ceil,
}
# Extents, and sizes with ratios that are exact in binary, or nearly anything else.
SIZES = [((4, 6), (8, 3)), ((3, 5), (7, 4)), ((5, 4), (1, 9)), ((6, 1), (4, 3)), ((2, 8), (5, 2))]


def cubic(t, a=-0.75):
    """The weights of the elements at -1, 0, 1 and 2 for the fraction t."""
    near = lambda d: (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1
    far = lambda d: a * d ** 3 - 5 * a * d ** 2 + 8 * a * d - 4 * a
    return [far(1 + t), near(t), near(1 - t), far(2 - t)]


def weights(mode, position, n, exclude):
    """Elements of a row of n, and what they count."""
    base = math.floor(position)
    t = position - base
    pairs = [(base, 1 - t), (base + 1, t)] if mode == "linear" else list(zip(range(base - 1, base + 3), cubic(t)))
    if exclude:
        pairs = [(i, w) for i, w in pairs if 0 <= i < n]
        total = sum(w for _, w in pairs)
        pairs = [(i, w / total) for i, w in pairs]
    return [(min(max(i, 0), n - 1), w) for i, w in pairs]


def resized(x, positions, mode, nearest=None, exclude=False, crop=None):
    """positions[d] are those of dimension d in the input."""
    y = np.zeros((*x.shape[:2], *map(len, positions)))
    extents = x.shape[2:]
    for at in np.ndindex(*y.shape):
        points = [positions[d][at[2 + d]] for d in range(2)]
        if crop is not None and not all(0 <= p <= n - 1 for p, n in zip(points, extents)):
            y[at] = crop
            continue
        if mode == "nearest":
            rows, columns = ([(min(max(nearest(p), 0), n - 1), 1)] for p, n in zip(points, extents))
        else:
            rows, columns = (weights(mode, p, n, exclude) for p, n in zip(points, extents))
        y[at] = sum(v * w * x[at[0], at[1], i, j] for i, v in rows for j, w in columns)
    return y


def fill(grid):
    regions = [(-0.25, 0.125), (1.125, 0.75)]
    for (extents, sizes), (name, map_back) in itertools.product(SIZES, COORDINATES.items()):
        x = small_integers((1, 2, *extents), low=-50, high=50)
        crops = name == "tf_crop_and_resize"
        positions = [[map_back(i, out, n, out / n, *r) for i in range(out)]
                     for out, n, r in zip(sizes, extents, zip(*regions))]
        roi = Const([0, 0, *regions[0], 1, 1, *regions[1]], np.float32) if crops else None
        both = ([x, roi, None, Const([1, 2, *sizes])], [x, roi, Const([1, 1] + [o / n for o, n in zip(sizes, extents)],
                                                                      np.float32)])
        # Scales that f32 rounds move what lies right between two elements; with a region they decide
        # another extent.
        exact = all(float(np.float32(o / n)) == o / n for o, n in zip(sizes, extents))
        shared = dict(coordinate_transformation_mode=name, extrapolation_value=9.0 if crops else None)
        for nearest, choose in NEAREST.items():
            y = resized(x, positions, "nearest", choose, crop=9 if crops else None).astype(np.float32)
            for inputs in both[:2 if exact and not crops else 1]:
                grid.case("Resize", inputs, y, mode="nearest", nearest_mode=nearest, **shared)
            grid.case("Resize", [x.astype(np.uint8), *both[0][1:]],
                      resized(x.astype(np.uint8), positions, "nearest", choose,
                              crop=9 if crops else None).astype(np.uint8),
                      mode="nearest", nearest_mode=nearest, **shared)
        for mode, exclude in (("linear", False), ("linear", True), ("cubic", False), ("cubic", True)):
            if exclude and crops:
                continue  # positions with no element at all
            y = resized(x, positions, mode, exclude=exclude, crop=9 if crops else None).astype(np.float32)
            for inputs in both[:2 if exact and not crops else 1]:
                grid.case("Resize", inputs, y, mode=mode, exclude_outside=int(exclude), **shared)
        if not crops:
            y = resized(x, positions, "nearest", NEAREST["floor"]).astype(np.float32)
            grid.case("Resize", [x, None, None, Const(list(sizes)[::-1])], y, mode="nearest",
                      nearest_mode="floor", axes=[-1, 2], **shared)


def first(grid):
    """Opset 10: asymmetric; nearest is above where a dimension gets smaller, below where it grows, as
    ONNX's own test has it ([1, 3] of [1, 2, 3, 4] at 0.6)."""
    for scales in ((0.6, 0.6), (2.0, 1.0), (2.5, 1.5), (0.75, 2.5), (1.0, 0.4), (0.5, 3.0)):
        for extents in ((2, 4), (5, 8)):
            x = small_integers((1, 2, *extents), low=-50, high=50)
            scales32 = [float(np.float32(s)) for s in scales]
            out = [math.floor(n * s) for n, s in zip(extents, scales32)]
            positions = [[i / s for i in range(o)] for o, s in zip(out, scales32)]
            chosen = [[math.ceil(p) if s < 1 else math.floor(p) for p in row] for row, s in zip(positions, scales32)]
            given = [x, Const([1, 1, *scales], np.float32)]
            grid.case("Resize", given, resized(x, chosen, "nearest", int).astype(np.float32), opset=10, ir=5)
            grid.case("Resize", given, resized(x, positions, "linear").astype(np.float32), opset=10, ir=5,
                      mode="linear")
            if min(scales) >= 1:
                grid.case("Upsample", given, resized(x, chosen, "nearest", int).astype(np.float32), opset=9, ir=4)
                grid.case("Upsample", given, resized(x, positions, "linear").astype(np.float32), opset=9, ir=4,
                          mode="linear")


def grids():
    grid = Grid("resize")
    fill(grid)
    first(grid)
    return [grid]
