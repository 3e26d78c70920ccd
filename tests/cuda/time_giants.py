#!/usr/bin/env python3
"""Compile times of nbcc on generated giants: how they grow with the program.

    time_giants.py NBCC [PTXAS] [--passes] [--keep FOLDER] [SHAPE ...]

Each shape is compiled (-O2, MPU) in four sizes, each twice the one before; the last column is the
growth of the time over the last doubling: 2 is linear, 4 quadratic. With --passes the passes that
take more than a tenth of the time of the largest follow. With --keep the PTX stays in a folder.
"""
import os
import subprocess
import sys
import tempfile
import time

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
CALLEE = """.func (.param .b32 b) twist(.param .b32 a)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    ld.param.u32 %r1, [a];
    mad.lo.u32 %r2, %r1, 5, 3;
    setp.lt.u32 %p1, %r2, %r1;
    @%p1 bra L;
    xor.b32 %r2, %r2, 9;
L:
    st.param.b32 [b], %r2;
    ret;
}
"""


def chain(n):
    """The functions of `call_chain`: the last of them first."""
    last = ".func (.param .b32 b) f{0}(.param .b32 a)\n{{\n    .reg .b32 %r<4>;\n    ld.param.u32 %r1, [a];\n    mad.lo.u32 %r1, %r1, {1}, 7;\n"
    call = "    {{\n    .param .b32 x;\n    .param .b32 y;\n    st.param.b32 [x], %r1;\n    call.uni (y), f{0}, (x);\n    ld.param.b32 %r1, [y];\n    }}\n"
    return "".join(last.format(k, k + 3) + (call.format(k + 1) if k + 1 < n else "") + "    st.param.b32 [b], %r1;\n    ret;\n}\n" for k in reversed(range(n)))


ENTRY = """.visible .entry giant(.param .u64 out, .param .u32 n)
{
    .reg .pred %p<16>;
    .reg .b32 %r<100000>;
    .reg .f32 %f<100000>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r2, [n];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r3, %r1;
"""
END = "    st.global.u32 [%rd3], %r3;\n    ret;\n}\n"


def early_exits(n):
    """Conditions one after another, each of which may end the thread."""
    return "".join(f"    setp.eq.u32 %p1, %r3, {k};\n    @%p1 bra DONE;\n    mad.lo.u32 %r3, %r3, 5, {k};\n" for k in range(n)) + "DONE:\n"


def sequential(n):
    """Conditional blocks one after another."""
    return "".join(f"    setp.lt.u32 %p1, %r3, {k + 7};\n    @%p1 bra L{k};\n    st.global.u32 [%rd3], %r3;\n    xor.b32 %r3, %r3, {k};\nL{k}:\n    add.u32 %r3, %r3, 3;\n"
                   for k in range(n))


def guarded_loads(n):
    """Loads that conditions guard, one after another, between stores."""
    return "".join(f"    setp.lt.u32 %p1, %r3, {k + 7};\n    st.global.u32 [%rd3], %r3;\n    @%p1 bra L{k};\n    ld.global.u32 %r4, [%rd3+{4 * (k % 64)}];\n    add.u32 %r3, %r3, %r4;\nL{k}:\n"
                   for k in range(n))


def nested(n):
    """Conditions inside one another, with something before and after each."""
    opening = "".join(f"    setp.lt.u32 %p1, %r3, {k + 7};\n    @%p1 bra L{k};\n    st.global.u32 [%rd3], %r3;\n    add.u32 %r3, %r3, {k};\n" for k in range(n))
    return opening + "".join(f"    xor.b32 %r3, %r3, {k};\nL{k}:\n" for k in reversed(range(n)))


def alternatives(n):
    """The same with another arm each."""
    opening = "".join(f"    setp.lt.u32 %p1, %r3, {k + 7};\n    @%p1 bra E{k};\n    st.global.u32 [%rd3], %r3;\n    add.u32 %r3, %r3, {k};\n" for k in range(n))
    return opening + "".join(f"    bra L{k};\nE{k}:\n    st.global.u32 [%rd3+4], %r3;\n    xor.b32 %r3, %r3, {k};\nL{k}:\n" for k in reversed(range(n)))


