# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks convoy-inspect --json in inspect.test: the numbers must agree with each other.

import json
import sys

report = json.load(open(sys.argv[1]))
assert report["model"] == "digits"
(variant,) = report["variants"]
assert variant["chosen"]
(image,) = variant["inputs"]
assert (image["name"], image["type"], image["bytes"]) == ("image", "f32", 256), image
assert image["dims"] == [-1, 1, 8, 8], image
assert image["dim_names"] in ([], ["N", "", "", ""]), image

launches, buffers = variant["launches"], variant["buffers"]
assert launches and buffers
assert variant["flops"] == sum(launch["flops"] for launch in launches)
# The model's convolutions alone take 2 * 64 * 9 * (32 + 2 * 32 * 32) + 2 * 16 * 9 * 32 * 64 flops.
assert variant["flops"] >= 2 * 64 * 9 * (32 + 2 * 32 * 32) + 2 * 16 * 9 * 32 * 64
# No plan is smaller than what is live at once, and no buffer outside of it.
assert max(launch["live_bytes"] for launch in launches) <= variant["arena_bytes"]
assert variant["arena_lower_bound_bytes"] <= variant["arena_bytes"]
for buffer in buffers:
    assert buffer["offset"] % 64 == 0
    assert buffer["offset"] + buffer["bytes"] <= variant["arena_bytes"], buffer
    assert buffer["first_launch"] <= buffer["last_launch"] < len(launches), buffer
for launch in launches:
    assert launch["kernel"] < len(variant["kernels"]), launch
    assert any(arg["writes"] for arg in launch["args"]), launch
