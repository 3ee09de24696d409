# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compares an artifact of several targets with artifacts of one each, in the order of its variants.

import json
import subprocess
import sys


def inspect(path):
    return json.loads(subprocess.check_output(["convoy-inspect", path, "--json"]))


together, *alone = [inspect(path) for path in sys.argv[1:]]
assert len(together["variants"]) >= len(alone)


def essence(variant):
    """All but what depends on the company: who is chosen, and where in the pool a constant lies."""
    for launch in variant["launches"]:
        for argument in launch["args"]:
            if argument["space"] == "constant":
                del argument["offset"]
    return {key: value for key, value in variant.items() if key not in ("chosen", "shares")}


for variant, other in zip(together["variants"], alone):
    assert essence(variant) == essence(other["variants"][0]), variant["target"]
names = [variant["target"] for variant in together["variants"]]
assert len(set(names)) == len(names), names
for other in together["variants"][1:]:
    for key in ("inputs", "outputs", "flops"):
        assert other[key] == together["variants"][0][key], (other["target"], key)

# Weights are packed for each width, but some constants lie as they are: less than the sum tells
# that the pool is one.
separate = [artifact["constant_bytes"] for artifact in alone]
if len(alone) == len(together["variants"]):
    assert together["constant_bytes"] < sum(separate), (separate, together["constant_bytes"])
assert max(separate) <= together["constant_bytes"], (separate, together["constant_bytes"])
