#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs files of Python unit tests and closes as tools/check reads it: N passed, N failed, N skipped.
# Usage: run_unittests.py FILE...

import importlib.util
import sys
import unittest
from pathlib import Path


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "failed"


class Listing(unittest.TextTestResult):
    """Also counts what passed."""

    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


def main():
    suite = unittest.TestSuite()
    for name in sys.argv[1:]:
        spec = importlib.util.spec_from_file_location(Path(name).stem, name)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        suite.addTests(unittest.defaultTestLoader.loadTestsFromModule(module))
    result = unittest.TextTestRunner(stream=sys.stdout, resultclass=Listing, verbosity=2).run(suite)
    # Subtests fail one by one; a test of which some failed is not among the passed.
    failures = result.failures + result.errors
    for test, text in failures:
        print(f"FAILED {test.id().removeprefix('__main__.')}: {last_line(text)}")
    for test, reason in result.skipped:
        print(f"SKIPPED {test.id()}: {reason}")
    skipped = f", {len(result.skipped)} skipped" if result.skipped else ""
    print(f"{result.passed} passed, {len(failures)} failed{skipped}")
    return 1 if failures or not result.passed else 0


if __name__ == "__main__":
    sys.exit(main())
