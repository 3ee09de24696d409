# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# force_choice.py IN OUT CHANGE: writes a tuning cache with another one's settings and ops.
#   slowest: for each op that has several times, the slowest becomes by far the fastest
#   unknown: for each op, a strategy that nobody has is the fastest
#   version: all is of another compiler

import json
import sys


def main():
    source, target, change = sys.argv[1:]
    with open(source) as stream:
        data = json.load(stream)
    changed = 0
    for setting in data["settings"]:
        if change == "version":
            setting["compiler"] += "-other"
            changed += 1
        for times in setting["ops"].values():
            if change == "slowest" and len(times) > 1:
                max(times, key=lambda time: time[1])[1] = 1
                changed += 1
            elif change == "unknown":
                times.append(["no-such-strategy 7x3", 1])
                changed += 1
    if not changed:
        sys.exit("nothing to change")
    with open(target, "w") as stream:
        json.dump(data, stream)


main()
