# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Ops with windows: pads of two different sides, auto_pad, ceil_mode, dilations, strides, groups.

import itertools

import numpy as np

from grid import Const, Grid, small_integers

WINDOWS = [
    # extents, kernel, strides, dilations, pads (begins, then ends)
    ((7,), (3,), (1,), (1,), (2, 0)),
    ((7,), (3,), (2,), (1,), (0, 1)),
    ((8,), (2,), (3,), (2,), (1, 0)),
    ((6, 5), (3, 2), (2, 1), (1, 1), (1, 0, 2, 1)),
    ((6, 5), (2, 3), (2, 2), (2, 1), (0, 2, 1, 0)),
    ((5, 7), (3, 3), (1, 3), (1, 2), (2, 1, 0, 3)),
    ((5, 6), (1, 1), (3, 4), (1, 1), (0, 0, 0, 0)),
    ((4, 3, 5), (2, 1, 3), (1, 2, 2), (1, 1, 1), (1, 0, 0, 0, 0, 2)),
]
AUTO = ["SAME_UPPER", "SAME_LOWER", "VALID"]


def reach(kernel, dilations):
    return [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]


def same_pads(auto_pad, extents, reaches, strides):
    """"Pad the input so that output_shape[i] = ceil(input_shape[i] / strides[i])"; pads "can take any
    value greater than or equal to 0", so where none is needed there is none."""
    begins, ends = [], []
    for n, k, s in zip(extents, reaches, strides):
        total = max((-(-n // s) - 1) * s + k - n, 0)
        low, high = total // 2, total - total // 2
        begins.append(low if auto_pad == "SAME_UPPER" else high)
        ends.append(high if auto_pad == "SAME_UPPER" else low)
    return begins + ends


def paddings(extents, kernel, strides, dilations, pads):
    """What says the padding, and the padding."""
    yield {"pads": list(pads)}, list(pads)
    for auto_pad in AUTO:
        yield {"auto_pad": auto_pad}, (
            [0] * len(pads) if auto_pad == "VALID"
            else same_pads(auto_pad, extents, reach(kernel, dilations), strides))


def output_extents(extents, reaches, strides, pads, ceil=False):
    rank = len(extents)
    result = []
    for i in range(rank):
        room = extents[i] + pads[i] + pads[rank + i] - reaches[i]
        count = (-(-room // strides[i]) if ceil else room // strides[i]) + 1
        # "Sliding windows that would start in the right padded region are ignored."
        if ceil and (count - 1) * strides[i] >= extents[i] + pads[i]:
            count -= 1
        result.append(count)
    return result


def positions(at, kernel, strides, dilations, pads):
    """The offsets in the kernel and in the input (perhaps outside of it) of one window."""
    for offset in np.ndindex(*kernel):
        yield offset, tuple(at[i] * strides[i] + offset[i] * dilations[i] - pads[i]
                            for i in range(len(kernel)))


def inside(point, extents):
    return all(0 <= p < n for p, n in zip(point, extents))


def convolve(x, w, strides, dilations, pads, group):
    n, _, *extents = x.shape
    m, c, *kernel = w.shape
    out = output_extents(extents, reach(kernel, dilations), strides, pads)
    y = np.zeros((n, m, *out), np.float64)
    for b, f in np.ndindex(n, m):
        first = f // (m // group) * c
        for at in np.ndindex(*out):
            for offset, point in positions(at, kernel, strides, dilations, pads):
                if inside(point, extents):
                    y[(b, f, *at)] += sum(float(x[(b, first + k, *point)]) * float(w[(f, k, *offset)])
                                          for k in range(c))
    return y


def convolve_transposed(x, w, strides, dilations, pads, out, group):
    n, channels, *extents = x.shape
    _, m, *kernel = w.shape
    y = np.zeros((n, m * group, *out), np.float64)
    for b, c in np.ndindex(n, channels):
        first = c // (channels // group) * m
        for at in np.ndindex(*extents):
            for offset, point in positions(at, kernel, strides, dilations, pads):
                if inside(point, out):
                    for f in range(m):
                        y[(b, first + f, *point)] += x[(b, c, *at)] * w[(c, f, *offset)]
    return y


def common(strides, dilations, how):
    return dict(strides=list(strides), dilations=list(dilations), **how)


def fits(extents, kernel, strides, dilations, pads):
    return min(output_extents(extents, reach(kernel, dilations), strides, pads)) > 0


def convolutions(grid):
    for window, group in itertools.product(WINDOWS, (1, 2)):
        extents, kernel, strides, dilations, _ = window
        for how, pads in paddings(*window):
            if not fits(extents, kernel, strides, dilations, pads):
                continue
            x, w = small_integers((2, 4, *extents)), small_integers((6, 4 // group, *kernel), seed=1)
            bias = small_integers((6,), seed=2)
            y = convolve(x, w, strides, dilations, pads, group)
            shared = common(strides, dilations, how)
            grid.case("Conv", [x, Const(w, w.dtype), bias],
                      (y + bias.reshape(6, *[1] * len(extents))).astype(np.float32), group=group, **shared)
            if group == 1:
                grid.case("Conv", [x.astype(np.float16), w.astype(np.float16)], y.astype(np.float16),
                          group=group, **shared)
            integers(grid, x, w, strides, dilations, pads, group, shared)


def integers(grid, x, w, strides, dilations, pads, group, shared):
    """Padding is the zero point, which is none of the values' zero."""
    x8, w8 = (x + 7).astype(np.uint8), w.astype(np.int8)
    xz, wz = np.uint8(9), np.int8(1)
    y = convolve(x8.astype(float) - 9, w8.astype(float) - 1, strides, dilations, pads, group)
    grid.case("ConvInteger", [x8, w8, Const(xz, np.uint8), Const(wz, np.int8)], y.astype(np.int32),
              group=group, **shared)
    scaled = np.clip(np.rint(y * 0.25) + 100, 0, 255).astype(np.uint8)
    grid.case("QLinearConv",
              [x8, Const(0.5, np.float32), Const(xz, np.uint8), Const(w8, np.int8), Const(0.5, np.float32),
               Const(wz, np.int8), Const(1.0, np.float32), Const(100, np.uint8)],
              scaled, group=group, **shared)


def transposed(grid):
    for window, group in itertools.product(WINDOWS, (1, 2)):
        extents, kernel, strides, dilations, pads = window
        rank, reaches = len(extents), reach(kernel, dilations)
        x, w = small_integers((2, 4, *extents)), small_integers((4, 3, *kernel), seed=1)
        for extra in {(0,) * rank, tuple(s - 1 for s in strides)}:
            full = [s * (n - 1) + e + k for s, n, e, k in zip(strides, extents, extra, reaches)]
            ways = [({"pads": list(pads)}, list(pads),
                     [f - pads[i] - pads[rank + i] for i, f in enumerate(full)])]
            for auto_pad in AUTO[:2]:
                for shape in (None, [f - 1 - i for i, f in enumerate(full)]):
                    out = shape or [n * s for n, s in zip(extents, strides)]
                    # Where the extent that is asked for is beyond what the input reaches, zeros follow.
                    total = [max(f - o, 0) for f, o in zip(full, out)]
                    low, high = [t // 2 for t in total], [t - t // 2 for t in total]
                    how = {"auto_pad": auto_pad, "output_shape": shape}
                    ways.append((how, low + high if auto_pad == "SAME_UPPER" else high + low, out))
            for how, pad, out in ways:
                if min(out) <= 0:
                    continue
                y = convolve_transposed(x, w, strides, dilations, pad, out, group)
                grid.case("ConvTranspose", [x, Const(w, w.dtype)], y.astype(np.float32), group=group,
                          output_padding=list(extra), **common(strides, dilations, how))


def pool(x, kernel, strides, dilations, pads, out, reduce):
    """reduce(values inside the input, offsets of them, elements of the window inside input and pads)"""
    n, c, *extents = x.shape
    rank = len(extents)
    results = np.empty((n, c, *out), object)
    for b, f in np.ndindex(n, c):
        for at in np.ndindex(*out):
            points = [p for _, p in positions(at, kernel, strides, dilations, pads)]
            there = [p for p in points if inside(p, extents)]
            padded = sum(all(-pads[i] <= p[i] < extents[i] + pads[rank + i] for i in range(rank))
                         for p in points)
            results[(b, f, *at)] = reduce([x[(b, f, *p)] for p in there], [(b, f, *p) for p in there],
                                          padded)
    return results


def usable(kernel, pads):
    """Every window has an element: pads smaller than the kernel."""
    return all(p < kernel[i % len(kernel)] for i, p in enumerate(pads))


def pools(grid):
    for window, ceil in itertools.product(WINDOWS, (0, 1)):
        extents, kernel, strides, dilations, _ = window
        for how, pads in paddings(*window):
            if not usable(kernel, pads) or not fits(extents, kernel, strides, dilations, pads):
                continue
            # What SAME and VALID say of the shape leaves nothing for ceil_mode.
            if ceil and "auto_pad" in how:
                continue
            out = output_extents(extents, reach(kernel, dilations), strides, pads, ceil)
            x = small_integers((2, 3, *extents), low=-60, high=60)
            shared = dict(kernel_shape=list(kernel), ceil_mode=ceil, **common(strides, dilations, how))
            run = lambda reduce: pool(x, kernel, strides, dilations, pads, out, reduce)
            try:
                largest = run(lambda values, *_: max(values))
            except ValueError:
                continue  # a window of nothing but padding
            for order in (0, 1):
                layout = (2, 3, *extents)

                def index(values, where, _):
                    b, c, *point = where[int(np.argmax(values))]
                    plane = np.ravel_multi_index(point, extents, order="F" if order else "C")
                    return (b * layout[1] + c) * int(np.prod(extents)) + plane
                grid.case("MaxPool", [x], (largest.astype(np.float32), run(index).astype(np.int64)),
                          storage_order=order, **shared)
            for dtype in (np.int8, np.float16):
                grid.case("MaxPool", [x.astype(dtype)], largest.astype(dtype), **shared)
            for counted in (0, 1):
                mean = run(lambda values, _, padded: float(sum(map(float, values))) /
                           (padded if counted else len(values)))
                grid.case("AveragePool", [x], mean.astype(np.float32), count_include_pad=counted, **shared)
            for p in (1, 2, 3):
                norm = run(lambda values, *_: sum(abs(float(v)) ** p for v in values) ** (1 / p))
                grid.case("LpPool", [x], norm.astype(np.float32), p=p, **shared)


def deformed(grid):
    """Without offsets and mask a DeformConv is a Conv; with whole offsets it reads elsewhere."""
    for extents, kernel, strides, dilations, pads in WINDOWS:
        if len(extents) != 2 or not fits(extents, kernel, strides, dilations, pads):
            continue
        x, w = small_integers((1, 2, *extents)), small_integers((3, 2, *kernel), seed=1)
        out = output_extents(extents, reach(kernel, dilations), strides, pads)
        offsets = small_integers((1, 2 * int(np.prod(kernel)), *out), low=-1, high=2, seed=3)
        mask = small_integers((1, int(np.prod(kernel)), *out), low=0, high=3, seed=4)
        y = np.zeros((1, 3, *out))
        for f, c in np.ndindex(3, 2):
            for at in np.ndindex(*out):
                for k, (offset, point) in enumerate(positions(at, kernel, strides, dilations, pads)):
                    moved = (int(point[0] + offsets[(0, 2 * k, *at)]),
                             int(point[1] + offsets[(0, 2 * k + 1, *at)]))
                    if inside(moved, extents):
                        y[(0, f, *at)] += x[(0, c, *moved)] * w[(f, c, *offset)] * mask[(0, k, *at)]
        grid.case("DeformConv", [x, w, offsets, None, mask], y.astype(np.float32), pads=list(pads),
                  kernel_shape=list(kernel), **common(strides, dilations, {}))


def padded_at(mode, i, n):
    """Where in a vector of n the element at i of the endless one comes from; None: the constant."""
    if 0 <= i < n:
        return i
    if mode == "constant":
        return None
    if mode == "edge":
        return 0 if i < 0 else n - 1
    if mode == "wrap":
        return i % n
    i %= 2 * (n - 1)
    return i if i < n else 2 * (n - 1) - i


def pads(grid):
    shape = (2, 4, 5)
    for amounts in ([0, 1, 2, 0, 3, 0], [0, 0, 4, 0, 2, 0], [0, -1, 2, 0, 2, -1], [0, -2, -1, 0, 0, -2],
                    [0, 3, -2, 0, -1, 3]):
        for mode in ("constant", "edge", "reflect", "wrap"):
            x = np.arange(np.prod(shape)).reshape(shape)
            out = [n + amounts[i] + amounts[3 + i] for i, n in enumerate(shape)]
            y = np.full(out, 7)
            for at in np.ndindex(*out):
                source = [padded_at(mode, at[i] - amounts[i], n) for i, n in enumerate(shape)]
                if None not in source:
                    y[at] = x[tuple(source)]
            for dtype in (np.float32, np.float16, np.int8, np.int64):
                grid.case("Pad", [x.astype(dtype), Const(amounts), Const(7, dtype)], y.astype(dtype), mode=mode)
            if not amounts[0] and not amounts[3]:
                grid.case("Pad", [x.astype(np.float32),
                                  Const([amounts[2], amounts[1], amounts[5], amounts[4]]),
                                  Const(7, np.float32), Const([-1, 1])], y.astype(np.float32), mode=mode)


def grids():
    grid = Grid("windows")
    for fill in (convolutions, transposed, pools, deformed, pads):
        fill(grid)
    return [grid]