def conditions(n):
    """One condition of many parts."""
    return "".join(f"    setp.eq.u32 %p1, %r1, {3 * k};\n    @%p1 bra YES;\n    ld.global.u32 %r4, [%rd3+{4 * k}];\n    add.u32 %r3, %r3, %r4;\n" for k in range(n)) + \
        "    xor.b32 %r3, %r3, 9;\n    bra DONE;\nYES:\n    add.u32 %r3, %r3, 1;\nDONE:\n"


def breaks(n):
    """A loop that may be left in many places."""
    return "HEAD:\n" + "".join(f"    setp.eq.u32 %p1, %r3, {k};\n    @%p1 bra DONE;\n    mad.lo.u32 %r3, %r3, 5, {k};\n" for k in range(n)) + "    bra HEAD;\nDONE:\n"


def loops(n):
    """Loops one after another, each thread with a count of its own."""
    return "".join(f"    and.b32 %r4, %r3, 7;\nL{k}:\n    add.u32 %r3, %r3, {k};\n    sub.u32 %r4, %r4, 1;\n    setp.gt.s32 %p1, %r4, 0;\n    @%p1 bra L{k};\n" for k in range(n))


def loop_nest(n):
    """Loops inside one another."""
    opening = "".join(f"    mov.u32 %r{k + 10}, %r1;\nL{k}:\n" for k in range(n))
    return opening + "".join(f"    add.u32 %r3, %r3, {k};\n    sub.u32 %r{k + 10}, %r{k + 10}, 1;\n    setp.gt.s32 %p1, %r{k + 10}, 0;\n    @%p1 bra L{k};\n"
                             for k in reversed(range(n)))


def continues(n):
    """A loop whose next iteration may begin in many places."""
    return "HEAD:\n    add.u32 %r3, %r3, 1;\n" + "".join(f"    setp.eq.u32 %p1, %r3, {k};\n    @%p1 bra HEAD;\n    mad.lo.u32 %r3, %r3, 5, {k};\n" for k in range(n)) + \
        "    setp.lt.u32 %p1, %r3, 99;\n    @%p1 bra HEAD;\n"


def ladder(n):
    """Conditional blocks each of which may be left out together with the next's condition."""
    return "".join(f"L{k}:\n    setp.lt.u32 %p1, %r3, {k + 7};\n    @%p1 bra L{k + 2};\n    mad.lo.u32 %r3, %r3, 5, {k};\n" for k in range(n)) + f"L{n}:\nL{n + 1}:\n"


def straight(n):
    """Instructions without branches."""
    return "".join(f"    mad.lo.u32 %r3, %r3, {2 * k + 5}, %r{1 + k % 3};\n" for k in range(n))


