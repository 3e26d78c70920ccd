"""Loads and stores of every width in every space, atomics, addresses and initial contents."""
import struct

import softfloat as sf
from float_forms import finite_normal
from forms import Family, int_edges, int_rows, signed

SIZES = (8, 16, 32, 64)


def extended(t, bits, wide):
    """What a sub-word load leaves in a register of a width."""
    size = int(t[1:])
    bits &= (1 << size) - 1
    return (signed(bits, size) if t[0] == "s" else bits) & ((1 << wide) - 1)


SPACES = {
    # Space: declarations, code that makes %p point to 32 bytes of the thread and copies the record there.
    "global": ("", "mov.b64 %p, %in;"),
    "": ("", "cvta.global.u64 %p, %in;"),
    "shared": (".shared .align 16 .b8 area[2048];",
               "mov.u32 %x, %tid.x;\nmov.u64 %q, area;\nmad.wide.u32 %p, %x, 32, %q;\nld.global.v4.b32 {{%c0, %c1, %c2, %c3}}, [%in];\n"
               "st.shared.v4.b32 [%p], {{%c0, %c1, %c2, %c3}};\nld.global.v4.b32 {{%c0, %c1, %c2, %c3}}, [%in+16];\nst.shared.v4.b32 [%p+16], {{%c0, %c1, %c2, %c3}};"),
    "local": (".local .align 16 .b8 area[32];",
              "mov.u64 %p, area;\nld.global.v4.b32 {{%c0, %c1, %c2, %c3}}, [%in];\nst.local.v4.b32 [%p], {{%c0, %c1, %c2, %c3}};\n"
              "ld.global.v4.b32 {{%c0, %c1, %c2, %c3}}, [%in+16];\nst.local.v4.b32 [%p+16], {{%c0, %c1, %c2, %c3}};"),
}
SCRATCH = ".reg .b64 %p, %q;.reg .b32 %c0, %c1, %c2, %c3"


def record(rng):
    """Thirty-two bytes as four 64-bit members."""
    return tuple(rng.choice(int_edges(64) + [rng.getrandbits(64)] * 20) for _ in range(4))


def whole(row):
    return sum(v << 64 * k for k, v in enumerate(row))


def loads():
    f = Family("load", "sm_70", "7.0")
    hinted = Family("load_hints", "sm_80", "7.4")
    for space, (declaration, prepare) in SPACES.items():
        dotted = "." + space if space else ""
        label = space or "generic"
        for t in [k + str(s) for s in SIZES for k in "bus"] + ["f32", "f64"]:
            size = int(t[1:])
            for wide in (16, 32, 64):
                if wide < size or (t[0] == "f" and wide != size) or (wide > size and space not in ("global", "shared") and wide != 32):
                    continue
                out = t if t[0] == "f" else f"b{wide}"
                rows = [record(f.rng) for _ in range(33)]
                offset = size // 8 * 3 % 24
                results = [(extended(t if t[0] != "f" else "b" + str(size), whole(r) >> 8 * offset, wide),) for r in rows]
                f.kernel(f"ld{dotted}.{t}", ["b64"] * 4, [out], f"{prepare}\nld{dotted}.{t} {{r0}}, [%p+{offset}];", rows, results,
                         registers=SCRATCH, head=declaration, name=f"ld_{label}_{t}_into_{wide}")
        for count in (2, 4):
            for t in [k + str(s) for s in SIZES for k in "bus"] + ["f32", "f64"]:
                size = int(t[1:])
                if size * count > 128:
                    continue
                wide = max(size, 16)
                out = t if t[0] == "f" else f"b{wide}"
                offset = size * count // 8
                rows = [record(f.rng) for _ in range(33)]
                results = [tuple(extended(t if t[0] != "f" else "b" + str(size), whole(r) >> 8 * offset + size * k, wide) for k in range(count)) for r in rows]
                names = ", ".join(f"{{r{k}}}" for k in range(count))
                f.kernel(f"ld{dotted}.v{count}.{t}", ["b64"] * 4, [out] * count, f"{prepare}\nld{dotted}.v{count}.{t} {{{{{names}}}}}, [%p+{offset}];",
                         rows, results, registers=SCRATCH, head=declaration, name=f"ld_{label}_v{count}_{t}")
    # Cache operators, orders and the read-only path do not change what is read.
    rows = [record(f.rng) for _ in range(33)]
    for form in ("ld.global.ca.u32", "ld.global.cg.u32", "ld.global.cs.u32", "ld.global.lu.u32", "ld.global.cv.u32", "ld.global.nc.u32", "ld.volatile.global.u32",
                 "ld.relaxed.gpu.global.u32", "ld.acquire.gpu.global.u32", "ld.relaxed.cta.global.u32", "ld.acquire.sys.global.u32", "ld.weak.global.u32",
                 "ldu.global.u32", "ld.global.L1::evict_last.u32", "ld.global.L1::no_allocate.u32", "ld.global.nc.L1::no_allocate.u32", "ld.volatile.u32", "ldu.u32"):
        generic = ".global" not in form
        point = "cvta.global.u64 %p, %in" if generic else "mov.b64 %p, %in"
        family = hinted if "L1" in form else f
        family.kernel(form, ["b64"] * 4, ["b32"], f"{point};\n{form} {{r0}}, [%p+4];", rows, [(r[0] >> 32,) for r in rows], registers=SCRATCH)
    for space in ("shared",):
        declaration, prepare = SPACES[space]
        f.kernel(f"ld.volatile.{space}.u64", ["b64"] * 4, ["b64"], f"{prepare}\nld.volatile.{space}.u64 {{r0}}, [%p+8];", rows, [(r[1],) for r in rows],
                 registers=SCRATCH, head=declaration)
    # Prefetches and fences change nothing.
    quiet = ["prefetch.global.L1 [%in];", "prefetch.global.L2 [%in];", "prefetch.L1 [%p];", "prefetchu.L1 [%p];", "membar.cta;", "membar.gl;", "membar.sys;",
             "fence.acq_rel.gpu;", "fence.sc.cta;", "fence.acq_rel.sys;", "fence.sc.gpu;"]
    f.kernel("prefetch and fences", ["b64"] * 4, ["b64"], "cvta.global.u64 %p, %in;\n" + "\n".join(quiet) + "\nld.global.b64 {r0}, [%in+16];", rows,
             [(r[2],) for r in rows], registers=SCRATCH)


