# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# replay_kept.py FUZZER FOLDER: runs the command in the report of each case below FOLDER that
# replays it, which must fail, and the same without the fault, which must pass.

import shlex
import subprocess
import sys
from pathlib import Path

fuzzer, folder = sys.argv[1:]
cases = sorted(Path(folder).glob("seed-*"))
assert cases, f"nothing kept in {folder}"
for case in cases:
    lines = (case / "report.txt").read_text().splitlines()
    command = next(shlex.split(line) for line in lines if "--replay" in line)
    command[0] = fuzzer
    failed = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    assert failed.returncode == 1 and "differs from" in failed.stdout, failed.stdout
    whole = [word for i, word in enumerate(command)
             if word != "--inject" and (i == 0 or command[i - 1] != "--inject")]
    passed = subprocess.run(whole, stdout=subprocess.PIPE, text=True)
    assert passed.returncode == 0, passed.stdout