def stores(n):
    """Loads and stores without branches."""
    return "".join(f"    ld.global.u32 %r4, [%rd3+{4 * k}];\n    add.u32 %r3, %r3, %r4;\n    st.global.u32 [%rd3+{4 * k}], %r3;\n" for k in range(n // 3))


def live(n):
    """Sixty values that live through all of a long program."""
    start = "".join(f"    ld.global.u32 %r{k + 10}, [%rd3+{4 * k}];\n" for k in range(60))
    work = "".join(f"    mad.lo.u32 %r{10 + k % 60}, %r{10 + k * 7 % 60}, %r{10 + k * 11 % 60}, {k};\n" for k in range(n))
    return start + work + "".join(f"    add.u32 %r3, %r3, %r{k + 10};\n" for k in range(60))


def live_across(n):
    """Forty values that live through many conditional blocks and change there."""
    start = "".join(f"    ld.global.u32 %r{k + 10}, [%rd3+{4 * k}];\n" for k in range(40))
    work = "".join(f"    setp.lt.u32 %p1, %r{10 + k % 40}, {k};\n    @%p1 bra L{k};\n    st.global.u32 [%rd3], %r{10 + k % 40};\n    add.u32 %r{10 + k * 7 % 40}, %r{10 + k * 11 % 40}, {k};\nL{k}:\n"
                   for k in range(n))
    return start + work + "".join(f"    add.u32 %r3, %r3, %r{k + 10};\n" for k in range(40))


def pressure(n):
    """As many values that live at once, in a program of a few times that size."""
    start = "".join(f"    ld.global.u32 %r{k + 10}, [%rd3+{4 * k}];\n" for k in range(n))
    return start + "".join(f"    mad.lo.u32 %r3, %r3, %r{k + 10}, {k};\n" for k in range(n))


def calls(n):
    """Calls of one function."""
    return "".join(f"    {{\n    .param .b32 a;\n    .param .b32 b;\n    st.param.b32 [a], %r3;\n    call.uni (b), twist, (a);\n    ld.param.b32 %r3, [b];\n    }}\n" for k in range(n))


def call_chain(n):
    """Functions each of which calls the next."""
    return "    {\n    .param .b32 a;\n    .param .b32 b;\n    st.param.b32 [a], %r3;\n    call.uni (b), f0, (a);\n    ld.param.b32 %r3, [b];\n    }\n"


def switch(n):
    """An indirect branch with many targets."""
    names = [f"L{k}" for k in range(n)]
    table = f"T: .branchtargets {', '.join(names)};\n    rem.u32 %r4, %r1, {n};\n    brx.idx %r4, T;\n"
    return table + "".join(f"L{k}:\n    mad.lo.u32 %r3, %r3, {k}, 7;\n    bra DONE;\n" for k in range(n)) + "DONE:\n"


SHAPES = {
    early_exits: 10_000, sequential: 10_000, guarded_loads: 10_000, nested: 10_000, alternatives: 10_000, conditions: 10_000, breaks: 10_000, loops: 10_000,
    loop_nest: 2_000, continues: 10_000, ladder: 10_000, straight: 100_000, stores: 100_000, live: 100_000, live_across: 10_000, switch: 10_000,
    pressure: 10_000, calls: 10_000, call_chain: 10_000,
}

FUNCTIONS = {calls: lambda n: CALLEE, call_chain: chain}


def seconds(command):
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    return time.perf_counter() - start, done


def main():
    arguments = sys.argv[1:]
    passes = "--passes" in arguments
    keep = arguments[arguments.index("--keep") + 1] if "--keep" in arguments else None
    words = [a for a in arguments if not a.startswith("--") and a != keep]
    names = {shape.__name__ for shape in SHAPES}
    tools, chosen = [w for w in words if w not in names], [w for w in words if w in names]
    nbcc, ptxas = tools[0], tools[1] if len(tools) > 1 else None
    print("| shape | size | lines | nbcc s | growth |" + (" ptxas -O3 s |" if ptxas else ""))
    print("| --- | --- | --- | --- | --- |" + (" --- |" if ptxas else ""))
    details = []
    with tempfile.TemporaryDirectory() as folder:
        folder = keep or folder
        for shape, largest in SHAPES.items():
            if chosen and shape.__name__ not in chosen:
                continue
            times = []
            for size in (largest // 8, largest // 4, largest // 2, largest):
                text = HEAD + FUNCTIONS.get(shape, lambda n: "")(size) + ENTRY + shape(size) + END
                path = os.path.join(folder, f"{shape.__name__}.{size}.ptx")
                with open(path, "w") as file:
                    file.write(text)
                took, done = seconds([nbcc, path, "--time-passes", "-o", os.path.join(folder, "out.nbx")])
                times.append(took)
                if done.returncode:
                    print(f"| {shape.__name__} | {size} | refused: {done.stderr.strip().splitlines()[0][:90]} |")
            row = f"| {shape.__name__} | {size} | {text.count(chr(10))} | {took:.2f} | {took / times[-2]:.1f} |"
            if ptxas:
                try:
                    theirs, _ = seconds([ptxas, "-arch", "sm_75", "-O3", path, "-o", os.path.join(folder, "out.cubin")])
                    row += f" {theirs:.2f} |"
                except subprocess.TimeoutExpired:
                    row += " more than 600 |"
            print(row, flush=True)
            details.append((shape.__name__, took, done.stderr))
    if passes:
        for name, took, text in details:
            print(f"\n{name}: {took:.2f} s")
            print(text)


main()
