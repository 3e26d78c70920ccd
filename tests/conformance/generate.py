#!/usr/bin/env python3
"""Makes the conformance kernels, their records and manifest.jsonl; ptxas must accept every file.

Needs: pip install mpmath nvidia-cuda-nvcc-cu12. Usage: generate.py [--no-ptxas]
"""
import glob
import importlib
import os
import subprocess
import sys
import tempfile

from forms import FAMILIES, HERE


def ptxas():
    """The assembler of NVIDIA's package."""
    for folder in sys.path:
        found = glob.glob(os.path.join(folder, "nvidia", "cuda_nvcc", "bin", "ptxas"))
        if found:
            return found[0]
    return "ptxas"


def main():
    for path in sorted(glob.glob(os.path.join(HERE, "*_forms.py"))):
        importlib.import_module(os.path.basename(path)[:-3]).make()
    lines = []
    for family in FAMILIES:
        lines += family.write()
    with open(os.path.join(HERE, "manifest.jsonl"), "w") as file:
        file.write("\n".join(lines) + "\n")
    failed = 0
    for family in FAMILIES if "--no-ptxas" not in sys.argv else []:
        path = os.path.join(HERE, f"{family.name}.ptx")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([ptxas(), "-arch", family.arch, "-O0", path, "-o", os.path.join(folder, "out")], capture_output=True, text=True)
        if done.returncode:
            failed += 1
            print((done.stdout + done.stderr)[:2000])
    print(f"{len(FAMILIES)} files, {len(lines)} kernels, {failed} files not accepted")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
