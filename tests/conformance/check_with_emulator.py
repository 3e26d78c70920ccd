#!/usr/bin/env python3
"""Runs the CUDA corpus and the vectors of this folder in emulator.py and compares them with what is expected.

Usage: check_with_emulator.py [cuda | FAMILY ...] [NAME ...]   (needs numpy alone)
"""
import json
import os
import sys
import time
import tomllib

import numpy as np

from emulator import Fault, Machine, Unsupported
from softfloat import Ambiguous

HERE = os.path.dirname(os.path.abspath(__file__))
CUDA = os.path.join(HERE, "..", "cuda")
LARGE = 2_000_000
NUMBERS = {"i8": "<i1", "i16": "<i2", "i32": "<i4", "i64": "<i8", "u8": "<u1", "u16": "<u2", "u32": "<u4", "u64": "<u8", "f16": "<f2", "f32": "<f4", "f64": "<f8"}


def contents(path):
    return np.load(path).tobytes() if path.endswith(".npy") else open(path, "rb").read()


def agrees(got, want, compare):
    """None when an array is as expected, else where it is not."""
    if compare["kind"] == "exact":
        bad = (got.view(np.uint8) != want.view(np.uint8)).reshape(-1, want.dtype.itemsize).any(axis=1)
    else:
        with np.errstate(all="ignore"):
            g, w = got.astype(np.float64), want.astype(np.float64)
            room = compare["max"] * np.spacing(np.abs(want)).astype(np.float64) if compare["kind"] == "ulp" else compare["absolute"] + compare["relative"] * np.abs(w)
            bad = ~((np.abs(g - w) <= room) | (g == w))
    if not bad.any():
        return None
    at = int(np.argmax(bad))
    return f"{bad.sum()} of {bad.size} differ, first at {at}: got {got[at]}, want {want[at]}"


def run_case(case, ptx):
    """What is wrong with one PTX of a case of the corpus."""
    with open(os.path.join(CUDA, ptx)) as file:
        machine = Machine(file.read())
    with open(os.path.join(CUDA, case["launch"]), "rb") as file:
        launch = tomllib.load(file)
    for symbol in launch.get("symbol", []):
        data = contents(os.path.join(CUDA, symbol["file"]))
        at = machine.symbols[symbol["name"]]
        machine.memory[at:at + len(data)] = np.frombuffer(data, np.uint8)
    buffers = {}
    fault = None
    try:
        for one in launch["launch"]:
            args = []
            for arg in one.get("arg", []):
                if "buffer" in arg:
                    name = arg["buffer"]
                    if name not in buffers:
                        data = contents(os.path.join(CUDA, arg["file"])) if "file" in arg else bytes(arg["bytes"])
                        buffers[name] = (machine.allocate(len(data)), len(data))
                        at = buffers[name][0]
                        machine.memory[at:at + len(data)] = np.frombuffer(data, np.uint8)
                    args.append(buffers[name][0].to_bytes(8, "little"))
                elif "hex" in arg:
                    args.append(bytes.fromhex(arg["hex"]))
                else:
                    (kind, value), = arg.items()
                    args.append(np.array([value], NUMBERS[kind]).tobytes())
            machine.launch(one["kernel"], one["grid"], one["block"], args, one.get("dynamic_shared_bytes", 0))
    except Fault as error:
        fault = str(error)
    if machine.instructions > LARGE:
        print(f"{ptx}: {machine.instructions} thread instructions")
    if "fault" in case:
        words = {"assert": "assert", "trap": "trap", "grid barrier": "trap", "out of bounds": "address", "misaligned": "address", "deadlock": "deadlock", "limit": "no end"}
        return [] if fault and words[case["fault"]["kind"]] in fault and case["fault"].get("message", "") in fault else [f"fault {fault}"]
    if fault:
        return [f"fault {fault}"]
    wrong = []
    if "stdout" in case and "".join(machine.stdout) != case["stdout"]:
        wrong.append(f"prints {''.join(machine.stdout)!r}")
    for output in case["outputs"]:
        want = np.load(os.path.join(CUDA, output["expected"])).reshape(-1)
        at, size = buffers[output["buffer"]]
        got = machine.memory[at:at + want.nbytes].copy().view(want.dtype)
        problem = agrees(got, want, output["compare"])
        if problem:
            wrong.append(f"{output['buffer']}: {problem}")
    return wrong


def run_vectors(entry, machine, data):
    """What is wrong with one kernel of the vectors; inexact members are not compared."""
    wrong = []
    given = data[entry["in"]["offset"]:entry["in"]["offset"] + entry["in"]["bytes"]]
    want = np.frombuffer(data[entry["out"]["offset"]:entry["out"]["offset"] + entry["out"]["bytes"]], np.uint8).reshape(entry["count"], -1)
    for block in entry["blocks"]:
        top = machine.top
        source, target = machine.allocate(len(given)), machine.allocate(want.size)
        machine.memory[source:source + len(given)] = np.frombuffer(given, np.uint8)
        machine.memory[target:target + want.size] = 0
        args = [source.to_bytes(8, "little"), target.to_bytes(8, "little"), entry["count"].to_bytes(4, "little")]
        try:
            machine.launch(entry["kernel"], ((entry["count"] + block - 1) // block, 1, 1), (block, 1, 1), args)
        except Fault as error:
            return [f"block {block}: fault {error}"]
        got = machine.memory[target:target + want.size].reshape(want.shape)
        machine.top = top
        if all(c["kind"] == "exact" and "nan" not in c for c in entry["compare"]) and (got != want).any():
            row = int(np.argmax((got != want).any(axis=1)))
            wrong.append(f"block {block}: record {row}: got {got[row].tobytes().hex()}, want {want[row].tobytes().hex()}, in "
                         f"{given[row * entry['in_stride']:(row + 1) * entry['in_stride']].hex()}")
    return wrong


def report(name, run):
    """Runs and prints; returns whether it is right, None when the emulator cannot tell."""
    begin = time.time()
    try:
        wrong = run()
    except (Unsupported, Ambiguous, KeyError) as error:
        print(f"{name}: the emulator lacks {error}", flush=True)
        return None
    if wrong:
        print(name, *wrong, sep="\n    ", flush=True)
    if time.time() - begin > 20:
        print(f"{name}: {time.time() - begin:.0f} s", flush=True)
    return not wrong


def main():
    chosen = sys.argv[1:]
    results = []
    if not chosen or chosen[0] == "cuda":
        with open(os.path.join(CUDA, "manifest.jsonl")) as file:
            for line in file:
                case = json.loads(line)
                for ptx in case["ptx"]:
                    if not chosen[1:] or case["name"] in chosen[1:]:
                        results.append(report(ptx["file"], lambda: run_case(case, ptx["file"])))
    if not chosen or chosen[0] != "cuda":
        machines = {}
        with open(os.path.join(HERE, "manifest.jsonl")) as file:
            for line in file:
                entry = json.loads(line)
                family = entry["ptx"][:-4]
                if chosen and family not in chosen and entry["kernel"] not in chosen:
                    continue
                if family not in machines:
                    with open(os.path.join(HERE, entry["ptx"])) as text, open(os.path.join(HERE, f"{family}.bin"), "rb") as data:
                        machines[family] = (Machine(text.read()), data.read())
                results.append(report(f"{family}: {entry['kernel']}", lambda: run_vectors(entry, *machines[family])))
    print(f"{results.count(True)} right, {results.count(False)} wrong, {results.count(None)} not run")


if __name__ == "__main__":
    main()
