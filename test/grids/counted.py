# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Ops whose results have an extent that only the data tell.

import numpy as np

from grid import Const, Grid, small_integers


def unique(slices):
    """First places of the different slices in lexicographic order, the number of each one's value,
    and how often each occurs."""
    keys = [tuple(part.ravel().tolist()) for part in slices]
    values = sorted(set(keys))
    return ([keys.index(value) for value in values], [values.index(key) for key in keys],
            [keys.count(value) for value in values])


def uniques(grid):
    for shape in ((7,), (5, 2), (2, 5), (4, 2, 2), (2, 6, 1), (1, 3, 3)):
        for dtype in (np.float32, np.int64, np.uint8, np.int8):
            x = small_integers(shape, dtype, low=0, high=2, seed=len(shape) + shape[0])
            for axis in (None, *range(-len(shape), len(shape))):
                parts = x.reshape(-1, 1) if axis is None else np.moveaxis(x, axis, 0)
                firsts, inverse, counts = unique(parts)
                order = list(range(len(firsts)))
                for is_sorted in (1, 0):
                    if not is_sorted:
                        order = sorted(order, key=lambda value: firsts[value])
                    places = [firsts[value] for value in order]
                    y = x.reshape(-1)[places] if axis is None else np.take(x, places, axis)
                    grid.case("Unique", [x], (y, np.array(places), np.array([order.index(v) for v in inverse]),
                                              np.array([counts[value] for value in order])),
                              axis=axis, sorted=is_sorted)


def ranges(grid):
    """From and to what only a run tells: the type bounds the extent."""
    for start, limit, delta in ((0, 5, 1), (-3, 4, 2), (-3, 5, 2), (5, 5, 1), (7, 2, 1), (7, 2, -1), (9, -2, -4),
                                (-32768, 32767, 5000), (32767, -32768, -30000), (3, 4, 100), (-1, 0, -1)):
        y = np.array(list(range(start, limit, delta)), np.int16)
        for constant in (False, True):
            ends = [np.array(start, np.int16), np.array(limit, np.int16)]
            if constant:
                ends[start % 2] = Const(ends[start % 2], np.int16)
            grid.case("Range", [*ends, Const(delta, np.int16)], y)


def grids():
    grid = Grid("counted")
    uniques(grid)
    ranges(grid)
    return [grid]
