# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What tools/bench does once the packages are there.

import os
import platform
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

import contest
import models
import options
import report


def machine():
    """The CPU in words. Virtual machines often hide the name, so family and model are said too."""
    with open("/proc/cpuinfo") as file:
        facts = dict(map(str.strip, line.split(":", 1)) for line in file if ":" in line)
    name = facts.get("model name", platform.machine())
    if "cpu family" in facts:
        name += f" (family {facts['cpu family']}, model {facts['model']})"
    return f"{name}, {len(os.sched_getaffinity(0))} cores"


def busy():
    """A warning if the machine does other things."""
    with open("/proc/loadavg") as file:
        load = float(file.read().split()[0])
    return f"warning: something else is running here (load {load:.1f})" if load > 0.5 else ""


def facts(args, versions):
    """What a reader must know about the figures."""
    contestants = ", ".join(f"{report.TITLES[kind]} {versions[kind]}"
                            for kind in ["convoy", *args.peers] if kind in versions)
    how = f"{args.by} of {args.rounds} rounds of {args.slice:g} s for ratios"
    return [f"{machine()}; {contestants}.",
            f"Batch {args.batch}, f32 models in {args.precision}; minimum / median in ms; {how}."]


def write(path, text):
    if path == "-":
        sys.stdout.write(text)
    else:
        Path(path).write_text(text)


def run_all(args):
    rows, versions = [], {}
    for model in models.find(args.models):
        refused = ""
        try:
            models.prepare(model, args)
        except models.Refused as reason:
            refused = str(reason)
        for threads in args.threads:
            if refused:
                entries = {kind: contest.Entry() for kind in ["convoy", *args.peers]}
                entries["convoy"].reason = refused
            else:
                entries, found = contest.hold(model, threads, args)
                versions.update(found)
            row = report.Row(model.name, threads, args.batch, args.precision, entries)
            rows.append(row)
            texts = ", ".join(f"{report.TITLES[kind]} {report.entry_text(entry)}"
                              for kind, entry in entries.items())
            print(f"{model.name}, {threads} threads: {texts}", file=sys.stderr, flush=True)
        model.inputs.clear()
    return rows, versions


def main():
    args = options.parse(sys.argv[1:])
    page = None
    if args.markdown:
        page = Path(args.markdown).read_text()
        try:  # Before an hour of measuring, not after.
            report.insert(page, args.marker, "")
        except ValueError as error:
            raise SystemExit(f"error: {args.markdown} {error}")
    warning = busy()
    if warning:
        print(warning, file=sys.stderr)
    rows, versions = run_all(args)
    if args.json != "-":
        print(report.table(rows, args.peers, args.by))
    if args.json:
        write(args.json, report.as_json(rows))
    if args.chart:
        write(args.chart, report.chart(rows, args.peers, args.by, facts(args, versions)))
    if page is not None:
        text = report.markdown(rows, args.peers, args.by, facts(args, versions))
        write(args.markdown, report.insert(page, args.marker, text))
    wrong = [row for row in rows if not row.entries["convoy"].times
             or any(entry.differs for entry in row.entries.values())]
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted")
