# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks what layer-bench --json wrote for tiny.txt: that numbers are there, and that they are no
# nonsense. How fast something is depends on the machine and is not looked at.

import json
import sys

report = json.load(open(sys.argv[1]))
with_peer = report["onednn"] is not None and "--no-onednn" not in sys.argv[2:]

assert report["lanes"] in (8, 16), report["lanes"]
for rates in (report["at_start"], report["at_end"]):
    # From a slow emulation to a core of twenty years from now.
    assert 0.1 < rates["gflops"] < 10000, rates
    assert 0.1 < rates["memory_gbs"] < 10000, rates
    assert 0.1 < rates["l2_gbs"] < 10000, rates

# Equal lines are one layer.
names = [layer["name"] for layer in report["layers"]]
assert len(names) == len(set(names)) == 6, names
flops = {"conv 64 64 14 14 1 1 1 0": 2 * 64 * 64 * 14 * 14,
         "conv 32 32 14 14 3 3 1 1 1 32": 2 * 32 * 14 * 14 * 9,
         # An output of 7: (14 + 2 * 2 - 2 * 2 - 1) / 2 + 1.
         "conv 32 32 14 14 3 3 2 2 2": 2 * 32 * 32 * 7 * 7 * 9}
for layer in report["layers"]:
    assert layer["flops"] == flops.get(layer["name"], layer["flops"]) > 0, layer
    assert layer["strategies"], layer["name"]
    assert sum(entry["chosen"] for entry in layer["strategies"]) == 1, layer
    for entry in layer["strategies"]:
        assert 0 < entry["us"] < 1e6 and 0 < entry["estimated_us"] < 1e6, entry
        gflops = layer["flops"] / entry["us"] * 1e-3
        assert abs(entry["gflops"] - gflops) <= 1e-6 * gflops, entry
        assert abs(entry["gbs"] - layer["bytes"] / entry["us"] * 1e-3) <= 1e-6 * entry["gbs"], entry
        peak = max(report["at_start"]["gflops"], report["at_end"]["gflops"])
        assert abs(entry["share_of_peak"] - gflops / peak) <= 1e-6 * entry["share_of_peak"], entry
        # Twice: another process may have had half of the core while the peak was measured.
        if not entry["name"].startswith("winograd"):
            assert entry["share_of_peak"] < 2, entry
    assert ("onednn_us" in layer) == with_peer, layer
    if with_peer:
        assert 0 < layer["onednn_us"] < 1e6, layer
strategies = {layer["name"]: {entry["name"] for entry in layer["strategies"]}
              for layer in report["layers"]}
assert "pointwise" in strategies["conv 64 64 14 14 1 1 1 0"], strategies
assert "direct" in strategies["conv 64 64 14 14 3 3 1 1"], strategies
assert "first-layer" in strategies["first 3 16 16 16 3 3 2 1"], strategies
