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
    digits = 4 if value < 0.1 else 3 if value < 10 else 2 if value < 100 else 1
    return f"{value:.{digits}f}"


def entry_text(entry):
    if entry.times:
        return f"{milliseconds(entry.min())} / {milliseconds(entry.median())}"
    return "differs" if entry.differs else "failed" if entry.reason else "-"


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
    """Why a contestant has no time, a line for each reason."""
    lines = {}
    for row in rows:
        for kind, entry in row.entries.items():
            if entry.reason:
                reason = entry.reason if len(entry.reason) < 240 else entry.reason[:237] + "..."
                lines[f"{row.model}, {TITLES[kind]}: {reason}"] = None
    return list(lines)


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


class Axis:
    """Places of ratios on a logarithmic scale, in which twice and half as fast are equally far
    from 1."""

    def __init__(self, ratios, left, width):
        self.low = math.floor(math.log2(min([0.5, *ratios])))
        self.high = math.ceil(math.log2(max([2.0, *ratios])))
        self.left, self.width = left, width

    def at(self, ratio):
        part = (math.log2(ratio) - self.low) / (self.high - self.low)
        return self.left + self.width * part

    def ticks(self):
        return [2.0 ** power for power in range(self.low, self.high + 1)]


def bar(axis, y, height, ratio, missing, colour):
    """From 1 to the ratio, and the ratio beside its end."""
    one = axis.at(1)
    if not ratio:
        return f'<text x="{one + 5:.1f}" y="{y + 10}" font-size="11" fill="#888">{missing}</text>'
    end = axis.at(ratio)
    place, anchor = (end + 4, "start") if ratio >= 1 else (end - 4, "end")
    return (f'<rect x="{min(one, end):.1f}" y="{y}" width="{abs(end - one):.1f}" '
            f'height="{height - 2}" fill="{colour}"/><text x="{place:.1f}" y="{y + 10}" '
            f'font-size="11" text-anchor="{anchor}">{ratio:.2f}</text>')


def tick_text(tick):
    return f"{tick:g}" if tick >= 0.5 else f"1/{1 / tick:g}"


def no_ratio_text(row, peer):
    return entry_text(row.entries[peer]) if row.entries["convoy"].times else "Convoy failed"


def chart(rows, peers, by, facts):
    """An SVG of the ratios: a bar for each model and peer, and for the geometric means."""
    height, gap, left, width, top = 13, 9, 270, 560, 84
    axis = Axis([ratio for row in rows for peer in peers if (ratio := row.ratio(peer, by))], left,
                width)
    groups = []  # Name, and ratio and what to say without one, for each peer.
    for row in rows:
        groups.append((row.model, row.threads,
                       [(row.ratio(peer, by), no_ratio_text(row, peer)) for peer in peers]))
    for threads in sorted({row.threads for row in rows}):
        of = [row for row in rows if row.threads == threads]
        groups.append(("geometric mean", threads,
                       [(geometric_mean(row.ratio(peer, by) for row in of), "") for peer in peers]))
    bottom = top + len(groups) * (height * len(peers) + gap)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 60}" '
        f'height="{bottom + 24 + 14 * len(facts)}" font-family="sans-serif" font-size="12" '
        'fill="#222">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="{left}" y="22" font-size="15" font-weight="bold">Time of a peer / time of Convoy'
        '</text>',
    ]
    for index, peer in enumerate(peers):
        at = left + 130 * index
        parts.append(f'<rect x="{at}" y="33" width="12" height="12" fill="{COLOURS[peer]}"/>'
                     f'<text x="{at + 18}" y="43">{TITLES[peer]}</text>')
    parts.append(f'<text x="{left + width}" y="43" text-anchor="end" fill="#555">'
                 'right of 1: Convoy is faster</text>')
    for tick in axis.ticks():
        x = f"{axis.at(tick):.1f}"
        parts.append(f'<line x1="{x}" y1="{top - 8}" x2="{x}" y2="{bottom}" stroke="'
                     f'{"#222" if tick == 1 else "#ddd"}"/><text x="{x}" y="{top - 13}" '
                     f'text-anchor="middle" fill="#555">{tick_text(tick)}</text>')
    y = top
    for name, threads, bars in groups:
        text = f"{name}, {threads} thread" + ("s" if threads > 1 else "")
        weight = ' font-weight="bold"' if name == "geometric mean" else ""
        parts.append(f'<text x="{left - 10}" y="{y + height * len(peers) / 2 + 4:.0f}" '
                     f'text-anchor="end"{weight}>{escaped(text)}</text>')
        for peer, (ratio, missing) in zip(peers, bars):
            parts.append(bar(axis, y, height, ratio, missing, COLOURS[peer]))
            y += height
        y += gap
    for index, fact in enumerate(facts):
        parts.append(f'<text x="8" y="{bottom + 20 + 14 * index}" font-size="11" fill="#555">'
                     f'{escaped(fact)}</text>')
    return "\n".join([*parts, "</svg>\n"])
