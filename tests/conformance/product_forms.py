"""Products of matrices by a warp: `mma`, and `wmma` from memory to memory."""
import softfloat as sf
from forms import Family, signed
from warp_forms import WHOLE, by_warp

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "s32": 32}
FLOATS = ("f16", "bf16", "tf32", "f32", "f64")
M32 = 0xffffffff


def extents(shape):
    """The numbers of `m16n8k16`."""
    m, rest = shape[1:].split("n")
    n, k = rest.split("k")
    return int(m), int(n), int(k)


def widened(kind, bits):
    """An element of A, B or C in the format in which sums are made."""
    if kind == "tf32":
        return bits & 0xffffe000
    if kind == "bf16":
        return bits << 16
    return sf.resize("f32", "f16", bits) if kind == "f16" else bits


def element(types, terms, c, mode, function):
    """One element of D: terms are the pairs of elements of A and B along K."""
    d, a, b, ctype = types
    if a in FLOATS:
        fmt, total = "f64" if a == "f64" else "f32", widened(ctype, c)
        for x, y in terms:
            total = sf.arithmetic("fma", fmt, (widened(a, x), widened(b, y), total), mode)
        return sf.resize("f16", "f32", total) if d == "f16" else total
    if a == "b1":
        total = sum(x & y if function == "and" else x ^ y for x, y in terms)
    else:
        total = sum(value(a, x) * value(b, y) for x, y in terms)
    total += signed(c, 32)
    return (max(-1 << 31, min(total, (1 << 31) - 1)) if function == "satfinite" else total) & M32


def value(kind, bits):
    """The number that an integer of 4 or 8 bits is."""
    return signed(bits, BITS[kind]) if kind[0] == "s" else bits


def product(shape, types, a, b, c, mode, function):
    """D as rows."""
    m, n, k = extents(shape)
    return [[element(types, [(a[i][p], b[p][j]) for p in range(k)], c[i][j], mode, function) for j in range(n)] for i in range(m)]


def number(rng, kind, special):
    """The bits of a random element."""
    if kind not in FLOATS:
        edges = [0, 1, (1 << BITS[kind]) - 1, 1 << (BITS[kind] - 1), (1 << (BITS[kind] - 1)) - 1]
        return rng.choice(edges) if rng.random() < 0.3 else rng.getrandbits(BITS[kind])
    fmt = "f32" if kind == "tf32" else kind
    if special and rng.random() < 0.02:
        return rng.choice((sf.infinity(fmt), sf.infinity(fmt, 1), sf.canonical_nan(fmt)))
    if special and rng.random() < 0.1:
        return rng.choice((0, 1, 3, sf.largest(fmt), 1 << (sf.width(fmt) - 1)))
    # Between 2^-4 and 2^4, of either sign.
    fraction = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}[fmt]
    exponent = (sf.one(fmt) >> fraction) + rng.randint(-4, 3)
    return rng.getrandbits(1) << (sf.width(fmt) - 1) | exponent << fraction | rng.getrandbits(fraction)