def stores():
    f = Family("store", "sm_70", "7.0")
    after = {
        "global": ("", "mov.b64 %p, %out;", ""),
        "": ("", "cvta.global.u64 %p, %out;", ""),
        "shared": (".shared .align 16 .b8 area[2048];", "mov.u32 %x, %tid.x;\nmov.u64 %q, area;\nmad.wide.u32 %p, %x, 32, %q;", "shared"),
        "local": (".local .align 16 .b8 area[32];", "mov.u64 %p, area;", "local"),
    }
    fill = 0x5a5a5a5a5a5a5a5a
    for space, (declaration, prepare, back) in after.items():
        dotted = "." + space if space else ""
        label = space or "generic"
        cleared = "\n".join(f"st{dotted}.b64 [%p+{8 * k}], {fill};" for k in range(4))
        read = "\n".join(f"ld{dotted}.b64 {{r{k}}}, [%p+{8 * k}];" for k in range(4))
        for t in [k + str(s) for s in SIZES for k in "bus"] + ["f32", "f64"]:
            size = int(t[1:])
            for count in (1, 2, 4):
                if size * count > 128:
                    continue
                for wide in (16, 32, 64) if count == 1 else (max(size, 16),):
                    if wide < size or (t[0] == "f" and wide != size) or (wide > size and space not in ("global", "shared") and wide != 32):
                        continue
                    source = t if t[0] == "f" else f"b{wide}"
                    rows = int_rows(f.rng, (int(source[1:]),) * count, 33)
                    offset = size * count // 8
                    results = []
                    for row in rows:
                        image = fill * sum(1 << 64 * k for k in range(4))
                        for k, v in enumerate(row):
                            at = 8 * offset + size * k
                            image = image & ~(((1 << size) - 1) << at) | (v & ((1 << size) - 1)) << at
                        results.append(tuple(image >> 64 * k & ((1 << 64) - 1) for k in range(4)))
                    names = ", ".join(f"{{a{k}}}" for k in range(count))
                    vector = f".v{count}" if count > 1 else ""
                    operand = f"{{{{{names}}}}}" if count > 1 else names
                    f.kernel(f"st{dotted}{vector}.{t}", [source] * count, ["b64"] * 4,
                             f"{prepare}\n{cleared}\nst{dotted}{vector}.{t} [%p+{offset}], {operand};\n{read}", rows, results,
                             registers=SCRATCH, head=declaration, name=f"st_{label}{vector.replace('.', '_')}_{t}_from_{wide}")
    rows = int_rows(f.rng, (32,), 33)
    for form in ("st.global.wb.u32", "st.global.cg.u32", "st.global.cs.u32", "st.global.wt.u32", "st.volatile.global.u32", "st.relaxed.gpu.global.u32",
                 "st.release.gpu.global.u32", "st.release.cta.global.u32", "st.weak.global.u32"):
        f.kernel(form, ["b32"], ["b32"], f"{form} [%out], {{a0}};\nld.global.b32 {{r0}}, [%out];", rows, rows)
    # A guarded store and load: memory and register stay as they are.
    rows = [(f.rng.getrandbits(32), f.rng.getrandbits(32), k & 1) for k in range(33)]
    for bang in ("", "!"):
        f.kernel(f"st.global.b32 guarded{' negated' if bang else ''}", ["b32", "b32", "pred"], ["b32"],
                 f"st.global.b32 [%out], {{a0}};\n@{bang}{{a2}} st.global.b32 [%out], {{a1}};\nld.global.b32 {{r0}}, [%out];", rows,
                 [(b if bool(c) != bool(bang) else a,) for a, b, c in rows])
        f.kernel(f"ld.global.b32 guarded{' negated' if bang else ''}", ["b32", "b32", "pred"], ["b32"],
                 f"mov.b32 {{r0}}, {{a1}};\n@{bang}{{a2}} ld.global.b32 {{r0}}, [%in];", rows, [(a if bool(c) != bool(bang) else b,) for a, b, c in rows])
        f.kernel(f"add.s32 guarded{' negated' if bang else ''}", ["b32", "b32", "pred"], ["b32"],
                 f"mov.b32 {{r0}}, {{a1}};\n@{bang}{{a2}} add.s32 {{r0}}, {{r0}}, {{a0}};", rows, [(a + b if bool(c) != bool(bang) else b,) for a, b, c in rows])


