# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Grids of small models, run for this machine's target and for the reference, and compared with what
# ONNX's text says, which plain loops say here. Usage: run.py CONVOY_CONFORMANCE FOLDER JOBS [GRID...]

import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import axes
import counted
import elementwise
import empty
import resize
import shapes
import windows

MODULES = [windows, axes, counted, elementwise, resize, empty, shapes]


def main():
    tool, folder, jobs, *chosen = sys.argv[1:]
    folder = Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    legend, count = {}, 0
    for module in MODULES:
        for grid in module.grids():
            if not chosen or grid.name in chosen:
                legend.update(grid.write(folder))
                count += grid.count
                print(f"{grid.name}: {grid.count} cases", flush=True)
    failed = passed = 0
    for target in (["--target", "host"], ["--target", "x86-reference", "--no-optimize"]):
        done = subprocess.run([tool, folder, "--jobs", jobs, "--rtol", "1e-5", "--atol", "1e-6", *target],
                              capture_output=True, text=True)
        closing = re.search(r"^(\d+) passed, (\d+) failed$", done.stdout, re.M)
        if not closing:
            print(f"FAIL {target[1]}: {done.stdout[-500:]}{done.stderr[-500:]}")
            failed += 1
            continue
        passed, failed = passed + int(closing[1]), failed + int(closing[2])
        for name, reason in re.findall(r"^FAIL (\S+): (.*)$", done.stdout, re.M):
            output = re.search(r"output (\d+)", reason)
            case = f" [{legend[name][int(output[1])]}]" if output and name in legend else ""
            print(f"FAIL {target[1]} {name}: {reason}{case}")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
