"""Compiles and runs examples/sdpnm/ddc.c and draws the pictures of docs/ddc.md from what nbcc prints.

    python3 docs/ddc/draw.py target/release/nbcc

Needs Python alone. The page quotes the numbers that this prints.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples" / "sdpnm"
# Sorts of operations: loads and stores, products, sums and differences, what hands on, the rest.
SORTS = {"memory": "#5b7db1", "product": "#c8553d", "sum": "#2f6f4f", "hands on": "#b9b9b9", "other": "#e8a33d"}
WORDS = {
    "load": "memory", "store": "memory", "add": "sum", "sub": "sum", "pass": "hands on",
    **dict.fromkeys(["mults", "mcc", "cmult", "rfa", "cmac", "mcca", "cmsub", "mccs", "square"], "product"),
}
CELL = 22


def case():
    lines = (EXAMPLES / "manifest.jsonl").read_text().splitlines()
    return next(each for each in map(json.loads, lines) if each["case"] == "ddc")


def packages(text):
    """Operations by package: word, PE, slot."""
    found, sizes, contexts = [], re.findall(r'\\"name\\":\\"(.*?)\\".*?\\"ii\\":(\d+).*?\\"contexts\\":(\d+)', text), []
    for op, pe, slot in re.findall(r"^\s*(\w+) pe (\d+), slot (\d+)", text, re.M):
        contexts.append((op, int(pe), int(slot)))
    for name, ii, count in sizes:
        found.append((name, int(ii), contexts[: int(count)]))
        contexts = contexts[int(count) :]
    assert not contexts
    return found


def svg(width, height, body):
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="white"/>', *body, "</svg>", ""])


def rect(x, y, width, height, colour):
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{colour}"/>'


def mapping(ii, contexts):
    """The array in each slot of the interval."""
    body, side = [], 8 * CELL
    for slot in range(ii):
        left, top = 10 + (slot % 3) * (side + 20), 30 + (slot // 3) * (side + 30)
        body.append(f'<text x="{left}" y="{top - 6}">slot {slot}</text>')
        cells = {pe: op for op, pe, at in contexts if at == slot}
        for pe in range(64):
            x, y = left + pe % 8 * CELL, top + pe // 8 * CELL
            colour = SORTS[WORDS.get(cells[pe], "other")] if pe in cells else "#f2f2f2"
            body.append(rect(x, y, CELL - 2, CELL - 2, colour))
    bottom = 30 + (ii + 2) // 3 * (side + 30)
    for number, (sort, colour) in enumerate(SORTS.items()):
        body.append(rect(10 + number * 110, bottom - 12, 12, 12, colour))
        body.append(f'<text x="{26 + number * 110}" y="{bottom - 2}">{sort}</text>')
    return svg(3 * (side + 20), bottom + 10, body)


def main():
    nbcc, given = pathlib.Path(sys.argv[1]).resolve(), case()
    params = [word for name, value in given["params"].items() for word in ("--param", f"{name}={value}")]
    inputs = [word for name, file in given["inputs"].items() for word in ("--input", f"{name}={EXAMPLES / file}")]

    def run(*words):
        return subprocess.run([nbcc, *words], capture_output=True, text=True, check=True).stdout

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        source, binary, stats = EXAMPLES / given["source"], folder / "ddc.nbx", folder / "stats.json"
        run("compile", source, *params, "-o", binary)
        for name, ii, contexts in packages(run("objdump", binary)):
            (HERE / f"{name.replace(':', '-')}.svg").write_text(mapping(ii, contexts))
            sorts = [WORDS.get(op, "other") for op, *_ in contexts]
            counts = ", ".join(f"{sorts.count(sort)} {sort}" for sort in SORTS)
            print(f"{name}: interval {ii}, {len(contexts)} of {64 * ii} places: {counts}")
        run("run", source, *params, *inputs, "--output", f"out={folder / 'out.npy'}", "--stats", stats)
        print(f"{json.loads(stats.read_text())['cycles']} cycles")


main()