def wrap_inc(old, v):
    return 0 if old >= v else old + 1


def wrap_dec(old, v):
    return v if old == 0 or old > v else old - 1


ATOMICS = []
for _t in ("u32", "s32", "u64", "s64"):
    if _t != "s64":
        ATOMICS.append(("add", _t, lambda o, v: o + v))
    ATOMICS.append(("min", _t, (lambda t: lambda o, v: min((o, v), key=lambda x: signed(x, int(t[1:])) if t[0] == "s" else x))(_t)))
    ATOMICS.append(("max", _t, (lambda t: lambda o, v: max((o, v), key=lambda x: signed(x, int(t[1:])) if t[0] == "s" else x))(_t)))
for _t in ("b32", "b64"):
    ATOMICS += [("and", _t, lambda o, v: o & v), ("or", _t, lambda o, v: o | v), ("xor", _t, lambda o, v: o ^ v), ("exch", _t, lambda o, v: v)]
ATOMICS += [("inc", "u32", wrap_inc), ("dec", "u32", wrap_dec)]


def atomics():
    f = Family("atomic", "sm_90", "8.0")
    places = {"global": ("", "mov.b64 %p, %out;"), "": ("", "cvta.global.u64 %p, %out;"),
              "shared": (".shared .align 8 .b8 area[1024];", "mov.u32 %x, %tid.x;\nmov.u64 %q, area;\nmad.wide.u32 %p, %x, 16, %q;")}
    registers = ".reg .b64 %p, %q"
    for space, (declaration, prepare) in places.items():
        dotted = "." + space if space else ""
        label = space or "generic"
        for op, t, g in ATOMICS:
            size = int(t[1:])
            mask = (1 << size) - 1
            rows = int_rows(f.rng, (size, size), 40)
            if op in ("inc", "dec"):
                rows += [(5, 5), (4, 5), (6, 5), (0, 5), (0, 0), (mask, mask), (mask, 0), (mask - 1, mask)]
            after = [g(a, b) & mask for a, b in rows]
            body = f"{prepare}\nst{dotted}.b{size} [%p], {{a0}};\n"
            back = f"ld{dotted}.b{size} {{r0}}, [%p];"
            f.kernel(f"atom{dotted}.{op}.{t}", [t] * 2, [f"b{size}", t], body + f"atom{dotted}.{op}.{t} {{r1}}, [%p], {{a1}};\n{back}", rows,
                     [(n, r[0]) for n, r in zip(after, rows)], registers=registers, head=declaration, name=f"atom_{label}_{op}_{t}")
            if op != "exch":
                f.kernel(f"red{dotted}.{op}.{t}", [t] * 2, [f"b{size}"], body + f"red{dotted}.{op}.{t} [%p], {{a1}};\n{back}", rows, [(n,) for n in after],
                         registers=registers, head=declaration, name=f"red_{label}_{op}_{t}")
        for size in (16, 32, 64):
            rows = [(a, a if k % 2 else b, c) for k, (a, b, c) in enumerate(int_rows(f.rng, (size,) * 3, 40))]
            f.kernel(f"atom{dotted}.cas.b{size}", [f"b{size}"] * 3, [f"b{size}"] * 2,
                     f"{prepare}\nst{dotted}.b{size} [%p], {{a0}};\natom{dotted}.cas.b{size} {{r1}}, [%p], {{a1}}, {{a2}};\nld{dotted}.b{size} {{r0}}, [%p];",
                     rows, [(c if a == b else a, a) for a, b, c in rows], registers=registers, head=declaration, name=f"atom_{label}_cas_b{size}")
        for t, extra in (("f32", ""), ("f64", ""), ("f16", ".noftz"), ("bf16", ".noftz"), ("f16x2", ".noftz"), ("bf16x2", ".noftz")):
            scalar = t[:-2] if t.endswith("x2") else t
            bits = sf.width(scalar)
            rows = []
            for _ in range(33):
                lanes = [[finite_normal(f.rng, scalar, 5) for _ in range(2)] for _ in range(2)]
                rows.append(tuple(v[0] | v[1] << bits if t.endswith("x2") else v[0] for v in lanes))

            def total(a, b):
                if t.endswith("x2"):
                    return sum(sf.arithmetic("add", scalar, [a >> s & 0xffff, b >> s & 0xffff]) << s for s in (0, 16))
                return sf.arithmetic("add", scalar, [a, b])
            size = 32 if t.endswith("x2") else bits
            body = f"{prepare}\nst{dotted}.b{size} [%p], {{a0}};\n"
            f.kernel(f"atom{dotted}.add{extra}.{t}", [t] * 2, [t, t], body + f"atom{dotted}.add{extra}.{t} {{r1}}, [%p], {{a1}};\nld{dotted}.b{size} {{r0}}, [%p];",
                     rows, [(total(a, b), a) for a, b in rows], registers=registers, head=declaration, name=f"atom_{label}_add_{t}")
            f.kernel(f"red{dotted}.add{extra}.{t}", [t] * 2, [t], body + f"red{dotted}.add{extra}.{t} [%p], {{a1}};\nld{dotted}.b{size} {{r0}}, [%p];",
                     rows, [(total(a, b),) for a, b in rows], registers=registers, head=declaration, name=f"red_{label}_add_{t}")
    rows = int_rows(f.rng, (32, 32), 33)
    for order in ("relaxed.gpu", "acquire.gpu", "release.gpu", "acq_rel.gpu", "relaxed.cta", "acq_rel.sys", "relaxed.sys"):
        f.kernel(f"atom.{order}.global.add.u32", ["u32"] * 2, ["u32"] * 2,
                 f"st.global.b32 [%out], {{a0}};\natom.{order}.global.add.u32 {{r1}}, [%out], {{a1}};\nld.global.b32 {{r0}}, [%out];", rows, [(a + b, a) for a, b in rows])
    for form in ("atom.cta.global.add.u32", "atom.sys.global.add.u32", "atom.gpu.global.add.u32"):
        f.kernel(form, ["u32"] * 2, ["u32"] * 2, f"st.global.b32 [%out], {{a0}};\n{form} {{r1}}, [%out], {{a1}};\nld.global.b32 {{r0}}, [%out];", rows, [(a + b, a) for a, b in rows])
    guarded = [(a, b, k & 1) for k, (a, b) in enumerate(rows)]
    f.kernel("atom.global.add.u32 guarded", ["u32", "u32", "pred"], ["u32"] * 2,
             "st.global.b32 [%out], {a0};\nmov.b32 {r1}, 77;\n@{a2} atom.global.add.u32 {r1}, [%out], {a1};\nld.global.b32 {r0}, [%out];", guarded,
             [(a + b, a) if c else (a, 77) for a, b, c in guarded])


