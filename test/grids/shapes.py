# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Products of every pair of ranks, Gemm with every transposition and shape of C, rearrangements,
# normalizations of every rank, optional limits, quantization that saturates and rounds to even.

import itertools

import numpy as np

from grid import Const, Grid, small_integers


def products(grid):
    for ta, tb in itertools.product((0, 1), (0, 1)):
        a, b = small_integers((3, 4)), small_integers((4, 5), seed=1)
        given = [a.T if ta else a, b.T if tb else b]
        for shape in (None, (), (1,), (5,), (1, 5), (3, 1), (1, 1), (3, 5)):
            for alpha, beta in ((1.0, 1.0), (0.5, 2.0)):
                y = np.zeros((3, 5))
                for i, j, k in np.ndindex(3, 5, 4):
                    y[i, j] += alpha * a[i, k] * b[k, j]
                c = [] if shape is None else [small_integers(shape, seed=2)]
                if c:
                    y += beta * c[0]
                grid.case("Gemm", [*given, *c], y.astype(np.float32), transA=ta, transB=tb, alpha=alpha,
                          beta=beta)
    left = [(4,), (3, 4), (1, 3, 4), (2, 3, 4), (5, 1, 3, 4)]
    right = [(4,), (4, 2), (1, 4, 2), (2, 4, 2), (5, 2, 4, 2)]
    for p, q in itertools.product(left, right):
        a, b = small_integers(p), small_integers(q, seed=1)
        wide_a, wide_b = a.reshape(1, 4) if a.ndim == 1 else a, b.reshape(4, 1) if b.ndim == 1 else b
        batch = np.broadcast_shapes(wide_a.shape[:-2], wide_b.shape[:-2])
        y = np.zeros((*batch, wide_a.shape[-2], wide_b.shape[-1]))
        for at in np.ndindex(*y.shape):
            pick = lambda x: tuple(0 if n == 1 else w for n, w in
                                   zip(x.shape[:-2], at[len(batch) - x.ndim + 2:len(batch)]))
            y[at] = sum(wide_a[(*pick(wide_a), at[-2], k)] * wide_b[(*pick(wide_b), k, at[-1])]
                        for k in range(4))
        if b.ndim == 1:
            y = y[..., 0]
        if a.ndim == 1:
            y = y[..., 0] if b.ndim == 1 else y[..., 0, :]
        for dtype in (np.float32, np.float16, np.int32):
            grid.case("MatMul", [a.astype(dtype), b.astype(dtype)], y.astype(dtype))
        if a.ndim > 1 and b.ndim > 1:
            x8, w8 = (a + 9).astype(np.uint8), (b - 2).astype(np.int8)
            grid.case("MatMulInteger", [x8, w8, Const(9, np.uint8), Const(-2, np.int8)], y.astype(np.int32))


