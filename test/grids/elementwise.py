# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Broadcasting of every pair of ranks; integers that wrap around, divide and leave rests; NaN,
# infinities and the negative zero.

import itertools
import math

import ml_dtypes
import numpy as np

from grid import Const, Grid, small_integers

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
SHAPES = [(), (1,), (4,), (3, 1), (3, 4), (2, 1, 4), (2, 3, 1), (1, 1, 2, 3, 4), (2, 2, 1, 3, 1)]


def broadcast(shapes):
    """"A dimension is 1 or equal", shapes aligned at their ends."""
    rank = max(map(len, shapes))
    long = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    result = []
    for extents in zip(*long):
        wide = {n for n in extents if n != 1}
        if len(wide) > 1:
            return None
        result.append(wide.pop() if wide else 1)
    return tuple(result)


def element(x, where):
    where = where[len(where) - x.ndim:]
    return x[tuple(0 if n == 1 else w for n, w in zip(x.shape, where))]


def elementwise(function, inputs, dtype):
    shape = broadcast([x.shape for x in inputs])
    y = np.zeros(shape, dtype)
    for where in np.ndindex(*shape):
        y[where] = function(*(element(x, where).item() for x in inputs))
    return y


BINARY = {
    "Add": lambda a, b: a + b, "Sub": lambda a, b: a - b, "Mul": lambda a, b: a * b,
    "Div": lambda a, b: a / b, "Pow": lambda a, b: a ** b, "PRelu": lambda a, b: a if a >= 0 else a * b,
    "Equal": lambda a, b: a == b, "Less": lambda a, b: a < b, "GreaterOrEqual": lambda a, b: a >= b,
    "Max": max, "Min": min,
}


def broadcasting(grid):
    for (i, left), (j, right) in itertools.product(enumerate(SHAPES), enumerate(SHAPES)):
        if broadcast([left, right]) is None:
            continue
        a, b = small_integers(left, low=1, seed=i), small_integers(right, low=1, seed=10 + j)
        for n, (op, function) in enumerate(BINARY.items()):
            # Each pair of shapes with some ops, so that each op meets each pair of ranks in some shape.
            if (i + 2 * j + n) % 3 and op not in ("Add", "Less"):
                continue
            if op == "PRelu" and broadcast([left, right]) != left:
                continue  # "slope: unidirectional broadcastable to X"
            boolean = op in ("Equal", "Less", "GreaterOrEqual")
            grid.case(op, [a, b], elementwise(function, [a, b], bool if boolean else np.float32))
        for op, function in (("And", lambda p, q: p and q), ("Xor", lambda p, q: p != q)):
            p, q = a > 2, b > 2
            grid.case(op, [p, q], elementwise(function, [p, q], bool))
        for k in range(0, len(SHAPES), 4):
            if broadcast([left, right, SHAPES[k]]) is None:
                continue
            c = small_integers(SHAPES[k], seed=20 + k)
            grid.case("Where", [a > 2, b, c],
                      elementwise(lambda p, x, y: x if p else y, [a > 2, b, c], np.float32))
            for op, function in (("Sum", lambda *v: sum(v)), ("Mean", lambda *v: sum(v) / 3),
                                 ("Max", max), ("Min", min)):
                grid.case(op, [a, b, c], elementwise(function, [a, b, c], np.float32))
        y = np.zeros(broadcast([left, right]), np.float32)
        for where in np.ndindex(*y.shape):
            y[where] = element(a, where)
        grid.case("Expand", [a, Const(right)], y)


def wrap(value, dtype):
    bits = np.dtype(dtype).itemsize * 8
    value %= 1 << bits
    return value - (1 << bits) if np.issubdtype(dtype, np.signedinteger) and value >> (bits - 1) else value


def quotient(a, b):
    """"Integer division truncates", and the rest of it has the sign of the dividend."""
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def integers(grid):
    for dtype in INTEGERS:
        info = np.iinfo(dtype)
        values = [v for v in (info.min, info.min + 1, -7, -3, -1, 0, 1, 2, 5, 100, info.max - 1, info.max)
                  if info.min <= v <= info.max]
        pairs = list(itertools.product(values, values))
        a, b = (np.array(side, dtype) for side in zip(*pairs))
        results = lambda f, p: np.array([wrap(f(int(x), int(y)), dtype) for x, y in p], dtype)
        for op, f in (("Add", lambda x, y: x + y), ("Sub", lambda x, y: x - y), ("Mul", lambda x, y: x * y),
                      ("Max", max), ("Min", min), ("BitwiseAnd", lambda x, y: x & y),
                      ("BitwiseOr", lambda x, y: x | y), ("BitwiseXor", lambda x, y: x ^ y)):
            grid.case(op, [a, b], results(f, pairs))
        for op, f in (("Less", lambda x, y: x < y), ("Greater", lambda x, y: x > y),
                      ("Equal", lambda x, y: x == y), ("LessOrEqual", lambda x, y: x <= y)):
            grid.case(op, [a, b], np.array([f(x, y) for x, y in pairs], bool))
        # Divisors other than 0, and no quotient that the type lacks.
        defined = [(x, y) for x, y in pairs if y and not (x == info.min < 0 and y == -1)]
        a, b = (np.array(side, dtype) for side in zip(*defined))
        grid.case("Div", [a, b], results(quotient, defined))
        grid.case("Mod", [a, b], results(lambda x, y: x % y, defined))
        grid.case("Mod", [a, b], results(lambda x, y: x - y * quotient(x, y), defined), fmod=1)
        v = np.array(values, dtype)
        unary = lambda f: np.array([wrap(f(x), dtype) for x in values], dtype)
        grid.case("Abs", [v], unary(abs))
        grid.case("Sign", [v], unary(lambda x: (x > 0) - (x < 0)))
        grid.case("BitwiseNot", [v], unary(lambda x: ~x))
        grid.case("Clip", [v, np.array(1, dtype), np.array(5, dtype)], unary(lambda x: min(max(x, 1), 5)))
        if info.min < 0:
            grid.case("Neg", [v], unary(lambda x: -x))
            grid.case("Relu", [v], unary(lambda x: max(x, 0)))
        else:
            for direction in ("LEFT", "RIGHT"):
                for amount in (0, 1, info.bits - 1):
                    shift = (lambda x: x << amount) if direction == "LEFT" else (lambda x: x >> amount)
                    grid.case("BitShift", [v, np.array([amount], dtype)], unary(shift), direction=direction)
        for target in INTEGERS:
            grid.case("Cast", [v], np.array([wrap(x, target) for x in values], target),
                      to=int(np_type(target)))
        grid.case("Cast", [v], np.array([x != 0 for x in values]), to=int(np_type(bool)))


