# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks what convoy-run --json and --trace wrote in measure.test.

import json
import sys

report = json.load(open(sys.argv[1]))
trace = json.load(open(sys.argv[2]))

assert report["batch"] == 4, report["batch"]
assert report["name"] == "digits", report["name"]
times = report["benchmark"]
assert times["runs"] == 5
assert 0 < times["min_ms"] <= times["median_ms"] <= times["p99_ms"] <= times["max_ms"], times
assert times["min_ms"] <= times["mean_ms"] <= times["max_ms"], times

launches = report["profile"]["launches"]
events = trace["traceEvents"]
assert len(launches) == len(events) > 0
assert any(launch["op"] == "conv" and launch["flops"] > 0 for launch in launches)
# The launches of a trace are laid end to end, in the order of the profile.
end = 0
for launch, event in zip(launches, events):
    assert event["name"] == launch["name"] and event["ph"] == "X", event
    assert abs(event["ts"] - end) < 1e-3, event
    end = event["ts"] + event["dur"]
