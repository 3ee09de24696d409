# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks what a tool says to wrong requests. The file named first has pairs of lines:
#
#   $ convoy-compile absent.onnx -o new.cvy
#   1 absent.onnx: error: cannot read: {{.+}}
#
# The command runs in the folder named second; it must end with that status, print exactly that one
# line to standard error ({{...}} is a regular expression) and nothing to standard output, and leave
# the folder as it was.

import re
import subprocess
import sys
from pathlib import Path


def pattern(text):
    parts = re.split(r"\{\{(.*?)\}\}", text)
    return "".join(part if index % 2 else re.escape(part) for index, part in enumerate(parts))


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() if path.is_file() else None
            for path in folder.rglob("*")}


def main():
    script, folder = Path(sys.argv[1]), Path(sys.argv[2])
    lines = script.read_text().splitlines()
    cases = [(line[2:], lines[index + 1]) for index, line in enumerate(lines) if line[:2] == "$ "]
    before, bad = contents(folder), 0
    for command, expected in cases:
        status, text = expected.split(" ", 1)
        done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True,
                              timeout=120)
        said = done.stderr.rstrip("\n")
        wrong = []
        if done.returncode != int(status):
            wrong.append(f"exit status {done.returncode}, expected {status}")
        if not re.fullmatch(pattern(text), said):
            wrong.append(f"said: {said}\n  expected: {text}")
        if done.stdout:
            wrong.append(f"printed: {done.stdout[:200]}")
        if contents(folder) != before:
            wrong.append("the folder changed")
            before = contents(folder)
        for problem in wrong:
            print(f"error: {command}\n  {problem}")
        bad += bool(wrong)
    print(f"{len(cases) - bad} of {len(cases)} as expected")
    sys.exit(1 if bad or not cases else 0)


main()
