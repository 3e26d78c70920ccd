#!/usr/bin/env python3
"""Writes launch files, inputs, expected outputs and manifest.jsonl (needs numpy alone).

The cases stand in cases_*.py. Usage: make_references.py
"""
import glob
import importlib
import os

from corpus import CASES, HERE, Case
from make_ptx import ptx_files


def build(name):
    """The case of a name, made up."""
    made = Case(name)
    CASES[name](made)
    return made


def load():
    """Imports every file of cases."""
    for path in sorted(glob.glob(os.path.join(HERE, "cases_*.py"))):
        importlib.import_module(os.path.basename(path)[:-3])


def main():
    load()
    for old in glob.glob(os.path.join(HERE, "data", "*")):
        os.remove(old)
    lines = []
    for name in sorted(CASES):
        with open(os.path.join(HERE, f"{name}.cu")) as file:
            source = file.read()
        ptx = [{"file": f, "compiler": c, "arch": a} for f, c, a in ptx_files(name, source)]
        lines.append(build(name).write(ptx))
    with open(os.path.join(HERE, "manifest.jsonl"), "w") as file:
        file.write("\n".join(lines) + "\n")
    sources = {f[:-3] for f in os.listdir(HERE) if f.endswith(".cu")}
    for name in sorted(sources - set(CASES)):
        print(f"{name}.cu has no case")


if __name__ == "__main__":
    main()