def contended():
    """All threads of a block on one word of shared memory, in operations whose order does not matter."""
    f = Family("atomic_contended", "sm_70", "7.0")
    registers, head = ".reg .b64 %p;.reg .pred %q", ".shared .align 8 .b64 word;"
    starts = {"add": 0, "or": 0, "xor": 0, "and": -1, "inc": 3, "dec": 9}
    for op, t, g in ATOMICS:
        if op == "exch":
            continue
        size = int(t[1:])
        mask = (1 << size) - 1
        start = starts.get(op, {"min": mask >> (t[0] == "s"), "max": 1 << size - 1 if t[0] == "s" else 0}.get(op, 0)) & mask
        rows = int_rows(f.rng, (size,), 128)
        if op in ("inc", "dec"):
            rows = [(11,)] * 128
        results = []
        for base in (0, 64):
            total = start
            for v, in rows[base:base + 64]:
                total = g(total, v) & mask
            results += [(total,)] * 64
        for kind in ("atom", "red"):
            operation = f"atom.shared.{op}.{t} {{r0}}, [%p], {{a0}};" if kind == "atom" else f"red.shared.{op}.{t} [%p], {{a0}};"
            f.kernel(f"{kind}.shared.{op}.{t} contended", [t], [t],
                     f"mov.u64 %p, word;\nmov.u32 %x, %tid.x;\nsetp.eq.u32 %q, %x, 0;\n@%q st.shared.b{size} [%p], {start};\nbar.sync 0;\n{operation}\nbar.sync 0;\n"
                     f"ld.shared.b{size} {{r0}}, [%p];", rows, results, registers=registers, head=head, blocks=(64,))
    rows = int_rows(f.rng, (32,), 128)
    totals = [(sum(v * v for v, in rows[b:b + 64]),) for b in (0, 64) for _ in range(64)]
    f.kernel("atom.shared.cas.b32 in a loop", ["u32"], ["u32"],
             "mov.u64 %p, word;\nmov.u32 %x, %tid.x;\nsetp.eq.u32 %q, %x, 0;\n@%q st.shared.b32 [%p], 0;\nbar.sync 0;\nmul.lo.u32 %v, {a0}, {a0};\nld.shared.u32 %x, [%p];\n"
             "AGAIN:\nadd.u32 %y, %x, %v;\natom.shared.cas.b32 %w, [%p], %x, %y;\nsetp.ne.u32 %q, %w, %x;\nmov.u32 %x, %w;\n@%q bra AGAIN;\nbar.sync 0;\nld.shared.u32 {r0}, [%p];",
             rows, totals, registers=registers + ";.reg .u32 %v, %w", head=head, blocks=(64,))
    # The subnormal numbers: global memory flushes them, shared memory does not.
    tiny = [(f.rng.getrandbits(23) | f.rng.getrandbits(1) << 31, f.rng.getrandbits(23) | f.rng.getrandbits(1) << 31) for _ in range(40)]
    tiny += [(f.rng.getrandbits(23) | 0x3f800000, f.rng.getrandbits(23)) for _ in range(10)]
    for kind in ("atom", "red"):
        operation = "{r0}, [%p], {a1}" if kind == "atom" else "[%p], {a1}"
        f.kernel(f"{kind}.global.add.f32 of subnormals", ["f32"] * 2, ["f32"],
                 f"mov.b64 %p, %out;\nst.global.f32 [%p], {{a0}};\n{kind}.global.add.f32 {operation};\nld.global.f32 {{r0}}, [%p];", tiny,
                 [(sf.arithmetic("add", "f32", [a, b], ftz=True),) for a, b in tiny], registers=registers)
        f.kernel(f"{kind}.shared.add.f32 of subnormals", ["f32"] * 2, ["f32"],
                 "mov.u32 %x, %tid.x;\nmov.u64 %p, words;\nmad.wide.u32 %p, %x, 4, %p;\n"
                 f"st.shared.f32 [%p], {{a0}};\n{kind}.shared.add.f32 {operation};\nld.shared.f32 {{r0}}, [%p];", tiny,
                 [(sf.arithmetic("add", "f32", [a, b]),) for a, b in tiny], registers=registers, head=".shared .align 4 .b8 words[256];")


