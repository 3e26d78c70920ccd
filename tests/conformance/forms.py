"""What a form's test is made of: a kernel that reads operand records and writes result records.

Every kernel has the parameters (u64 in, u64 out, u32 n): thread i of the launch reads record i of
`in`, performs one instruction (or a short sequence) and writes record i of `out`.
"""
import json
import os
import random

HERE = os.path.dirname(os.path.abspath(__file__))
FAMILIES = []

# Storage type: register type, suffix of its load and store, bytes.
TYPES = {}
for _kind in "bus":
    for _bits in (8, 16, 32, 64):
        TYPES[f"{_kind}{_bits}"] = (f"{_kind}{max(_bits, 16)}", f"b{_bits}" if _bits > 8 else f"{'s' if _kind == 's' else 'u'}8", _bits // 8)
TYPES.update({"f16": ("b16", "b16", 2), "bf16": ("b16", "b16", 2), "f16x2": ("b32", "b32", 4), "bf16x2": ("b32", "b32", 4),
              "f32": ("f32", "f32", 4), "f32x2": ("b64", "b64", 8), "f64": ("f64", "f64", 8), "pred": ("pred", "u32", 4),
              "u16x2": ("b32", "b32", 4), "s16x2": ("b32", "b32", 4)})


class Family:
    """One PTX file of kernels and the data of their records."""

    def __init__(self, name, arch="sm_70", version="7.0"):
        self.name, self.arch, self.version = name, arch, version
        self.kernels, self.entries, self.data, self.globals = [], [], bytearray(), []
        self.names = set()
        self.rng = random.Random(name)
        FAMILIES.append(self)

    def place(self, data):
        """Appends to the data file; returns where."""
        while len(self.data) % 32:
            self.data.append(0)
        at = len(self.data)
        self.data += data
        return {"offset": at, "bytes": len(data)}

    def kernel(self, form, ins, outs, body, rows, results, registers="", compare=None, blocks=(1, 64), name=None, head=""):
        """A kernel whose body uses {a0} {a1} ... and writes {r0} {r1} ...; rows and results are lists of bit patterns.

        compare: one entry a result, or one for all; default exact.
        """
        name = name or form.replace(".", "_").replace("|", "_").replace("::", "_").replace(" ", "_")
        assert name not in self.names, name
        assert len(rows) == len(results) and rows, form
        self.names.add(name)
        compare = compare if isinstance(compare, list) else [compare or {"kind": "exact"}] * len(outs)
        compare = [dict(c, format=c.get("format", t.removesuffix("x2"))) if "nan" in c else c for c, t in zip(compare, outs)]
        in_size, in_offsets = layout(ins)
        out_size, out_offsets = layout(outs)
        lines = [f".visible .entry {name}(.param .u64 in, .param .u64 out, .param .u32 n)", "{"]
        lines += ["    .reg .pred %done;", "    .reg .b32 %i, %n, %x, %y;", "    .reg .b64 %in, %out;"]
        named = {}
        for kind, types in (("a", ins), ("r", outs)):
            for k, t in enumerate(types):
                lines.append(f"    .reg .{TYPES[t][0]} %{kind}{k};")
                named[f"{kind}{k}"] = f"%{kind}{k}"
                if t == "pred":
                    lines.append(f"    .reg .b32 %{kind}{k}v;")
        if registers:
            lines += [f"    {r.strip()};" for r in registers.split(";") if r.strip()]
        if head:
            lines += ["    " + h.strip() for h in head.strip().splitlines()]
        lines += ["    ld.param.u32 %n, [n];", "    mov.u32 %x, %ctaid.x;", "    mov.u32 %y, %ntid.x;", "    mov.u32 %i, %tid.x;",
                  "    mad.lo.s32 %i, %x, %y, %i;", "    setp.ge.u32 %done, %i, %n;", "    @%done exit;",
                  "    ld.param.u64 %in, [in];", "    ld.param.u64 %out, [out];", "    cvta.to.global.u64 %in, %in;",
                  "    cvta.to.global.u64 %out, %out;", f"    mad.wide.u32 %in, %i, {in_size}, %in;",
                  f"    mad.wide.u32 %out, %i, {out_size}, %out;"]
        for k, (t, offset) in enumerate(zip(ins, in_offsets)):
            target = f"%a{k}v" if t == "pred" else f"%a{k}"
            lines.append(f"    ld.global.{TYPES[t][1]} {target}, [%in+{offset}];")
            if t == "pred":
                lines.append(f"    setp.ne.u32 %a{k}, %a{k}v, 0;")
        lines += ["    " + b.strip() for b in body.format(**named).strip().splitlines()]
        for k, (t, offset) in enumerate(zip(outs, out_offsets)):
            source = f"%r{k}"
            if t == "pred":
                lines.append(f"    selp.u32 %r{k}v, 1, 0, %r{k};")
                source += "v"
            lines.append(f"    st.global.{TYPES[t][1]} [%out+{offset}], {source};")
        lines += ["    ret;", "}"]
        self.kernels.append("\n".join(lines))
        self.entries.append({
            "ptx": f"{self.name}.ptx", "kernel": name, "form": form, "count": len(rows), "blocks": list(blocks),
            "in_types": list(ins), "in_stride": in_size, "in": self.place(records(rows, ins, in_offsets, in_size)),
            "out_types": list(outs), "out_stride": out_size, "out": self.place(records(results, outs, out_offsets, out_size)),
            "compare": compare})

    def op(self, form, out, ins, rows, model, compare=None, name=None, ambiguous=(), operands=None, **more):
        """A kernel of one instruction `form r0, a0, a1...`; rows whose model raises one of `ambiguous` are left out."""
        kept, results = [], []
        for row in rows:
            row = row if isinstance(row, tuple) else (row,)
            try:
                got = model(*row)
            except ambiguous:
                continue
            bits = 8 * TYPES[out][2]
            results.append((int(got) & ((1 << bits) - 1),))
            kept.append(row)
        text = operands or ", ".join(["{r0}"] + [f"{{a{k}}}" for k in range(len(ins))])
        self.kernel(form, ins, (out,), f"{form} {text};", kept, results, compare=compare, name=name, **more)

    def write(self):
        """Writes the PTX and the data; returns the manifest's lines."""
        head = ["// Made by generate.py: one kernel a form.", f".version {self.version}", f".target {self.arch}", ".address_size 64", ""]
        with open(os.path.join(HERE, f"{self.name}.ptx"), "w") as file:
            file.write("\n".join(head + self.globals) + "\n" + "\n\n".join(self.kernels) + "\n")
        with open(os.path.join(HERE, f"{self.name}.bin"), "wb") as file:
            file.write(self.data)
        return [json.dumps(e) for e in self.entries]


def layout(types):
    """The stride of a record and the offset of each member, each aligned to its size."""
    at, offsets, widest = 0, [], 4
    for t in types:
        size = TYPES[t][2]
        at = (at + size - 1) // size * size
        offsets.append(at)
        at += size
        widest = max(widest, size)
    return max((at + widest - 1) // widest * widest, widest), offsets


def records(rows, types, offsets, stride):
    """The bytes of all records."""
    data = bytearray(stride * len(rows))
    for index, row in enumerate(rows):
        for bits, t, offset in zip(row, types, offsets):
            size = TYPES[t][2]
            data[index * stride + offset:index * stride + offset + size] = (int(bits) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    return bytes(data)


def signed(bits, size):
    """Two's complement."""
    bits &= (1 << size) - 1
    return bits - (1 << size) if bits >> (size - 1) else bits


def int_edges(size):
    """Integers at which something changes."""
    top = 1 << size
    values = {0, 1, 2, 3, 5, 7, size // 2, size - 1, size, size + 1, top // 2 - 1, top // 2, top // 2 + 1, top - 1, top - 2, top - 3,
              1 << size // 2, (1 << size // 2) - 1, (1 << size // 2) + 1, top // 3, 2 * top // 3, (1 << size // 4) - 1}
    return sorted(v % top for v in values)


def int_rows(rng, sizes, count=61):
    """Records of integers: pairs of edges first, then a mixture."""
    rows = []
    for _ in range(count):
        row = []
        for size in sizes:
            pick = rng.random()
            if pick < 0.55:
                row.append(rng.choice(int_edges(size)))
            elif pick < 0.8:
                row.append(rng.getrandbits(size))
            else:
                row.append(rng.getrandbits(rng.randint(1, size)) * rng.choice((1, -1)) % (1 << size))
        rows.append(tuple(row))
    return rows
