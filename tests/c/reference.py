#!/usr/bin/env python3
"""Makes NAME.out for every NAME.c of this folder with gcc: what its runs print.

A source says with `// run: FUNCTION(NAME=VALUE, NAME=TYPE[EXTENTS]FILL, ...)` what it is called on,
parameters in their order. An array is filled by `fill` below: FILL is nothing (any values), `%N`
(values from -N to N, or 0 to N where the type is unsigned) or `=0`. The test that compares is
frontends/c/tests/kernels.rs; it fills and prints alike.

usage: reference.py [NAME...]
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
HEADERS = HERE.parent.parent / "compiler" / "driver" / "include"
PRELUDE = r"""
#include <stdint.h>
#include <stdio.h>
static uint64_t nbcc_state;
static uint64_t nbcc_next(void) {
    nbcc_state = nbcc_state * 6364136223846793005u + 1442695040888963407u;
    return nbcc_state >> 33;
}
#define NBCC_FILL(array, count, type, is_signed, limit, seed) do { \
    nbcc_state = (seed); \
    for (long nbcc_i = 0; nbcc_i < (count); nbcc_i++) { \
        uint64_t nbcc_v = nbcc_next() ^ nbcc_next() << 31; \
        int64_t nbcc_w = (limit) < 0 ? (int64_t)nbcc_v \
            : (is_signed) ? (int64_t)(nbcc_v % (2 * (uint64_t)(limit) + 1)) - (limit) \
            : (int64_t)(nbcc_v % ((uint64_t)(limit) + 1)); \
        (array)[nbcc_i] = (type)nbcc_w; \
    } \
} while (0)
"""


def harness(source):
    """The C text of a program that makes the runs of a source."""
    runs = re.findall(r"^// run: (\w+)\((.*)\)$", source.read_text(), re.M)
    body = []
    for number, (function, args) in enumerate(runs, 1):
        before, call, after = [], [], []
        for index, arg in enumerate(re.findall(r"(\w+)=((?:\w+\[[\d,]*\])?(?:%\d+|=0|-?\w*))", args)):
            name, value = arg
            array = re.match(r"(u?)int(\d+)\[([\d,]*)\](.*)", value)
            if not array:
                call.append(value)
                continue
            unsigned, bits, extents, fill = array.groups()
            count = 1
            for extent in filter(None, extents.split(",")):
                count *= int(extent)
            kind = f"{unsigned}int{bits}_t"
            variable = f"nbcc_in_{name}"
            before.append(f"static {kind} {variable}[{max(count, 1)}];")
            if fill != "=0":
                limit = fill[1:] if fill.startswith("%") else "-1"
                signed = 0 if unsigned else 1
                before.append(f"NBCC_FILL({variable}, {count}, {kind}, {signed}, {limit}LL, "
                              f"{number * 1000 + index});")
            call.append(f"(void *){variable}")
            show = "%llu" if unsigned else "%lld"
            wide = "unsigned long long" if unsigned else "long long"
            after.append(f'printf("{name}"); for (long i = 0; i < {count}; i++) '
                         f'printf(" {show}", ({wide}){variable}[i]); printf("\\n");')
        called = f"{function}({', '.join(call)})"
        is_void = re.search(rf"\bvoid\s+{function}\s*\(", source.read_text())
        before.append(f'printf("run {number}\\n");')
        before.append(f"{called};" if is_void else f'printf("return %lld\\n", (long long){called});')
        body.append("    { " + "\n      ".join(before + after) + " }")
    return f'{PRELUDE}#include "{source.resolve()}"\nint main(void) {{\n' + "\n".join(body) + "\n}\n"


def main():
    wanted = sys.argv[1:]
    for source in sorted(HERE.glob("*.c")):
        if wanted and source.stem not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program"
            text = pathlib.Path(folder) / "main.c"
            text.write_text(harness(source))
            subprocess.run(["cc", "-std=c11", "-fwrapv", "-w", "-O1", "-I", str(HEADERS), "-o",
                            str(program), str(text)], check=True)
            out = subprocess.run([str(program)], check=True, capture_output=True).stdout
        source.with_suffix(".out").write_bytes(out)


main()
