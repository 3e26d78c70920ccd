"""Runs the five versions of docs/faster.md and draws their pictures from what nbcc prints.

    python3 docs/faster/draw.py target/release/nbcc

Needs Python alone. The page quotes the numbers that this prints.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
IMAGE = HERE.parent.parent / "examples" / "ipim" / "small.png"
VERSIONS = ["first", "tiles", "staged", "free", "pasted"]
# What a control core does in a cycle, in the order of the table of a run.
CAUSES = {
    "issue": "#2f6f4f",
    "true_dependence": "#c8553d",
    "anti_dependence": "#e8a33d",
    "scratchpad_order": "#5b7db1",
    "sync": "#8a6fb0",
    "others": "#b9b9b9",
}
WIDTH = 760


def run(nbcc, version, folder):
    """Cycles, estimate, cycles by cause over all cores, and the events of vault 0's core."""
    source = HERE / f"{version}.halide"
    common = ["--machine", "ipim-vault", "--input", f"in={IMAGE}"]
    stats, trace = folder / "stats.json", folder / "trace.json"
    explained = subprocess.run([nbcc, "explain", source, *common], capture_output=True, text=True, check=True)
    estimate = int(re.search(r"costs in all: about (\d+) cycles", explained.stdout).group(1))
    files = ["--output", f"out={folder / 'out.npy'}", "--stats", stats, "--trace", trace]
    subprocess.run([nbcc, "run", source, *common, *files], capture_output=True, check=True)
    stats = json.loads(stats.read_text())
    core, stall = stats["core"], dict(stats["stall"], issue=stats["core"]["issue_cycles"])
    causes = {cause: stall[cause] / core["cycles"] for cause in CAUSES if cause != "others"}
    causes["others"] = 1 - sum(causes.values())
    events = json.loads(trace.read_text())["traceEvents"]
    own = [e for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) == (0, 0)]
    return int(stats["cycles"]), estimate, causes, own


def svg(height, body):
    text = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">\n'
    return text + f'<rect width="{WIDTH}" height="{height}" fill="white"/>\n' + "\n".join(body) + "\n</svg>\n"


def rect(x, y, width, height, colour):
    return f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" fill="{colour}"/>'


def label(x, y, text, anchor="start"):
    return f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}">{text}</text>'


def legend(y):
    body, x = [], 90
    for cause, colour in CAUSES.items():
        body += [rect(x, y - 10, 12, 12, colour), label(x + 16, y, cause.replace("_", " "))]
        x += 36 + 7 * len(cause)
    return body


def bars(runs):
    """A bar a version, as long as its cycles, parted by causes; a line where the estimate is."""
    most = max(max(cycles, estimate) for cycles, estimate, _, _ in runs.values())
    scale, body = (WIDTH - 220) / most, legend(20)
    for k, (version, (cycles, estimate, causes, _)) in enumerate(runs.items()):
        y, x = 40 + 36 * k, 90.0
        body.append(label(80, y + 17, version, "end"))
        for cause, share in causes.items():
            body.append(rect(x, y, share * cycles * scale, 24, CAUSES[cause]))
            x += share * cycles * scale
        at = 90 + estimate * scale
        body.append(f'<line x1="{at:.1f}" y1="{y - 4}" x2="{at:.1f}" y2="{y + 28}" stroke="black" stroke-width="2"/>')
        if at - x > 60:
            body.append(label(x + 6, y + 17, f"{cycles:,}"))
            body.append(label(at + 6, y + 17, f"estimated {estimate:,}"))
        else:
            body.append(label(max(x, at) + 6, y + 17, f"{cycles:,}, estimated {estimate:,}"))
    return svg(50 + 36 * len(runs), body)


def timeline(runs):
    """What the core of vault 0 does over time: for each column, the share of its cycles by cause."""
    body, most = legend(20), max(cycles for cycles, _, _, _ in runs.values())
    columns, height = 165, 60
    step = -(-most // columns)
    for k, (version, (_, _, _, events)) in enumerate(runs.items()):
        y = 36 + (height + 14) * k
        body.append(label(80, y + height / 2, version, "end"))
        spent = [dict.fromkeys(CAUSES, 0.0) for _ in range(columns)]
        for event in events:
            name = event["name"]
            stalls = name in CAUSES or name in ("branch", "tsv", "queue_full", "drain", "output_dependence")
            cause = name if name in CAUSES else "others" if stalls else "issue"
            # Microseconds, of which a cycle is a thousandth; issuing takes one.
            start = round(event["ts"] * 1000)
            end = start + (round(event["dur"] * 1000) if stalls else 1)
            for column in range(start // step, min(-(-end // step), columns)):
                spent[column][cause] += min(end, (column + 1) * step) - max(start, column * step)
        for column, causes in enumerate(spent):
            top = y + height
            for cause, cycles in causes.items():
                part = round(min(cycles / step, 1) * height, 1)
                if part > 0:
                    top -= part
                    body.append(rect(90 + 4 * column, round(top, 1), 4, part, CAUSES[cause]))
    return svg(40 + (height + 14) * len(runs), body)


def main():
    nbcc = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        runs = {version: run(nbcc, version, pathlib.Path(folder)) for version in VERSIONS}
    (HERE / "cycles.svg").write_text(bars(runs))
    (HERE / "timeline.svg").write_text(timeline({v: runs[v] for v in (VERSIONS[0], VERSIONS[-1])}))
    for version, (cycles, estimate, causes, _) in runs.items():
        shares = ", ".join(f"{cause} {100 * share:.0f} %" for cause, share in causes.items())
        print(f"{version}: {cycles:,} cycles, estimated {estimate:,}: {shares}")


main()
