# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What a suite reports, and how the reports of other test tools are read.

import json
import re
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build"
LOGS = BUILD / "check"


@dataclass
class Result:
    """What one suite found. Add tests with check() and skip(), or take over another tool's count."""

    passed: int = 0
    failures: list = field(default_factory=list)  # Texts.
    skips: list = field(default_factory=list)  # (Text, number of tests).

    def check(self, name, error=""):
        """Counts a test; an error text means that it failed."""
        if error:
            self.failures.append(f"{name}: {error}")
            print(f"  FAILED {name}: {error}", flush=True)
        else:
            self.passed += 1
        return not error

    def skip(self, name, reason, count=1):
        self.skips.append((f"{name}: {reason}", count))

    def skipped(self):
        return sum(count for _, count in self.skips)

    def add(self, other):
        self.passed += other.passed
        self.failures += other.failures
        self.skips += other.skips


@dataclass
class Run:
    code: int
    output: str
    seconds: float

    def error(self):
        """Empty if the command succeeded, else what it says went wrong, or its last words."""
        if self.code == 0:
            return ""
        words = [line for line in self.output.splitlines() if line.strip()]
        words = [line for line in words if line.startswith("FAILED ")][:1] or words
        how = f"signal {-self.code}" if self.code < 0 else f"exit status {self.code}"
        return f"{how}: {words[-1].strip()[:300]}" if words else how


def run(command, log=None, timeout=1800, show=False, env=None):
    """Runs a command in the repository root. Its output is captured, and written to LOGS/log."""
    command = [str(word) for word in command]
    start = time.monotonic()
    output = []
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if show:
        for line in process.stdout:
            print(f"  {line}", end="", flush=True)
            output.append(line)
        code = process.wait()
    else:
        try:
            text, _ = process.communicate(timeout=timeout)
            code = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            text, _ = process.communicate()
            text += f"\nstopped after {timeout} s"
            code = 124
        output.append(text)
    text = "".join(output)
    if log:
        LOGS.mkdir(parents=True, exist_ok=True)
        (LOGS / log).write_text(f"$ {' '.join(command)}\n{text}")
    return Run(code, text, time.monotonic() - start)


CLOSING_LINE = re.compile(r"^(?:\w+: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\s*$", re.M)


def from_closing_line(name, done, one_test=False):
    """A tool that ends with 'N passed, N failed[, N skipped]', its failures on lines of their own
    that begin with FAIL, its skips on lines that begin with SKIP. As `one_test`, all that passes
    counts once: random input is no list of tests."""
    result = Result()
    counts = CLOSING_LINE.findall(done.output)
    if not counts:
        result.check(name, done.error() or "printed no closing line 'N passed, N failed'")
        return result
    passed, failed, skipped = (int(count or 0) for count in counts[-1])
    result.passed = min(passed, 1) if one_test else passed
    lines = done.output.splitlines()
    named = [line.strip() for line in lines if re.match(r"\s*FAIL", line)]
    for index in range(failed):
        text = re.sub(r"^FAIL\w*:?\s*", "", named[index]) if index < len(named) else "see the log"
        result.check(name, text)
    reasons = [line.strip() for line in lines if re.match(r"\s*SKIP", line)]
    for index in range(skipped):
        text = re.sub(r"^SKIP\w*:?\s*", "", reasons[index]) if index < len(reasons) else "see the log"
        result.skip(name, text)
    if done.code != 0 and failed == 0:
        result.check(name, done.error())
    return result


def run_gtest(binary, label, timeout=1200, env=None):
    """Runs a GoogleTest binary and counts its tests."""
    result = Result()
    LOGS.mkdir(parents=True, exist_ok=True)
    report = LOGS / f"{label}.json"
    report.unlink(missing_ok=True)
    done = run([binary, f"--gtest_output=json:{report}", "--gtest_brief=1"], f"{label}.log", timeout,
               env=env)
    try:
        suites = json.loads(report.read_text())["testsuites"]
    except (OSError, ValueError, KeyError):
        # A crash leaves no report: the last test that was begun is in the log.
        result.check(label, done.error() or "wrote no report")
        return result
    for suite in suites:
        for test in suite["testsuite"]:
            name = f"{label} {suite['name']}.{test['name']}"
            if test.get("failures"):
                text = test["failures"][0].get("failure", "failed")
                result.check(name, " ".join(text.split())[:300])
            elif test.get("result") == "SKIPPED":
                result.skip(name, skip_reason(done.output, suite["name"], test["name"]))
            elif test.get("status") == "RUN":
                result.passed += 1
    if done.code != 0 and not result.failures:
        result.check(label, done.error())
    print(f"  {label}: {result.passed} passed in {done.seconds:.1f} s", flush=True)
    return result


def skip_reason(output, suite, test):
    """GoogleTest 1.12 keeps the text of GTEST_SKIP() out of its report: it is in the output, before
    the line that says that the test was skipped."""
    lines = output.splitlines()
    for index, line in enumerate(lines):
        if "SKIPPED" in line and f"{suite}.{test}" in line and index > 0:
            return lines[index - 1].strip() or "skipped"
    return "skipped"


def run_lit(lit, folder, label, timeout=1800):
    """Runs lit over a folder and counts its tests."""
    result = Result()
    LOGS.mkdir(parents=True, exist_ok=True)
    report = LOGS / f"{label}.xml"
    report.unlink(missing_ok=True)
    done = run([lit, "-sv", "--no-progress-bar", f"--xunit-xml-output={report}", folder],
               f"{label}.log", timeout)
    if not report.exists():
        result.check(label, done.error() or "wrote no report")
        return result
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{label} {case.get('classname', '')}/{case.get('name', '')}"
        failure, skipped = case.find("failure"), case.find("skipped")
        if failure is not None:
            # What commands print is behind "# | "; the rest is lit's own account.
            lines = [line[4:] for line in (failure.text or "").splitlines() if line[:4] == "# | "]
            errors = [line for line in lines if "error" in line] or lines
            result.check(name, errors[0].strip()[:300] if errors else f"see build/check/{label}.log")
        elif skipped is not None:
            result.skip(name, skipped.get("message") or "unsupported here")
        else:
            result.passed += 1
    if done.code != 0 and not result.failures:
        result.check(label, done.error())
    print(f"  {label}: {result.passed} passed in {done.seconds:.1f} s", flush=True)
    return result