def rearranged(grid):
    for n, c, h, w, block in ((2, 8, 2, 3, 2), (1, 9, 3, 1, 3), (2, 4, 1, 5, 1)):
        x = np.arange(n * c * h * w).reshape(n, c, h, w)
        for mode in ("DCR", "CRD"):
            out = c // block ** 2
            y = np.zeros((n, out, h * block, w * block))
            for b, o, i, j in np.ndindex(*y.shape):
                cell = i % block * block + j % block
                channel = cell * out + o if mode == "DCR" else o * block * block + cell
                y[b, o, i, j] = x[b, channel, i // block, j // block]
            for dtype in (np.float32, np.int8):
                grid.case("DepthToSpace", [x.astype(dtype)], y.astype(dtype), blocksize=block, mode=mode)
        back = np.zeros((n, c * block ** 2, h, w))
        image = np.arange(back.size).reshape(n, c, h * block, w * block)
        for b, o, i, j in np.ndindex(*back.shape):
            cell, channel = divmod(o, c)
            back[b, o, i, j] = image[b, channel, i * block + cell // block, j * block + cell % block]
        grid.case("SpaceToDepth", [image.astype(np.float32)], back.astype(np.float32), blocksize=block)
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for shape in ([0, -1], [-1, 0], [0, 0, 2, 2], [-1], [4, -1, 3], [0, 3, 4], [1, 0, -1, 1]):
        dims = [x.shape[i] if d == 0 else d for i, d in enumerate(shape)]
        dims = [24 // -int(np.prod(dims)) if d == -1 else d for d in dims]
        for dtype in (np.float32, np.int64, bool):
            grid.case("Reshape", [x.astype(dtype), Const(shape)], x.astype(dtype).reshape(dims))
    for diagonal in range(-4, 5):
        for upper in (0, 1):
            y = np.zeros_like(x)
            for b, i, j in np.ndindex(*x.shape):
                if (j - i >= diagonal) if upper else (j - i <= diagonal):
                    y[b, i, j] = x[b, i, j]
            grid.case("Trilu", [x, Const(diagonal)], y, upper=upper)
    ties = np.array([[2, 1, 2, 1, 2, 0]], np.float32)
    for k, largest in itertools.product((1, 3, 5, 6), (0, 1)):
        order = sorted(range(6), key=lambda i: (-ties[0, i] if largest else ties[0, i], i))[:k]
        for dtype in (np.float32, np.int64, np.uint8):
            grid.case("TopK", [ties.astype(dtype), Const([k])],
                      (ties[:, order].astype(dtype), np.array([order])), largest=largest)


def normalized(grid):
    for extents in ((), (5,), (3, 4), (2, 3, 2)):
        x = small_integers((2, 4, *extents))
        each = (4, *[1] * len(extents))
        scale, bias, mean = (small_integers((4,), seed=s) for s in (1, 2, 3))
        variance = small_integers((4,), low=1, seed=4)
        r = lambda v: v.reshape(each).astype(float)
        y = (x - r(mean)) / np.sqrt(r(variance) + 0.01) * r(scale) + r(bias)
        grid.case("BatchNormalization", [x, scale, bias, mean, variance], y.astype(np.float32), epsilon=0.01)
        if not extents:
            continue
        axes = tuple(range(2, x.ndim))
        wide = x.astype(float)
        norm = lambda v, a: (v - v.mean(a, keepdims=True)) / np.sqrt(v.var(a, keepdims=True) + 0.5)
        y = norm(wide, axes) * r(scale) + r(bias)
        grid.case("InstanceNormalization", [x, scale, bias], y.astype(np.float32), epsilon=0.5)
        for groups in (1, 2, 4):
            y = norm(wide.reshape(2, groups, -1), 2).reshape(x.shape) * r(scale) + r(bias)
            grid.case("GroupNormalization", [x, scale, bias], y.astype(np.float32), num_groups=groups,
                      epsilon=0.5)
        for op, function in (("GlobalAveragePool", np.mean), ("GlobalMaxPool", np.max)):
            grid.case(op, [x], function(x, axis=axes, keepdims=True).astype(np.float32))
        for size in (1, 3, 4):
            y = np.zeros_like(wide)
            for c in range(4):
                near = wide[:, max(0, c - (size - 1) // 2):c + size // 2 + 1]
                y[:, c] = wide[:, c] / (2 + 0.5 / size * (near ** 2).sum(1)) ** 0.75
            grid.case("LRN", [x], y.astype(np.float32), size=size, alpha=0.5, bias=2.0, beta=0.75)


def limited(grid):
    x = np.array([-9, -2, 0, 1, 3, 9])
    for dtype in (np.float32, np.float16, np.int8, np.int32, np.int64):
        v = x.astype(dtype)
        for low, high in itertools.product((None, -2), (None, 3)):
            y = [max(e, low) if low is not None else e for e in x]
            y = [min(e, high) if high is not None else e for e in y]
            limits = [None if limit is None else Const(limit, dtype) for limit in (low, high)]
            grid.case("Clip", [v, *limits], np.array(y, dtype))
        # "If 'min' is greater than 'max', the clip operator sets all the 'input' values to the value of 'max'."
        grid.case("Clip", [v, np.array(5, dtype), np.array(-1, dtype)], np.full(6, -1, dtype), opset=13, ir=7)


def quantized(grid):
    steps = np.array([-1000, -129, -128.5, -2.5, -1.5, -0.5, 0, 0.5, 1.5, 2.5, 126.5, 127.5, 128, 255.5, 1e9])
    even = [int(np.floor(s)) if s % 1 == 0.5 and np.floor(s) % 2 == 0 else int(np.floor(s + 0.5)) for s in steps]
    for dtype in (np.int8, np.uint8, np.int16, np.uint16):
        info = np.iinfo(dtype)
        for zero in (0, 3):
            y = np.array([min(max(e + zero, info.min), info.max) for e in even], dtype)
            grid.case("QuantizeLinear", [(steps * 0.5).astype(np.float32), Const(0.5, np.float32),
                                         Const(zero, dtype)], y)
            back = ((y.astype(float) - zero) * 0.5).astype(np.float32)
            grid.case("DequantizeLinear", [y, Const(0.5, np.float32), Const(zero, dtype)], back)
    grid.case("QuantizeLinear", [(steps * 0.5).astype(np.float32), Const(0.5, np.float32)],
              np.array([min(max(e, 0), 255) for e in even], np.uint8))
    # A zero point and a scale for each output channel.
    x, w = small_integers((1, 2, 4, 4), np.uint8, 0, 20), small_integers((3, 2, 2, 2), np.int8, seed=1)
    zeros, scales = np.array([1, -2, 0]), np.array([0.5, 0.25, 1])
    y = np.zeros((1, 3, 3, 3))
    for f, i, j, c, u, v in np.ndindex(3, 3, 3, 2, 2, 2):
        y[0, f, i, j] += (float(x[0, c, i + u, j + v]) - 7) * (float(w[f, c, u, v]) - zeros[f])
    y = np.clip(np.rint(y * scales.reshape(3, 1, 1) / 4) + 128, 0, 255).astype(np.uint8)
    grid.case("QLinearConv", [x, Const(1, np.float32), Const(7, np.uint8), Const(w, np.int8),
                              Const(scales, np.float32), Const(zeros, np.int8), Const(4, np.float32),
                              Const(128, np.uint8)], y)


def grids():
    grid = Grid("shapes")
    for fill in (products, rearranged, normalized, limited, quantized):
        fill(grid)
    return [grid]