def wide_vectors():
    """Vectors of 32 bytes."""
    f = Family("vector_wide", "sm_100", "8.8")
    rows = [record(f.rng) for _ in range(33)]
    for space in ("global",):
        for t in ("b32", "u32", "s32", "f32"):
            names = ", ".join(f"{{r{k}}}" for k in range(8))
            out = "f32" if t == "f32" else "b32"
            f.kernel(f"ld.{space}.v8.{t}", ["b64"] * 4, [out] * 8, f"ld.{space}.v8.{t} {{{{{names}}}}}, [%in];", rows,
                     [tuple(whole(r) >> 32 * k & 0xffffffff for k in range(8)) for r in rows])
        for t in ("b64", "u64", "s64", "f64"):
            names = ", ".join(f"{{r{k}}}" for k in range(4))
            out = "f64" if t == "f64" else "b64"
            f.kernel(f"ld.{space}.v4.{t}", ["b64"] * 4, [out] * 4, f"ld.{space}.v4.{t} {{{{{names}}}}}, [%in];", rows, rows)
        names = ", ".join(f"{{a{k}}}" for k in range(8))
        eight = int_rows(f.rng, (32,) * 8, 33)
        f.kernel(f"st.{space}.v8.b32", ["b32"] * 8, ["b32"] * 8, f"st.{space}.v8.b32 [%out], {{{{{names}}}}};\n" +
                 "\n".join(f"ld.global.b32 {{r{k}}}, [%out+{4 * k}];" for k in range(8)), eight, eight)
        names = ", ".join(f"{{a{k}}}" for k in range(4))
        f.kernel(f"st.{space}.v4.b64", ["b64"] * 4, ["b64"] * 4, f"st.{space}.v4.b64 [%out], {{{{{names}}}}};\n" +
                 "\n".join(f"ld.global.b64 {{r{k}}}, [%out+{8 * k}];" for k in range(4)), rows, rows)


