#!/usr/bin/env python3
"""Runs the corpus on the host through host_cuda.h and compares it with the expected outputs.

Checks the references where there is no GPU (needs g++ 12 and numpy). Sources that say `// host: no`
use what the host cannot do (inline PTX, CUDA's headers) and are left out; `// host: contract` lets
the host's compiler fuse multiply-adds as NVRTC does.
Usage: check_on_host.py [NAME ...]
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import tomllib

import numpy as np

import make_references
from corpus import CASES, HERE
from make_ptx import directives

KINDS = {"i8": "<i1", "i16": "<i2", "i32": "<i4", "i64": "<i8", "u8": "<u1", "u16": "<u2", "u32": "<u4",
         "u64": "<u8", "f16": "<f2", "f32": "<f4", "f64": "<f8"}

MAIN = """
int main(int count, char** arg) {
    std::map<std::string, std::string> buffers;
    auto read = [](const std::string& path) {
        FILE* f = fopen(path.c_str(), "rb");
        std::string all;
        char part[65536];
        for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) all.append(part, n);
        fclose(f);
        return all;
    };
    std::string folder = arg[1];
%s
    for (auto& [name, bytes] : buffers) {
        FILE* f = fopen((folder + "/" + name + ".got").c_str(), "wb");
        fwrite(bytes.data(), 1, bytes.size(), f);
        fclose(f);
    }
}
"""


def program(made, source, folder):
    """The C++ program that performs a case's launches."""
    lines = []
    for name, array in made.symbols:
        array.tofile(os.path.join(folder, f"symbol.{name}"))
        lines.append(f'{{ auto b = read(folder + "/symbol.{name}"); memcpy((void*)&{name}, b.data(), b.size()); }}')
    for name, contents in made.buffers.items():
        if isinstance(contents, int):
            lines.append(f'buffers["{name}"] = std::string({contents}, 0);')
        else:
            contents.tofile(os.path.join(folder, f"buffer.{name}"))
            lines.append(f'buffers["{name}"] = read(folder + "/buffer.{name}");')
    for kernel, grid, block, _, args in made.launches:
        lines.append(f"gridDim = {{{grid[0]}, {grid[1]}, {grid[2]}}}; blockDim = {{{block[0]}, {block[1]}, {block[2]}}};")
        items = []
        for kind, value in args:
            if kind == "buffer":
                items.append(f'[&] {{ char* p = buffers["{value}"].data(); return std::string((char*)&p, 8); }}()')
            else:
                data = bytes.fromhex(value) if kind == "hex" else np.array([value], KINDS[kind]).tobytes()
                text = "".join(f"\\x{b:02x}" for b in data)
                items.append(f'std::string("{text}", {len(data)})')
        call = re.search(rf"// host-name: {re.escape(kernel)} = (.*)", source)
        lines.append(f"host::launch({call[1] if call else kernel}, {{{', '.join(items)}}});")
    return MAIN % "\n".join("    " + l for l in lines)


def agrees(got, want, compare):
    """Whether an output is what is expected; the place of the worst element otherwise."""
    if compare["kind"] == "exact":
        bad = got.reshape(-1).view(np.uint8) != want.reshape(-1).view(np.uint8)
        bad = bad.reshape(-1, want.dtype.itemsize).any(axis=1)
    elif compare["kind"] == "ulp":
        with np.errstate(invalid="ignore"):
            near = np.abs(got.astype(np.float64) - want) <= compare["max"] * np.spacing(np.abs(want)).astype(np.float64)
        bad = ~(near | (got == want))
        bad = bad.reshape(-1)
    else:
        wide = want.astype(np.float64)
        bad = ~(np.abs(got - wide) <= compare["absolute"] + compare["relative"] * np.abs(wide)).reshape(-1)
    if not bad.any():
        return None
    at = int(np.argmax(bad))
    return f"{bad.sum()} of {bad.size} differ, first at {at}: got {got.reshape(-1)[at]}, want {want.reshape(-1)[at]}"


def check(name):
    """What is wrong with a case; an empty list when all is right."""
    with open(os.path.join(HERE, f"{name}.cu")) as file:
        source = file.read()
    if directives(source).get("host") == "no":
        return None
    made = make_references.build(name)
    with tempfile.TemporaryDirectory() as folder:
        text = re.sub(r"extern __shared__\s+(?:__align__\(\d+\)\s*)?([\w ]+?)\s*(\w+)\[\];", r"\1* \2 = (\1*)host_dynamic_shared;", source)
        path = os.path.join(folder, "case.cpp")
        with open(path, "w") as file:
            file.write(f'#include "host_cuda.h"\n#define __noinline__ __attribute__((noinline))\n{text}\n'
                       + program(made, source, folder))
        exe = os.path.join(folder, "case")
        fuse = ["-O2", "-ffp-contract=fast", "-mfma"] if directives(source).get("host") == "contract" else ["-ffp-contract=off"]
        done = subprocess.run(["g++", "-std=c++20", "-O1", "-w", *fuse, "-fwrapv", "-fno-strict-aliasing", f"-I{HERE}", path, "-o", exe],
                              capture_output=True, text=True)
        if done.returncode:
            return [done.stderr[:3000]]
        try:
            done = subprocess.run([exe, folder], capture_output=True, timeout=60)
        except subprocess.TimeoutExpired:
            return ["does not end"]
        wrong = []
        if made.fault:
            return [] if done.returncode else ["no fault"]
        if done.returncode:
            return [f"status {done.returncode} {done.stderr[:500]}"]
        printed = done.stdout.decode()
        if made.stdout is not None:
            same = printed == made.stdout or (made.stdout_order == "lines" and sorted(printed.splitlines()) == sorted(made.stdout.splitlines()))
            if not same:
                wrong.append(f"prints {printed[:500]!r}, not {made.stdout[:500]!r}")
        for buffer, array, compare, _ in made.outputs:
            got = np.fromfile(os.path.join(folder, f"{buffer}.got"), array.dtype)[:array.size].reshape(array.shape)
            problem = agrees(got, array, compare)
            if problem:
                wrong.append(f"{buffer}: {problem}")
        launch = os.path.join(HERE, f"{name}.toml")
        if os.path.exists(launch):
            with open(launch, "rb") as file:
                tomllib.load(file)
        return wrong


def main():
    make_references.load()
    failed = 0
    names = sys.argv[1:] or sorted(CASES)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, wrong in zip(names, pool.map(check, names)):
            if wrong:
                failed += 1
                print(name, *wrong, sep="\n  ", flush=True)
            elif wrong is None:
                print(f"{name}: not for the host", flush=True)
    print(f"{len(names)} cases, {failed} wrong")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
