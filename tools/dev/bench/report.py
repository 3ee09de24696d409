# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What a benchmark found: as a table, as Markdown between markers, as JSON, as a bar chart.

import json
import math
from dataclasses import dataclass

TITLES = {"convoy": "Convoy", "onnxruntime": "onnxruntime", "openvino": "OpenVINO"}
COLOURS = {"onnxruntime": "#4878a8", "openvino": "#d18440"}


@dataclass
class Row:
    model: str
    threads: int
    batch: int
    precision: str
    entries: dict  # Contestant to Entry.

    def ratio(self, peer, by):
        """Peer / Convoy, above 1 where Convoy is faster; None where one of the two has no time."""
        ours, theirs = self.entries["convoy"], self.entries[peer]
        return theirs.value(by) / ours.value(by) if ours.times and theirs.times else None

    def least_ratio(self, by):
        """Against the faster of the peers."""
        ratios = [self.ratio(peer, by) for peer in self.entries if peer != "convoy"]
        return min((ratio for ratio in ratios if ratio), default=None)


def geometric_mean(values):
    values = [value for value in values if value]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def milliseconds(value):
    return f"{value:.3f}" if value < 10 else f"{value:.2f}" if value < 100 else f"{value:.1f}"


def entry_text(entry):
    if entry.times:
        return f"{milliseconds(entry.min())} / {milliseconds(entry.median())}"
    return "differs" if entry.differs else "failed"


def ratio_text(ratio):
    return f"{ratio:.2f}" if ratio else "-"


def cells(rows, peers, by):
    """The table as lists of texts: titles, rows, and a row of geometric means for each number of
    threads."""
    titles = ["model", "threads", *(f"{TITLES[kind]} ms" for kind in ["convoy", *peers]),
              *(f"{TITLES[peer]} / Convoy" for peer in peers)]
    if len(peers) > 1:
        titles.append("faster peer / Convoy")
    lines = []
    for row in rows:
        line = [row.model, str(row.threads),
                *(entry_text(row.entries[kind]) for kind in ["convoy", *peers]),
                *(ratio_text(row.ratio(peer, by)) for peer in peers)]
        lines.append(line + ([ratio_text(row.least_ratio(by))] if len(peers) > 1 else []))
    means = []
    for threads in sorted({row.threads for row in rows}) if peers else []:
        of = [row for row in rows if row.threads == threads]
        line = ["geometric mean", str(threads), *[""] * (1 + len(peers)),
                *(ratio_text(geometric_mean(row.ratio(peer, by) for row in of)) for peer in peers)]
        least = ratio_text(geometric_mean(row.least_ratio(by) for row in of))
        means.append(line + ([least] if len(peers) > 1 else []))
    return titles, lines, means


def remarks(rows):
    """Why a contestant has no time, a line each."""
    lines = []
    for row in rows:
        for kind, entry in row.entries.items():
            if entry.reason:
                lines.append(f"{row.model}, {TITLES[kind]}, {row.threads} threads: {entry.reason}")
    return lines


def table(rows, peers, by):
    titles, lines, means = cells(rows, peers, by)
    widths = [max(map(len, column)) for column in zip(titles, *lines, *means)]
    rule = ["-" * width for width in widths]
    text = []
    for line in [titles, rule, *lines, *([rule] if means else []), *means]:
        fields = [field.ljust(width) if i == 0 else field.rjust(width)
                  for i, (field, width) in enumerate(zip(line, widths))]
        text.append("  ".join(fields).rstrip())
    return "\n".join([*text, *(f"  {remark}" for remark in remarks(rows))])


def markdown(rows, peers, by, facts):
    titles, lines, means = cells(rows, peers, by)
    text = ["|".join(["", *(f" {title} " for title in titles), ""]),
            "|" + "|".join(["---", *["---:"] * (len(titles) - 1)]) + "|"]
    text += ["|".join(["", *(f" {field} " for field in line), ""]) for line in lines]
    text += ["|".join(["", *(f" **{field}** " if field else "  " for field in line), ""])
             for line in means]
    notes = [f"* {remark.replace('|', '/')}" for remark in remarks(rows)]
    return "\n".join([*facts, "", *text, *(["", *notes] if notes else [])])


def insert(page, marker, text):
    """The page with the text between its markers. Raises ValueError where it has none."""
    begin, end = f"<!-- bench:{marker} -->", "<!-- /bench -->"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"has no lines {begin} and {end}")
    return f"{before}{begin}\n{text}\n{end}{after}"


def as_json(rows):
    results = []
    for row in rows:
        times = {kind: {"min_ms": round(entry.min(), 6), "median_ms": round(entry.median(), 6)}
                 for kind, entry in row.entries.items() if entry.times}
        results.append({"model": row.model, "threads": row.threads, "batch": row.batch,
                        "precision": row.precision, "contestants": times})
    return json.dumps({"results": results}, indent=1) + "\n"


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def chart(rows, peers, by, facts):
    """An SVG of the ratios: a bar for each peer, a line where Convoy and peer are equal."""
    bar, gap, left, width = 13, 9, 250, 620
    ratios = [row.ratio(peer, by) for row in rows for peer in peers]
    limit = max([1.5, *(ratio for ratio in ratios if ratio)]) * 1.04
    top = 62
    height = top + len(rows) * (bar * len(peers) + gap) + 34 + 14 * len(facts)

    def x(ratio):
        return left + width * ratio / limit

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 70}" height="{height}" '
        'font-family="sans-serif" font-size="12" fill="#222">',
        f'<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="{left}" y="22" font-size="15" font-weight="bold">Time of a peer / time of Convoy '
        '(longer: Convoy is faster)</text>',
    ]
    for index, peer in enumerate(peers):
        at = left + 130 * index
        parts.append(f'<rect x="{at}" y="33" width="12" height="12" fill="{COLOURS[peer]}"/>'
                     f'<text x="{at + 18}" y="43">{TITLES[peer]}</text>')
    y = top
    for row in rows:
        middle = y + bar * len(peers) / 2 + 4
        name = f"{row.model}, {row.threads} thread" + ("s" if row.threads > 1 else "")
        parts.append(f'<text x="{left - 8}" y="{middle:.0f}" text-anchor="end">{escaped(name)}</text>')
        for peer in peers:
            ratio, entry = row.ratio(peer, by), row.entries[peer]
            length = x(ratio) - left if ratio else 0
            text = f"{ratio:.2f}" if ratio else "differs" if entry.differs else "no time"
            parts.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{bar - 2}" '
                         f'fill="{COLOURS[peer]}"/><text x="{left + length + 5:.1f}" y="{y + 10}" '
                         f'font-size="11">{text}</text>')
            y += bar
        y += gap
    parts.append(f'<line x1="{x(1):.1f}" y1="{top - 8}" x2="{x(1):.1f}" y2="{y}" stroke="#222" '
                 'stroke-dasharray="4 3"/>')
    for index, fact in enumerate(facts):
        parts.append(f'<text x="8" y="{y + 22 + 14 * index}" font-size="11" fill="#555">'
                     f'{escaped(fact)}</text>')
    return "\n".join([*parts, "</svg>\n"])
