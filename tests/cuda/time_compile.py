#!/usr/bin/env python3
"""Compile times of nbcc and ptxas -O3, side by side, over every PTX file of this folder.

    time_compile.py NBCC PTXAS [ROUNDS]

Both run in turn, ROUNDS times (5), each a whole process; the least time counts. Prints a Markdown
table of the slowest files and a summary. Files below what ptxas supports are assembled for the
oldest architecture that it has.
"""
import glob
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def seconds(command):
    """The time of a command, which must succeed."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def main():
    nbcc, ptxas = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        for path in sorted(glob.glob(os.path.join(HERE, "*.ptx"))):
            with open(path) as file:
                text = file.read()
            target = re.search(r"^\.target\s+sm_(\d+)(\w?)", text, re.M)
            arch = f"sm_{max(int(target[1]), 50)}{target[2]}"
            theirs = [ptxas, "-c", "-O3", "-arch", arch, path, "-o", out]
            if ".debug." in path:
                continue
            ours = [nbcc, path, "-o", out + ".nbx"]
            pairs = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
            rows.append((min(p[0] for p in pairs), min(p[1] for p in pairs), len(text), os.path.basename(path)))
    rows.sort(key=lambda row: row[0] / row[1], reverse=True)
    print("| file | bytes | nbcc ms | ptxas -O3 ms | nbcc / ptxas |\n| --- | --- | --- | --- | --- |")
    for ours, theirs, size, name in rows[:12]:
        print(f"| {name} | {size} | {1e3 * ours:.1f} | {1e3 * theirs:.1f} | {ours / theirs:.2f} |")
    ratios = [ours / theirs for ours, theirs, _, _ in rows]
    slower = sum(ratio > 1 for ratio in ratios)
    print(f"\n{len(rows)} files: {slower} slower than ptxas, geometric mean {statistics.geometric_mean(ratios):.2f}, "
          f"worst {max(ratios):.2f}, slowest nbcc {1e3 * max(r[0] for r in rows):.0f} ms")


main()