def held(kind, role, shape, lane):
    """Where the elements of a lane's fragment are: row and column of each, in the order of the registers."""
    m, n, k = extents(shape)
    group, place, each = lane // 4, lane % 4, max(32 // BITS[kind], 1)
    if role == "a":
        for i in range(m * k // 32):
            yield group + 8 * (i // each % (m // 8)), place * each + i % each + 4 * each * (i // each // (m // 8))
    elif role == "b":
        for i in range(k * n // 32):
            yield place * each + i % each + 4 * each * (i // each), group
    else:
        for i in range(m * n // 32):
            yield group + 8 * (i // 2), place * 2 + i % 2


def unpacked(words, kind):
    """The elements of registers."""
    size = BITS[kind]
    return [w >> s & ((1 << size) - 1) for w in words for s in range(0, max(size, 32), size)]


def packed(elements, kind):
    """Registers of elements."""
    size, each = BITS[kind], max(32 // BITS[kind], 1)
    return tuple(sum(e << size * i for i, e in enumerate(elements[at:at + each])) for at in range(0, len(elements), each))


def register(kind):
    """The type of the registers that hold elements."""
    return kind if kind in ("f32", "f64") else "b32"


def multiply():
    """`mma`: fragments as the manual defines them."""
    f = Family("warp_product", "sm_90", "7.8")
    rng = f.rng

    def form(shape, types, mode="rn", function="", behind=""):
        roles = "dabc"
        m, n, k = extents(shape)
        sizes = {"a": (m, k), "b": (k, n), "c": (m, n)}
        places = {r: [list(held(t, r, shape, lane)) for lane in range(32)] for r, t in zip(roles, types)}
        counts = {r: len(packed([0] * len(places[r][0]), t)) for r, t in zip(roles, types)}
        ins = [register(t) for r, t in zip(roles[1:], types[1:]) for _ in range(counts[r])]
        rows = []
        for warp in range(2):
            for lane in range(32):
                record = ()
                for r, t in zip(roles[1:], types[1:]):
                    record += packed([number(rng, t, warp == 1) for _ in places[r][lane]], t)
                rows.append(record)

        def model(warp):
            matrices, at = [], 0
            for r, t in zip(roles[1:], types[1:]):
                matrix = [[None] * sizes[r][1] for _ in range(sizes[r][0])]
                for lane, record in enumerate(warp):
                    for (i, j), e in zip(places[r][lane], unpacked(record[at:at + counts[r]], t)):
                        matrix[i][j] = e
                matrices.append(matrix)
                at += counts[r]
            d = product(shape, types, *matrices, mode, function)
            return [packed([d[i][j] for i, j in places["d"][lane]], types[0]) for lane in range(32)]
        between = f".{mode}" if mode != "rn" else ".satfinite" if function == "satfinite" else ""
        name = f"mma.sync.aligned.{shape}.row.col{between}.{'.'.join(types)}{behind}"
        at, vectors = 0, ["{{{{" + ", ".join(f"{{r{i}}}" for i in range(counts["d"])) + "}}}}"]
        for r in roles[1:]:
            vectors.append("{{{{" + ", ".join(f"{{a{at + i}}}" for i in range(counts[r])) + "}}}}")
            at += counts[r]
        text = ", ".join(vectors).replace("{{{{", "{{").replace("}}}}", "}}")
        f.kernel(name, ins, [register(types[0])] * counts["d"], f"{name} {text};", rows, by_warp(rows, model), blocks=WHOLE)
    for shape in ("m16n8k8", "m16n8k16"):
        form(shape, ("f16", "f16", "f16", "f16"))
        form(shape, ("f32", "f16", "f16", "f32"))
        form(shape, ("f32", "bf16", "bf16", "f32"))
    for shape in ("m16n8k4", "m16n8k8"):
        form(shape, ("f32", "tf32", "tf32", "f32"))
    for mode in ("rn", "rz", "rm", "rp"):
        form("m8n8k4", ("f64",) * 4, mode)
    for shape in ("m16n8k4", "m16n8k8", "m16n8k16"):
        form(shape, ("f64",) * 4)
    for kinds, shapes in ((("s8", "u8"), ("m8n8k16", "m16n8k16", "m16n8k32")), (("s4", "u4"), ("m8n8k32", "m16n8k32", "m16n8k64"))):
        for shape in shapes:
            for a in kinds:
                for b in kinds:
                    form(shape, ("s32", a, b, "s32"))
                    form(shape, ("s32", a, b, "s32"), function="satfinite")
    for shape in ("m8n8k128", "m16n8k128", "m16n8k256"):
        for function in ("xor", "and"):
            form(shape, ("s32", "b1", "b1", "s32"), function=function, behind=f".{function}.popc")


def words(matrix, kind, layout, pitch):
    """The bytes of a matrix in memory, as a number of bits per element and a pitch in elements."""
    lines = matrix if layout == "row" else list(zip(*matrix))
    bits, size = 0, BITS[kind]
    for at, line in enumerate(lines):
        for column, e in enumerate(line):
            bits |= e << size * (at * pitch + column)
    length = pitch * len(lines) * size // 8
    return bits.to_bytes(length, "little")


def through_memory():
    """`wmma.load`, `wmma.mma`, `wmma.store`: where the elements are in registers is left open, so each kernel goes from memory to memory."""
    f = Family("warp_fragments", "sm_80", "7.1")
    rng = f.rng

    def form(shape, types, layouts, space=".global", pad=0, mode="", function="", behind="", between=""):
        m, n, k = extents(shape)
        roles, sizes = "dabc", {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}
        pitches = {r: sizes[r][layout == "row"] + pad * max(1, 32 // BITS[t]) for r, t, layout in zip(roles, types, layouts)}
        lengths = {r: pitches[r] * sizes[r][layout != "row"] * BITS[t] // 8 for r, t, layout in zip(roles, types, layouts)}
        offsets, at = {"d": 0}, 0
        for r in "abc":
            at = (at + 31) // 32 * 32
            offsets[r] = at
            at += lengths[r]
        ins, outs = -(-at // 128), -(-lengths["d"] // 128)
        rows, results = [], []
        for warp in range(2):
            memory, matrices = bytearray(128 * ins), []
            for r, t, layout in zip(roles[1:], types[1:], layouts[1:]):
                matrix = [[number(rng, t, warp == 1) for _ in range(sizes[r][1])] for _ in range(sizes[r][0])]
                matrices.append(matrix)
                memory[offsets[r]:offsets[r] + lengths[r]] = words(matrix, t, layout, pitches[r])
            d = words(product(shape, types, *matrices, mode or "rn", function), types[0], layouts[0], pitches["d"]).ljust(128 * outs, b"\0")
            for data, count, records in ((memory, ins, rows), (d, outs, results)):
                numbers = [int.from_bytes(data[i:i + 4], "little") for i in range(0, len(data), 4)]
                records += [tuple(numbers[lane * count:lane * count + count]) for lane in range(32)]
        fragments = {}
        for r, t in zip(roles, types):
            count = {"a": m * k, "b": k * n}.get(r, m * n) // 32 // max(32 // BITS[t], 1)
            count = 8 if t == "f16" and r in "ab" else count
            name = "fa" if r == "a" else r
            fragments[r] = "{{" + ", ".join(f"%{name}{i}" for i in range(count)) + "}}"
        registers = "; ".join(f".reg .{register(t)} %{r}<16>" for r, t in zip(("d", "fa", "b", "c"), types))
        registers += "; .reg .b64 %from, %to"
        body = [f"mov.u32 %x, %laneid;\nmul.lo.u32 %y, %x, {4 * ins};\ncvt.u64.u32 %from, %y;\nsub.u64 %from, %in, %from;\nmul.lo.u32 %y, %x, {4 * outs};\ncvt.u64.u32 %to, %y;\nsub.u64 %to, %out, %to;"]
        if space == "":
            body.append("cvta.global.u64 %from, %from;\ncvta.global.u64 %to, %to;")
        head = ""
        if space == ".shared":
            head = f".shared .align 32 .b8 area[{256 * ins}], made[{256 * outs}];"
            body.append("mov.u64 %from, area;\nmov.u64 %to, made;\nmov.u32 %y, %tid.x;\nand.b32 %y, %y, 32;\n")
            body.append(f"mad.wide.u32 %from, %y, {4 * ins}, %from;\nmad.wide.u32 %to, %y, {4 * outs}, %to;\n.reg .b64 %own;\nmad.wide.u32 %own, %x, {4 * ins}, %from;")
            body += [f"st.shared.b32 [%own+{4 * i}], {{a{i}}};" for i in range(ins)]
            body.append(f"mad.wide.u32 %own, %x, {4 * outs}, %to;")
            body += [f"st.shared.b32 [%own+{4 * i}], 0;" for i in range(outs)]
            body.append("bar.warp.sync -1;")
        for r, t, layout in zip(roles[1:], types[1:], layouts[1:]):
            pitch = f", {pitches[r]}" if pad else ""
            body.append(f"wmma.load.{r}.sync.aligned.{layout}.{shape}{space}.{t} {fragments[r]}, [%from+{offsets[r]}]{pitch};")
        kinds = f"{types[0]}.{types[3]}" if types[1] == "f16" else ".".join(types)
        name = f"wmma.mma{behind}.sync.aligned.{layouts[1]}.{layouts[2]}.{shape}{between}.{kinds}{'.satfinite' if function == 'satfinite' else ''}"
        body.append(f"{name} {fragments['d']}, {fragments['a']}, {fragments['b']}, {fragments['c']};")
        pitch = f", {pitches['d']}" if pad else ""
        body.append(f"wmma.store.d.sync.aligned.{layouts[0]}.{shape}{space}.{types[0]} [%to], {fragments['d']}{pitch};\nbar.warp.sync -1;")
        source = "shared.b32 {{r{0}}}, [%own+{1}];" if space == ".shared" else "global.b32 {{r{0}}}, [%out+{1}];"
        body += ["ld." + source.format(i, 4 * i) for i in range(outs)]
        f.kernel(f"{name} {layouts[3]}{layouts[0]}{space or '.generic'}{pad}", ["b32"] * ins, ["b32"] * outs, "\n".join(body), rows, results,
                 registers=registers, blocks=WHOLE, head=head)
    spaces, turn = (".global", ".shared", ""), 0
    for shape in ("m16n16k16", "m8n32k16", "m32n8k16"):
        for types in (("f32", "f16", "f16", "f32"), ("f16", "f16", "f16", "f16"), ("f16", "f16", "f16", "f32"), ("f32", "f16", "f16", "f16"),
                      ("f32", "bf16", "bf16", "f32"), ("s32", "s8", "s8", "s32"), ("s32", "u8", "u8", "s32")):
            for a, b in (("row", "col"), ("col", "row"), ("row", "row"), ("col", "col"))[:4 if shape == "m16n16k16" else 2]:
                form(shape, types, ("row" if turn % 2 else "col", a, b, "row" if turn % 4 > 1 else "col"), spaces[turn % 3], 8 * (turn // 4 % 2))
                turn += 1
    for a in ("row", "col"):
        for b in ("row", "col"):
            form("m16n16k8", ("f32", "tf32", "tf32", "f32"), (b, a, b, a), spaces[turn % 3], 4 * (turn % 2))
            form("m8n8k4", ("f64",) * 4, (a, a, b, b), spaces[turn % 3], 2 * (turn % 2))
            turn += 1
    form("m8n8k4", ("f64",) * 4, ("row", "row", "col", "row"), mode="rz", between=".rz")
    form("m16n16k16", ("s32", "s8", "s8", "s32"), ("row", "row", "col", "row"), function="satfinite")
    for a in ("s4", "u4"):
        form("m8n8k32", ("s32", a, a, "s32"), ("col", "row", "col", "row"), ".shared", 4)
        form("m8n8k32", ("s32", a, a, "s32"), ("row", "row", "col", "col"), function="satfinite")
    for function in ("xor", "and"):
        form("m8n8k128", ("s32", "b1", "b1", "s32"), ("row", "row", "col", "row"), "", 4, function=function, behind=f".{function}.popc")


def make():
    multiply()
    through_memory()