def addresses():
    f = Family("address", "sm_70", "7.0")
    f.globals += [
        ".visible .global .align 4 .u32 alone = 0x12345678;",
        ".global .align 8 .u64 table[6] = {1, 0xfffffffffffffffe, 3, 4};",
        ".global .align 4 .f32 floats[4] = {1.0, -2.5, 0f7f800000, 0f00000001};",
        ".global .align 8 .f64 doubles[3] = {1.0, 0dbff8000000000000};",
        ".global .align 1 .u8 letters[8] = {72, 105, 0, 255};",
        ".global .align 1 .s8 minus[4] = {-1, -128, 127};",
        ".global .align 2 .s16 grid[2][3] = {{1, -2}, {3, 4, -5}};",
        ".const .align 4 .s32 constants[5] = {10, -20, 30, -40, 50};",
        ".const .align 8 .b8 bytes[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};",
        ".global .align 8 .u64 pointers[4] = {generic(alone), generic(table)+8, alone, table+16};",
        ".global .align 8 .u64 to_constants[1] = {generic(constants)};",
        ".global .align 4 .b32 zeroed[4];",
        ".shared .align 8 .b8 area[2048];",
        ".visible .const .align 4 .u32 scale = 7;",
        "",
    ]
    pointer = ".reg .b64 %p, %q"
    index = [(k,) for k in range(33)]

    def read(name, space, t, size, values, loaded=None):
        kept = [(k % len(values),) for k in range(33)]
        f.kernel(f"ld.{space} {name}", ["u32"], [loaded or t], f"mov.u64 %p, {name};\nmad.wide.u32 %p, {{a0}}, {size}, %p;\nld.{space}.{t} {{r0}}, [%p];",
                 kept, [(values[k],) for k, in kept], registers=pointer)
    f32 = [struct.unpack("<I", struct.pack("<f", v))[0] for v in (1.0, -2.5)] + [0x7f800000, 1]
    read("table", "global", "u64", 8, [1, (1 << 64) - 2, 3, 4, 0, 0])
    read("floats", "global", "f32", 4, f32)
    read("doubles", "global", "f64", 8, [0x3ff0000000000000, 0xbff8000000000000, 0])
    read("letters", "global", "u8", 1, [72, 105, 0, 255, 0, 0, 0, 0], "b32")
    read("minus", "global", "s8", 1, [v & 0xffffffff for v in (-1, -128, 127, 0)], "b32")
    read("grid", "global", "s16", 2, [v & 0xffffffff for v in (1, -2, 3, 4, -5, 0)], "b32")
    read("constants", "const", "s32", 4, [v & 0xffffffff for v in (10, -20, 30, -40, 50)])
    read("bytes", "const", "u16", 2, [1 + 2 * k | 2 + 2 * k << 8 for k in range(8)], "b32")
    read("zeroed", "global", "b32", 4, [0] * 4)
    f.kernel("ld.global of a symbol", ["u32"], ["b32"], "ld.global.u32 {r0}, [alone];", index, [(0x12345678,)] * 33)
    f.kernel("ld.global of a symbol with offset", ["u32"], ["b64"], "ld.global.u64 {r0}, [table+8];", index, [((1 << 64) - 2,)] * 33)
    f.kernel("ld.const of a symbol with offset", ["u32"], ["b32"], "ld.const.s32 {r0}, [constants+12];", index, [(-40,)] * 33)
    f.kernel("ld generic of constants", ["u32"], ["b32"], "mov.u64 %p, constants;\ncvta.const.u64 %p, %p;\nld.s32 {r0}, [%p+4];", index, [(-20,)] * 33, registers=pointer)
    f.kernel("ld generic through initialised pointers", ["u32"], ["b32", "b64", "b32", "b64", "b32"],
             "ld.global.u64 %p, [pointers];\nld.u32 {r0}, [%p];\nld.global.u64 %p, [pointers+8];\nld.u64 {r1}, [%p];\n"
             "ld.global.u64 %p, [pointers+16];\nld.global.u32 {r2}, [%p];\nld.global.u64 %p, [pointers+24];\nld.global.u64 {r3}, [%p];\n"
             "ld.global.u64 %p, [to_constants];\nld.s32 {r4}, [%p+8];",
             index, [(0x12345678, (1 << 64) - 2, 0x12345678, 3, 30)] * 33, registers=pointer)
    f.kernel("ld.param parts", ["u32"], ["b32", "b32", "b32", "b32"],
             "ld.param.u8 {r0}, [n];\nld.param.u8 {r1}, [n+1];\nld.param.u16 {r2}, [n];\nld.param.s8 {r3}, [n];", index, [(33, 0, 33, 33)] * 33)
    # isspacep and cvta, there and back.
    objects = {"global": "alone", "shared": "area", "const": "scale", "local": "mine"}
    for space, name in objects.items():
        head = ".local .align 8 .b8 mine[16];"
        tests = "\n".join(f"isspacep.{s} {{r{k}}}, %q;" for k, s in enumerate(("global", "shared", "local", "const")))
        want = tuple(int(s == space) for s in ("global", "shared", "local", "const"))
        f.kernel(f"isspacep of {space}", ["u32"], ["pred"] * 4 + ["pred"],
                 f"mov.u64 %p, {name};\ncvta.{space}.u64 %q, %p;\n{tests}\ncvta.to.{space}.u64 %q, %q;\nsetp.eq.u64 {{r4}}, %p, %q;", index,
                 [want + (1,)] * 33, registers=pointer, head=head)
    rows = [(f.rng.getrandbits(32),) for _ in range(33)]
    for space in ("shared", "local"):
        at = "mov.u32 %x, %tid.x;\nmov.u64 %p, area;\nmad.wide.u32 %p, %x, 8, %p;" if space == "shared" else "mov.u64 %p, mine;"
        f.kernel(f"generic store and {space} load", ["u32"], ["b32"], f"{at}\ncvta.{space}.u64 %q, %p;\nst.u32 [%q+4], {{a0}};\nld.{space}.u32 {{r0}}, [%p+4];",
                 rows, rows, registers=pointer, head=".local .align 8 .b8 mine[16];")
        f.kernel(f"{space} store and generic load", ["u32"], ["b32"], f"{at}\ncvta.{space}.u64 %q, %p;\nst.{space}.u32 [%p+4], {{a0}};\nld.u32 {{r0}}, [%q+4];",
                 rows, rows, registers=pointer, head=".local .align 8 .b8 mine[16];")
    f.kernel("shared addresses of 32 bits", ["u32"], ["b32"],
             "mov.u32 %x, %tid.x;\nmov.u32 %y, area;\nmad.lo.u32 %y, %x, 8, %y;\nst.shared.u32 [%y+4], {a0};\nld.shared.u32 {r0}, [%y+4];", rows, rows)


def make():
    loads()
    stores()
    atomics()
    contended()
    wide_vectors()
    addresses()
