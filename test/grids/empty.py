# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A dimension of size zero in each position, for each kind of op.

import itertools

import numpy as np

from grid import Const, Grid

SHAPE = (2, 3, 4, 5)
MAPS = ["Relu", "Sigmoid", "Neg", "Identity", "Erf", "Softplus", "Abs"]
NEUTRAL = {"ReduceSum": 0, "ReduceProd": 1, "ReduceL1": 0, "ReduceL2": 0, "ReduceSumSquare": 0,
           "ReduceMax": -np.inf, "ReduceMin": np.inf, "ReduceLogSum": -np.inf, "ReduceLogSumExp": -np.inf}


def fill(grid):
    for zero in range(4):
        shape = tuple(0 if i == zero else n for i, n in enumerate(SHAPE))
        x = np.zeros(shape, np.float32)
        for op in MAPS:
            grid.case(op, [x], x)
        # Constants are folded, where no element asks for the attributes.
        for op, attributes in (("ThresholdedRelu", {"alpha": 1.0}), ("LeakyRelu", {"alpha": 0.5}), ("Elu", {"alpha": 2.0}),
                               ("HardSigmoid", {"alpha": 0.3, "beta": 0.1}), ("Shrink", {"bias": 1.0}), ("Neg", {})):
            for value in (x, Const(x, np.float32)):
                grid.case(op, [value], x, **attributes)
        for op in ("Add", "Mul", "Max", "Pow"):
            for other in (x, np.ones(1, np.float32), np.ones((1, 1, 1, 1), np.float32),
                          np.ones(shape[3:], np.float32)):
                grid.case(op, [x, other], x)
        grid.case("Where", [x > 0, x, np.ones((), np.float32)], x)
        grid.case("Greater", [x, x], x > 0)
        grid.case("Cast", [x], x.astype(np.int64), to=7)
        grid.case("LRN", [x], x, size=3)
        # A plane without elements has no mean, so only the shape is asked for where there are some.
        if zero != 1:
            ones = np.ones(3, np.float32)
            grid.case("BatchNormalization", [x, ones, ones, ones, ones], x)
            grid.case("InstanceNormalization", [x, ones, ones], x)
            grid.case("PRelu", [x, np.ones((3, 1, 1), np.float32)], x)
        if zero != 3:
            grid.case("LayerNormalization", [x, np.ones(5, np.float32)], x)
        for axis in range(4):
            n = shape[axis]
            for op in ("Softmax", "LogSoftmax", "Hardmax", "LpNormalization"):
                grid.case(op, [x], x, axis=axis)
            grid.case("CumSum", [x, Const(axis)], x)
            longer = np.zeros([2 * e if i == axis else e for i, e in enumerate(shape)], np.float32)
            grid.case("Concat", [x, x], longer, axis=axis)
            none = np.zeros([0 if i == axis else e for i, e in enumerate(shape)], np.float32)
            grid.case("Split", [x, Const([0, n])], (none, x), axis=axis)
            grid.case("Gather", [x, Const(np.zeros(0, np.int64))], none, axis=axis)
            grid.case("Slice", [x, Const([5]), Const([9]), Const([axis])], none)
            for op, value in NEUTRAL.items():
                if axis != zero:
                    continue
                for keep in (0, 1):
                    y = np.full([1 if i == axis else e for i, e in enumerate(shape)], value, np.float32)
                    grid.case(op, [x, Const([axis])], y if keep else y.squeeze(axis), keepdims=keep)
            if axis != zero:
                y = np.zeros([1 if i == axis else e for i, e in enumerate(shape)], np.float32)
                for op in [*NEUTRAL, "ReduceMean"]:
                    grid.case(op, [x, Const([axis])], y)
                for op in ("ArgMax", "ArgMin"):
                    grid.case(op, [x], y.astype(np.int64), axis=axis)
                grid.case("TopK", [x, Const([1])], (y, y.astype(np.int64)), axis=axis)
            pads = [1 if i % 4 == axis else 0 for i in range(8)]
            y = np.full([e + 2 * (i == axis) for i, e in enumerate(shape)], 3, np.float32)
            grid.case("Pad", [x, Const(pads), Const(3, np.float32)], y)
        for perm in ([3, 2, 1, 0], [0, 2, 3, 1]):
            grid.case("Transpose", [x], x.transpose(perm), perm=perm)
        grid.case("Tile", [x, Const([2, 1, 3, 1])], np.tile(x, (2, 1, 3, 1)))
        grid.case("Reshape", [x, Const([7, 0])], np.zeros((7, 0), np.float32), allowzero=1)
        grid.case("Flatten", [x], x.reshape(shape[0], int(np.prod(shape[1:]))))
        grid.case("Shape", [x], np.array(shape))
        grid.case("Size", [x], np.array(0))
        grid.case("NonZero", [x], np.zeros((4, 0), np.int64))
        grid.case("Expand", [x, Const([1, 1, 1, 1])], x)
        grid.case("MatMul", [x, np.ones((shape[3], 7), np.float32)], np.zeros((*shape[:3], 7), np.float32))
        if zero in (0, 1):
            w = np.ones((2, shape[1], 3, 3), np.float32)
            grid.case("Conv", [x, w, np.full(2, 5, np.float32)],
                      np.full((shape[0], 2, 4, 5), 5, np.float32), pads=[1, 1, 1, 1])
            for op in ("MaxPool", "AveragePool", "LpPool"):
                grid.case(op, [x], np.zeros((*shape[:2], 3, 4), np.float32), kernel_shape=[2, 2])
            for op in ("GlobalMaxPool", "GlobalAveragePool"):
                grid.case(op, [x], np.zeros((*shape[:2], 1, 1), np.float32))
            grid.case("Resize", [x, None, Const([1, 1, 2, 2], np.float32)],
                      np.zeros((*shape[:2], 8, 10), np.float32))
    for m, k, n in itertools.product((0, 2), (0, 3), (0, 4)):
        if 0 not in (m, k, n):
            continue
        a, b, c = np.ones((m, k), np.float32), np.ones((k, n), np.float32), np.full((m, n), 2, np.float32)
        grid.case("MatMul", [a, b], np.full((m, n), k, np.float32))
        grid.case("Gemm", [a, b, c], c + k)
        grid.case("Gemm", [a.T, b.T, np.full(1, 2, np.float32)], c + k, transA=1, transB=1)


def grids():
    grid = Grid("empty")
    fill(grid)
    return [grid]