def np_type(dtype):
    from onnx import helper
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def unordered(x, y, choose):
    return math.nan if math.isnan(x) or math.isnan(y) else choose(x, y)


def special(grid):
    values = [math.nan, math.inf, -math.inf, -0.0, 0.0, 1.5, -1.5]
    pairs = list(itertools.product(values, values))
    for dtype in FLOATS:
        make = lambda v: np.array(v, dtype)
        v = make(values)
        a, b = (make(side) for side in zip(*pairs))
        for op, f in (("Max", max), ("Min", min)):
            grid.case(op, [a, b], make([unordered(x, y, f) for x, y in pairs]))
        for op, f in (("Less", lambda x, y: x < y), ("Greater", lambda x, y: x > y),
                      ("Equal", lambda x, y: x == y), ("LessOrEqual", lambda x, y: x <= y),
                      ("GreaterOrEqual", lambda x, y: x >= y)):
            grid.case(op, [a, b], np.array([f(x, y) for x, y in pairs]))
        with np.errstate(all="ignore"):
            for op, f in (("Add", np.add), ("Mul", np.multiply), ("Div", np.divide)):
                grid.case(op, [a, b], f(make(a), make(b)).astype(dtype))
            # C's fmod, which numpy's is.
            grid.case("Mod", [a, b], np.fmod(a.astype(np.float64), b.astype(np.float64)).astype(dtype), fmod=1)
        each = lambda f: make([f(x) for x in values])
        kept = lambda f: each(lambda x: x if math.isnan(x) else f(x))
        grid.case("Relu", [v], kept(lambda x: max(x, 0.0)))
        grid.case("Abs", [v], kept(abs))
        grid.case("Sign", [v], kept(lambda x: float((x > 0) - (x < 0))))
        grid.case("Clip", [v, make(-1), make(1)], kept(lambda x: min(max(x, -1), 1)))
        grid.case("LeakyRelu", [v], kept(lambda x: x if x >= 0 else 0.5 * x), alpha=0.5)
        grid.case("IsNaN", [v], np.array([math.isnan(x) for x in values]))
        grid.case("IsInf", [v], np.array([math.isinf(x) for x in values]))
        grid.case("IsInf", [v], np.array([x == math.inf for x in values]), detect_negative=0)
        grid.case("Cast", [v], np.array([x != 0 for x in values]), to=int(np_type(bool)))
        for op, limits in (("Tanh", (1, -1)), ("Sigmoid", (1, 0)), ("Exp", (math.inf, 0)),
                           ("Softplus", (math.inf, 0)), ("Erf", (1, -1)), ("Elu", (math.inf, -1))):
            grid.case(op, [make([math.nan, math.inf, -math.inf])], make([math.nan, *limits]))
        for op, f in (("Floor", math.floor), ("Ceil", math.ceil), ("Round", round)):
            grid.case(op, [v], kept(lambda x: x if math.isinf(x) else float(f(x))))
        # The sign of a zero shows in its reciprocal.
        grid.case("Reciprocal", [make([-0.0, 0.0, math.inf])], make([-math.inf, math.inf, 0.0]))
        rows = make([[1, math.nan, 3], [math.inf, 2, -math.inf], [-math.inf] * 3, [-0.0, 0.0, -0.0]])
        several = lambda f: make([[math.nan if any(map(math.isnan, r)) else f(r)] for r in rows.tolist()])
        for op, f in (("ReduceMax", max), ("ReduceMin", min)):
            grid.case(op, [rows, Const([1])], several(f))
        grid.case("ReduceSum", [rows, Const([1])], several(sum))
        grid.case("ArgMax", [rows], np.array([[1], [0], [0], [0]]), axis=1)
        grid.case("ArgMin", [rows], np.array([[1], [2], [0], [0]]), axis=1)
        image = rows.reshape(1, 1, 4, 3)
        grid.case("MaxPool", [image], several(max).reshape(1, 1, 4, 1), kernel_shape=[1, 3])
        grid.case("GlobalMaxPool", [image], make([[[[math.nan]]]]))
        # All outside but -inf: padding is less than every element.
        grid.case("MaxPool", [make([[[-math.inf, -math.inf]]])], make([[[-math.inf] * 2]]),
                  kernel_shape=[3], pads=[1, 1])


def grids():
    result = []
    for fill in (broadcasting, integers, special):
        grid = Grid(fill.__name__)
        fill(grid)
        result.append(grid)
    return result
