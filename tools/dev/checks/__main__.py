# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs the suites of suites.py and sums them up; tools/check calls it.

import argparse
import sys
import time

import suites
from report import Result


def main():
    names = [name for name, _, _ in suites.SUITES]
    width = max(len(name) for name in names)
    listing = "\n".join(f"  {name:{width}}  {text}" for name, text, _ in suites.SUITES)
    parser = argparse.ArgumentParser(
        prog="tools/check",
        description="Installs what is missing, builds everything and runs every test. The last line "
        "is 'N passed, N failed, N skipped'; the exit status is not 0 if a test failed.",
        epilog=f"suites, in this order:\n{listing}\n\nLogs are in build/check/.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("suite", nargs="*", help="run only these (set-up and build come first anyway)")
    parser.add_argument("--no-setup", action="store_true", help="neither install nor build")
    args = parser.parse_args()
    unknown = [name for name in args.suite if name not in names]
    if unknown:
        parser.error(f"no suite {unknown[0]}; there are {', '.join(names)}")

    needed = {"setup", "build"}
    total = Result()
    start = time.monotonic()
    for name, text, function in suites.SUITES:
        if args.no_setup and name in needed:
            continue
        if args.suite and name not in args.suite and name not in needed:
            continue
        elapsed = time.monotonic() - start
        print(f"\n== {name}: {text} [{elapsed // 60:.0f}:{elapsed % 60:02.0f}]", flush=True)
        try:
            result = function()
        except Exception as error:  # One broken suite must not hide what the others find.
            result = Result()
            result.check(name, f"{type(error).__name__}: {error}")
        counts = f"{result.passed} passed, {len(result.failures)} failed"
        print(f"-- {name}: {counts}" + (f", {result.skipped()} skipped" if result.skips else ""))
        total.add(result)
        if result.failures and name in needed:
            print(f"{name} failed: the suites after it cannot run")
            break

    if total.skips:
        print(f"\nSkipped ({total.skipped()}):")
        for text, count in total.skips:
            print(f"  {text}" + (f" ({count} tests)" if count > 1 else ""))
    if total.failures:
        print(f"\nFailed ({len(total.failures)}):")
        for text in total.failures:
            print(f"  {text}")
    elapsed = time.monotonic() - start
    print(f"\nTook {elapsed // 60:.0f}:{elapsed % 60:02.0f} minutes")
    counts = f"{total.passed} passed, {len(total.failures)} failed"
    print(counts + (f", {total.skipped()} skipped" if total.skips else ""), flush=True)
    return 1 if total.failures or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
