# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every op with an axis, at each axis, also counted from the end; every reduction with keepdims, with
# empty axes and without them.

import itertools

import numpy as np

from grid import Const, Grid, small_integers

SHAPE = (2, 3, 4)
RANK = len(SHAPE)
BOTH = [axis for axis in range(-RANK, RANK)]


def vectors(x, axis):
    """The index of each vector along an axis, and the vector."""
    for at in np.ndindex(*(n if i != axis % x.ndim else 1 for i, n in enumerate(x.shape))):
        index = list(at)
        index[axis % x.ndim] = slice(None)
        yield tuple(index), x[tuple(index)]


def along(x, axis, function):
    y = np.zeros(x.shape)
    for index, vector in vectors(x, axis):
        y[index] = function(vector.astype(float))
    return y


def softmax(v):
    e = np.exp(v - v.max())
    return e / e.sum()


def hardmax(v):
    y = np.zeros(len(v))
    y[int(np.argmax(v))] = 1
    return y


def running(v, exclusive, reverse):
    v = v[::-1] if reverse else v
    y = [sum(v[:i] if exclusive else v[:i + 1]) for i in range(len(v))]
    return np.array(y[::-1] if reverse else y)


def moved(grid):
    x = np.arange(24).reshape(SHAPE).astype(np.float32)
    for axis in BOTH:
        at = axis % RANK
        n = SHAPE[at]
        take = lambda positions: np.stack([x[(slice(None),) * at + (p,)] for p in positions], at)
        grid.case("Concat", [x, x], take(list(range(n)) * 2), axis=axis)
        sizes = [1, n - 1]
        grid.case("Split", [x, Const(sizes)], (take([0]), take(range(1, n))), axis=axis)
        half = -(-n // 2)
        grid.case("Split", [x], (take(range(half)), take(range(half, n))), axis=axis, num_outputs=2)
        for indices in ([[-1, 0], [0, -n]], [n - 1], 0):
            indices = np.array(indices, np.int64)
            y = np.zeros(SHAPE[:at] + indices.shape + SHAPE[at + 1:], np.float32)
            for where in np.ndindex(*y.shape):
                pick = indices[where[at:at + indices.ndim]]
                y[where] = x[where[:at] + (int(pick) % n,) + where[at + indices.ndim:]]
            grid.case("Gather", [x, indices], y, axis=axis)
        chosen = small_integers(SHAPE, np.int64, -n, n)
        y, scattered = np.zeros(SHAPE, np.float32), np.zeros(SHAPE, np.float32)
        for where in np.ndindex(*SHAPE):
            target = where[:at] + (int(chosen[where]) % n,) + where[at + 1:]
            y[where] = x[target]
            scattered[target] += x[where]
        grid.case("GatherElements", [x, chosen], y, axis=axis)
        grid.case("ScatterElements", [np.zeros(SHAPE, np.float32), chosen, x], scattered, axis=axis,
                  reduction="add")
        for start, end, step in ((0, n, 1), (-1, -n - 1, -1), (1, 1000, 2), (-1000, -1, 1),
                                 (2 ** 63 - 1, -2 ** 63, -1)):
            first = start + n if start < 0 else start
            last = end + n if end < 0 else end
            first = min(max(first, 0), n if step > 0 else n - 1)
            last = min(max(last, 0), n) if step > 0 else min(max(last, -1), n - 1)
            kept = list(range(first, last, step))
            grid.case("Slice", [x, Const([start]), Const([end]), Const([axis]), Const([step])], take(kept))
        flags = [True, False, True, True][:n]
        grid.case("Compress", [x, Const(flags, bool)], take([i for i, f in enumerate(flags) if f]),
                  axis=axis)
        grid.case("TopK", [x, Const([n - 1])], topk(x, axis, n - 1, True), axis=axis)
        grid.case("TopK", [x, Const([n - 1])], topk(x, axis, n - 1, False), axis=axis, largest=0)
        grid.case("Flatten", [x], x.reshape(int(np.prod(SHAPE[:at])), -1), axis=axis)
    for axis in range(-RANK - 1, RANK + 1):
        at = axis % (RANK + 1)
        grid.case("Unsqueeze", [x, Const([axis])], x.reshape(SHAPE[:at] + (1,) + SHAPE[at:]))
        classes = small_integers(SHAPE, np.int64, -5, 5)
        y = np.full(SHAPE[:at] + (5,) + SHAPE[at:], 2, np.float32)
        for where in np.ndindex(*SHAPE):
            y[where[:at] + (int(classes[where]) % 5,) + where[at:]] = 3
        grid.case("OneHot", [classes, Const(5), Const([2, 3], np.float32)], y, axis=axis)
    for axes in itertools.permutations((0, -1, 2), 2):
        shape = [1, 3, 1, 1]
        kept = [n for i, n in enumerate(shape) if i not in [a % 4 for a in axes]]
        grid.case("Squeeze", [np.ones(shape, np.float32), Const(axes)], np.ones(kept, np.float32))
    for perm in itertools.permutations(range(RANK)):
        y = np.zeros([SHAPE[p] for p in perm], np.float32)
        for where in np.ndindex(*y.shape):
            source = [0] * RANK
            for i, p in enumerate(perm):
                source[p] = where[i]
            y[where] = x[tuple(source)]
        grid.case("Transpose", [x], y, perm=list(perm))


def topk(x, axis, k, largest):
    at = axis % x.ndim
    shape = list(x.shape)
    shape[at] = k
    values, indices = np.zeros(shape, x.dtype), np.zeros(shape, np.int64)
    for index, vector in vectors(x, axis):
        order = sorted(range(len(vector)), key=lambda i: (-vector[i] if largest else vector[i], i))[:k]
        values[index], indices[index] = vector[order], order
    return values, indices


def computed(grid):
    x = small_integers(SHAPE)
    for axis in BOTH:
        grid.case("Softmax", [x], along(x, axis, softmax).astype(np.float32), axis=axis)
        grid.case("LogSoftmax", [x], along(x, axis, lambda v: np.log(softmax(v))).astype(np.float32),
                  axis=axis)
        grid.case("Hardmax", [x], along(x, axis, hardmax).astype(np.float32), axis=axis)
        # Until opset 12: the dimensions from the axis on are one.
        at = axis % RANK
        flat = x.reshape(int(np.prod(SHAPE[:at])), -1)
        for op, function in (("Softmax", softmax), ("LogSoftmax", lambda v: np.log(softmax(v))),
                             ("Hardmax", hardmax)):
            grid.case(op, [x], along(flat, 1, function).reshape(SHAPE).astype(np.float32), opset=11, ir=6,
                      axis=axis)
        for p in (1, 2):
            norm = lambda v: v / (sum(abs(v) ** p) ** (1 / p) or 1)
            grid.case("LpNormalization", [x], along(x, axis, norm).astype(np.float32), axis=axis, p=p)
        for exclusive, reverse in itertools.product((0, 1), (0, 1)):
            for dtype in (np.float32, np.int32):
                y = along(x, axis, lambda v: running(v, exclusive, reverse)).astype(dtype)
                grid.case("CumSum", [x.astype(dtype), Const(axis)], y, exclusive=exclusive, reverse=reverse)
        for op, last, keep in itertools.product(("ArgMax", "ArgMin"), (0, 1), (0, 1)):
            y = np.zeros([1 if i == at else n for i, n in enumerate(SHAPE)], np.int64)
            for index, vector in vectors(x, axis):
                best = max(vector) if op == "ArgMax" else min(vector)
                hits = [i for i, v in enumerate(vector) if v == best]
                y[index] = hits[-1 if last else 0]
            for dtype in (np.float32, np.int8, np.float16):
                grid.case(op, [x.astype(dtype)], y if keep else y.reshape(SHAPE[:at] + SHAPE[at + 1:]),
                          axis=axis, keepdims=keep, select_last_index=last)
        # One mean and variance for all dimensions from the axis on.
        mean = flat.astype(float).mean(1, keepdims=True)
        variance = ((flat - mean) ** 2).mean(1, keepdims=True)
        scale = small_integers(SHAPE[at:], seed=1)
        y = ((flat - mean) / np.sqrt(variance + 1e-5)).reshape(SHAPE) * scale
        grid.case("LayerNormalization", [x, scale], y.astype(np.float32), axis=axis)
        rms = flat / np.sqrt((flat.astype(float) ** 2).mean(1, keepdims=True) + 1e-5)
        grid.case("RMSNormalization", [x, scale], (rms.reshape(SHAPE) * scale).astype(np.float32), opset=23,
                  axis=axis)
        scales, zeros = np.float32(2) ** -np.arange(SHAPE[at]), np.arange(SHAPE[at])
        each = [SHAPE[at] if i == at else 1 for i in range(RANK)]
        stored = small_integers(SHAPE, np.uint8, 0, 200)
        real = (stored.astype(float) - zeros.reshape(each)) * scales.reshape(each)
        grid.case("DequantizeLinear", [stored, scales.astype(np.float32), zeros.astype(np.uint8)],
                  real.astype(np.float32), axis=axis)
        grid.case("QuantizeLinear", [real.astype(np.float32), scales.astype(np.float32),
                                     zeros.astype(np.uint8)], stored, axis=axis)


REDUCTIONS = {
    "ReduceSum": sum,
    "ReduceMean": lambda v: sum(v) / len(v),
    "ReduceMax": max,
    "ReduceMin": min,
    "ReduceProd": lambda v: float(np.prod(v)),
    "ReduceL1": lambda v: sum(abs(e) for e in v),
    "ReduceL2": lambda v: sum(e * e for e in v) ** 0.5,
    "ReduceSumSquare": lambda v: sum(e * e for e in v),
    "ReduceLogSum": lambda v: float(np.log(sum(v))),
    "ReduceLogSumExp": lambda v: float(np.log(sum(np.exp(e) for e in v))),
}


def reduced(x, axes, keep, function):
    axes = {a % x.ndim for a in axes}
    groups = {}
    for where in np.ndindex(*x.shape):
        groups.setdefault(tuple(0 if i in axes else w for i, w in enumerate(where)), []).append(
            float(x[where]))
    y = np.zeros([1 if i in axes else n for i, n in enumerate(x.shape)])
    for where, values in groups.items():
        y[where] = function(values)
    return y if keep else y.reshape([n for i, n in enumerate(x.shape) if i not in axes])


def reductions(grid):
    x = small_integers(SHAPE, low=1, high=4)
    every = list(range(RANK))
    for op, function in REDUCTIONS.items():
        attribute_opset = 11 if op == "ReduceSum" else 13
        for keep in (0, 1):
            for axes in ([0], [-1], [1], [-3, -1], [2, 0], [0, 1, 2], [-2, -1]):
                y = reduced(x, axes, keep, function).astype(np.float32)
                grid.case(op, [x, Const(axes)], y, keepdims=keep)
                grid.case(op, [x], y, opset=attribute_opset, ir=6, axes=axes, keepdims=keep)
                if function in (max, min):
                    for dtype in (np.int8, np.uint8, np.int64, bool):
                        z = x.astype(dtype)
                        grid.case(op, [z, Const(axes)], reduced(z, axes, keep, function).astype(dtype),
                                  keepdims=keep)
                elif op in ("ReduceSum", "ReduceProd", "ReduceL1", "ReduceSumSquare"):
                    for dtype in (np.int32, np.float16):
                        if y.max() > np.finfo(np.float16).max and dtype == np.float16:
                            continue
                        grid.case(op, [x.astype(dtype), Const(axes)], y.astype(dtype), keepdims=keep)
            whole = reduced(x, every, keep, function).astype(np.float32)
            grid.case(op, [x, Const([])], whole, keepdims=keep)
            grid.case(op, [x, None], whole, keepdims=keep)
            grid.case(op, [x], whole, keepdims=keep)
            grid.case(op, [x], whole, opset=attribute_opset, ir=6, keepdims=keep)
            if op in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceMean"):
                # "When this attribute is true and axes is empty, input tensor will not be reduced".
                grid.case(op, [x, Const([])], x, keepdims=keep, noop_with_empty_axes=1)
                grid.case(op, [x], x, keepdims=keep, noop_with_empty_axes=1)


def grids():
    grid = Grid("axes")
    for fill in (moved, computed, reductions):
        fill(grid)
    return [grid]
