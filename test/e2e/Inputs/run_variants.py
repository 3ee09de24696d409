# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs each variant of an artifact that this machine has on ONNX test data.

import json
import subprocess
import sys

artifact, data = sys.argv[1:]
inspection = json.loads(subprocess.check_output(["convoy-inspect", artifact, "--json"]))
ran = 0
for variant in inspection["variants"]:
    command = ["convoy-run", artifact, "--target", variant["target"], "--test-data", data,
               "--tolerance", "1e-5"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        ran += 1
    else:
        assert not variant["chosen"], done.stdout + done.stderr
        assert done.returncode == 1 and "error: " in done.stderr and not done.stdout, done
assert ran > 0
