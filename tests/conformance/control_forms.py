"""Branches, indirect branches, calls of every shape, exits and parameters."""
import struct

from forms import Family, int_rows, signed

M32 = 0xffffffff


def branches():
    f = Family("branch", "sm_70", "7.0")
    rng = f.rng
    rows = [(rng.randint(0, 9),) for _ in range(61)]
    f.kernel("brx.idx", ["u32"], ["u32"],
             "mov.u32 {r0}, 1000;\nsetp.gt.u32 %p, {a0}, 5;\n@%p bra OTHER;\ntargets: .branchtargets ZERO, ONE, TWO, THREE, TWO, FIVE;\nbrx.idx {a0}, targets;\n"
             "ZERO:\nadd.u32 {r0}, {r0}, 1;\nONE:\nadd.u32 {r0}, {r0}, 10;\nbra.uni DONE;\nTWO:\nadd.u32 {r0}, {r0}, {a0};\nbra DONE;\nTHREE:\nmul.lo.u32 {r0}, {r0}, 3;\n"
             "bra ONE;\nFIVE:\nmov.u32 {r0}, 5;\nbra.uni DONE;\nOTHER:\nmov.u32 {r0}, 9;\nDONE:", rows,
             [({0: 1011, 1: 1010, 2: 1002, 3: 3010, 4: 1004, 5: 5}.get(a, 9),) for a, in rows], registers=".reg .pred %p")
    f.kernel("brx.idx.uni", ["u32"], ["u32"], "mov.u32 %x, 1;\nlist: .branchtargets A, B, C;\nbrx.idx.uni %x, list;\nA:\nmov.u32 {r0}, 1;\nbra D;\nB:\nmov.u32 {r0}, 2;\nbra D;\n"
             "C:\nmov.u32 {r0}, 3;\nD:", rows, [(2,)] * 61)
    # A small machine driven by an indirect branch inside a loop.
    programs = [(rng.getrandbits(32),) for _ in range(61)]

    def run(code):
        acc = 1
        while code:
            op = code & 3
            code >>= 2
            if op == 0:
                acc += 1
            elif op == 1:
                acc = acc * 3 & M32
            elif op == 2:
                acc ^= code & M32
            else:
                break
        return acc
    f.kernel("brx.idx in a loop", ["u32"], ["u32"],
             "mov.u32 {r0}, 1;\nmov.u32 %x, {a0};\nHEAD:\nsetp.eq.u32 %p, %x, 0;\n@%p bra DONE;\nand.b32 %y, %x, 3;\nshr.u32 %x, %x, 2;\n"
             "list: .branchtargets A, B, C, DONE;\nbrx.idx %y, list;\nA:\nadd.u32 {r0}, {r0}, 1;\nbra HEAD;\nB:\nmul.lo.u32 {r0}, {r0}, 3;\nbra HEAD;\nC:\n"
             "xor.b32 {r0}, {r0}, %x;\nbra HEAD;\nDONE:", programs, [(run(c),) for c, in programs], registers=".reg .pred %p")
    pairs = [(rng.randint(0, 40), rng.randint(0, 1)) for _ in range(61)]
    f.kernel("bra negated", ["u32", "pred"], ["u32"], "mov.u32 {r0}, 1;\n@!{a1} bra SKIP;\nmov.u32 {r0}, 2;\nSKIP:\n@{a1} bra DONE;\nadd.u32 {r0}, {r0}, {a0};\nDONE:", pairs,
             [(2 if p else 1 + a,) for a, p in pairs])

    def gcd(a, b):
        while b:
            a, b = b, a % b
        return a
    numbers = [(rng.randint(1, 5000), rng.randint(0, 5000)) for _ in range(61)]
    f.kernel("loop with divergent ends", ["u32", "u32"], ["u32"],
             "mov.u32 {r0}, {a0};\nmov.u32 %x, {a1};\nHEAD:\nsetp.eq.u32 %p, %x, 0;\n@%p bra DONE;\nrem.u32 %y, {r0}, %x;\nmov.u32 {r0}, %x;\nmov.u32 %x, %y;\nbra.uni HEAD;\nDONE:",
             numbers, [(gcd(a, b),) for a, b in numbers], registers=".reg .pred %p")

    def nested(a):
        total = 0
        for i in range(a % 8):
            for j in range(i, 8):
                if (i * j) & 1:
                    total += 5
                    continue
                if i + j == a % 13:
                    break
                total += j
            if total > 60:
                return total + 1000
        return total
    cases = [(rng.randint(0, 200),) for _ in range(61)]
    f.kernel("nested loops with breaks", ["u32"], ["u32"],
             "mov.u32 {r0}, 0;\nmov.u32 %x, 0;\nrem.u32 %k, {a0}, 8;\nrem.u32 %m, {a0}, 13;\nOUTER:\nsetp.ge.u32 %p, %x, %k;\n@%p bra DONE;\nmov.u32 %y, %x;\n"
             "INNER:\nsetp.ge.u32 %p, %y, 8;\n@%p bra NEXT;\nmul.lo.u32 %s, %x, %y;\nand.b32 %s, %s, 1;\nsetp.eq.u32 %p, %s, 0;\n@%p bra EVEN;\nadd.u32 {r0}, {r0}, 5;\n"
             "bra STEP;\nEVEN:\nadd.u32 %s, %x, %y;\nsetp.eq.u32 %p, %s, %m;\n@%p bra NEXT;\nadd.u32 {r0}, {r0}, %y;\nSTEP:\nadd.u32 %y, %y, 1;\nbra INNER;\n"
             "NEXT:\nadd.u32 %x, %x, 1;\nsetp.le.u32 %p, {r0}, 60;\n@%p bra OUTER;\nadd.u32 {r0}, {r0}, 1000;\nDONE:",
             cases, [(nested(a),) for a, in cases], registers=".reg .pred %p;.reg .b32 %k, %m, %s")
    # Two loops that enter each other: no single header.
    def tangled(a):
        at, count, v = ("left" if a & 1 else "right"), 0, a
        while count < 50:
            count += 1
            if at == "left":
                v = v * 5 + 1 & M32
                at = "right"
                if v & 4:
                    break
            else:
                v ^= v >> 3
                at = "left"
                if v % 7 == 3:
                    break
        return v
    cases = [(rng.getrandbits(16),) for _ in range(61)]
    f.kernel("irreducible loop", ["u32"], ["u32"],
             "mov.u32 {r0}, {a0};\nmov.u32 %x, 0;\nand.b32 %y, {a0}, 1;\nsetp.eq.u32 %p, %y, 0;\n@%p bra RIGHT;\nLEFT:\nsetp.ge.u32 %p, %x, 50;\n@%p bra DONE;\nadd.u32 %x, %x, 1;\n"
             "mad.lo.u32 {r0}, {r0}, 5, 1;\nand.b32 %y, {r0}, 4;\nsetp.ne.u32 %p, %y, 0;\n@%p bra DONE;\nRIGHT:\nsetp.ge.u32 %p, %x, 50;\n@%p bra DONE;\nadd.u32 %x, %x, 1;\n"
             "shr.u32 %y, {r0}, 3;\nxor.b32 {r0}, {r0}, %y;\nrem.u32 %y, {r0}, 7;\nsetp.eq.u32 %p, %y, 3;\n@!%p bra LEFT;\nDONE:", cases, [(tangled(a),) for a, in cases],
             registers=".reg .pred %p")
    # Some threads end early: their results stay as memory was.
    cases = [(k, rng.getrandbits(31) | 1) for k in range(61)]
    f.kernel("exit guarded", ["u32", "u32"], ["u32"], "and.b32 %x, {a0}, 3;\nsetp.eq.u32 %p, %x, 2;\n@%p exit;\nmov.u32 {r0}, {a1};", cases,
             [(0 if a & 3 == 2 else b,) for a, b in cases], registers=".reg .pred %p")
    f.kernel("ret guarded", ["u32", "u32"], ["u32"], "and.b32 %x, {a0}, 3;\nsetp.eq.u32 %p, %x, 1;\n@!%p ret;\nmov.u32 {r0}, {a1};", cases,
             [(b if a & 3 == 1 else 0,) for a, b in cases], registers=".reg .pred %p")
    f.kernel("exit of divergent arms", ["u32", "u32"], ["u32"],
             "and.b32 %x, {a0}, 1;\nsetp.eq.u32 %p, %x, 1;\n@%p bra ODD;\nst.global.u32 [%out], 4;\nexit;\nODD:\nmov.u32 {r0}, {a1};", cases,
             [(b if a & 1 else 4,) for a, b in cases], registers=".reg .pred %p")


FUNCTIONS = """.func (.reg .u32 %result) by_register(.reg .u32 %a, .reg .u32 %b)
{
    .reg .pred %p;
    setp.gt.u32 %p, %a, %b;
    @%p bra LARGER;
    sub.u32 %result, %b, %a;
    ret;
LARGER:
    sub.u32 %result, %a, %b;
    ret;
}

.func (.param .b32 result) by_param(.param .b32 a, .param .b64 b)
{
    .reg .b32 %x;
    .reg .b64 %y, %z;
    ld.param.u32 %x, [a];
    ld.param.u64 %y, [b];
    cvt.u64.u32 %z, %x;
    mul.lo.u64 %y, %y, %z;
    shr.u64 %y, %y, 16;
    cvt.u32.u64 %x, %y;
    st.param.b32 [result], %x;
    ret;
}

.func (.param .align 8 .b8 result[16]) structure(.param .align 8 .b8 s[24], .param .b32 by)
{
    .reg .b16 %h;
    .reg .b32 %x, %y;
    .reg .b64 %w;
    ld.param.u8 %h, [s];
    ld.param.s16 %x, [s+2];
    ld.param.u32 %y, [by];
    ld.param.u64 %w, [s+8];
    mul.lo.s32 %x, %x, %y;
    st.param.u32 [result+4], %x;
    st.param.u64 [result+8], %w;
    ld.param.u32 %x, [s+20];
    add.u32 %x, %x, 1;
    st.param.u32 [result], %x;
    st.param.u8 [result], %h;
    ret;
}

.func nothing_back(.param .b64 where, .param .b32 value)
{
    .reg .b32 %x;
    .reg .b64 %p;
    ld.param.u64 %p, [where];
    ld.param.u32 %x, [value];
    shl.b32 %x, %x, 1;
    st.u32 [%p], %x;
    ret;
}

.func (.param .b32 result) nested(.param .b32 a)
{
    .reg .b32 %x, %y;
    ld.param.u32 %x, [a];
    add.u32 %x, %x, 3;
    call.uni (%y), by_register, (%x, 20);
    mul.lo.u32 %y, %y, %x;
    st.param.b32 [result], %y;
    ret;
}

.func (.param .b32 result) doubled(.param .b32 a)
{
    .reg .b32 %x;
    ld.param.u32 %x, [a];
    add.u32 %x, %x, %x;
    st.param.b32 [result], %x;
    ret;
}

.func (.param .b32 result) squared(.param .b32 a)
{
    .reg .b32 %x;
    ld.param.u32 %x, [a];
    mul.lo.u32 %x, %x, %x;
    st.param.b32 [result], %x;
    ret;
}

.func (.param .b32 result) ends_some(.param .b32 a)
{
    .reg .b32 %x;
    .reg .pred %p;
    ld.param.u32 %x, [a];
    setp.gt.u32 %p, %x, 100;
    @%p exit;
    add.u32 %x, %x, 7;
    st.param.b32 [result], %x;
    ret;
}

.func (.param .f32 result) floating(.param .f32 a, .param .f64 b, .param .b16 c)
{
    .reg .f32 %x;
    .reg .f64 %y;
    .reg .b16 %h;
    ld.param.f32 %x, [a];
    ld.param.f64 %y, [b];
    ld.param.u16 %h, [c];
    cvt.rn.f32.u16 %x, %h;
    st.param.f32 [result], %x;
    ret;
}

.global .align 8 .u64 functions[2] = {doubled, squared};
"""

# Several results make ptxas give up its calling convention, so this function stands in a file of its own.
TWO_RESULTS = """.func (.reg .u32 %sum, .reg .u32 %product) two_results(.reg .u32 %a, .reg .u32 %b)
{
    add.u32 %sum, %a, %b;
    mul.lo.u32 %product, %a, %b;
    ret;
}
"""


def calls():
    f = Family("call", "sm_70", "7.0")
    f.globals.append(FUNCTIONS)
    rng = f.rng
    two = int_rows(rng, (32, 32))
    f.kernel("call of register parameters", ["u32", "u32"], ["u32"], "call ({r0}), by_register, ({a0}, {a1});", two, [(abs(a - b),) for a, b in two])
    f.kernel("call.uni of register parameters", ["u32", "u32"], ["u32"], "call.uni ({r0}), by_register, ({a0}, {a1});", two, [(abs(a - b),) for a, b in two])
    f.kernel("call with an immediate", ["u32"], ["u32"], "call.uni ({r0}), by_register, ({a0}, 77);", [r[:1] for r in two], [(abs(a - 77),) for a, _ in two])
    several = Family("call_registers", "sm_70", "7.0")
    several.globals.append(TWO_RESULTS)
    several.kernel("call of two results", ["u32", "u32"], ["u32", "u32"], "call.uni ({r0}, {r1}), two_results, ({a0}, {a1});", two, [(a + b, a * b) for a, b in two])
    f.kernel("call guarded", ["u32", "u32", "pred"], ["u32"], "mov.u32 {r0}, 5;\n@{a2} call ({r0}), by_register, ({a0}, {a1});", [(a, b, k & 1) for k, (a, b) in enumerate(two)],
             [(abs(a - b) if k & 1 else 5,) for k, (a, b) in enumerate(two)])
    mixed = int_rows(rng, (32, 64))
    scope = "{{\n.param .b32 p0;\n.param .b64 p1;\n.param .b32 back;\nst.param.b32 [p0], {a0};\nst.param.b64 [p1], {a1};\ncall.uni (back), by_param, (p0, p1);\nld.param.b32 {r0}, [back];\n}}"
    f.kernel("call of parameters in memory", ["u32", "u64"], ["u32"], scope, mixed, [((a * b & (1 << 64) - 1) >> 16,) for a, b in mixed])
    twice = scope + "\nadd.u32 %y, {r0}, 1;\n" + scope.replace("{a0}", "%y").replace("{r0}", "{r1}")
    first = [((a * b & (1 << 64) - 1) >> 16) & M32 for a, b in mixed]
    f.kernel("call twice", ["u32", "u64"], ["u32", "u32"], twice, mixed, [(v, (((v + 1 & M32) * b) & (1 << 64) - 1) >> 16) for v, (a, b) in zip(first, mixed)])
    parts = int_rows(rng, (8, 16, 32, 64, 32))
    f.kernel("call of structures", ["u8", "u16", "u32", "u64", "u32"], ["u32", "u32", "u64"],
             "{{\n.param .align 8 .b8 s[24];\n.param .b32 by;\n.param .align 8 .b8 back[16];\nst.param.u8 [s], {a0};\nst.param.u16 [s+2], {a1};\nst.param.b32 [s+4], 0;\n"
             "st.param.b64 [s+8], {a3};\nst.param.b32 [s+16], 1;\nst.param.b32 [s+20], {a4};\nst.param.b32 [by], {a2};\ncall.uni (back), structure, (s, by);\n"
             "ld.param.b32 {r0}, [back];\nld.param.b32 {r1}, [back+4];\nld.param.b64 {r2}, [back+8];\n}}", parts,
             [((e + 1 & 0xffffff00) | a, signed(b, 16) * c, d) for a, b, c, d, e in parts])
    f.kernel("call without result", ["u32"], ["u32"],
             "cvta.global.u64 %p, %out;\n{{\n.param .b64 p0;\n.param .b32 p1;\nst.param.b64 [p0], %p;\nst.param.b32 [p1], {a0};\ncall.uni nothing_back, (p0, p1);\n}}\nld.global.u32 {r0}, [%out];",
             [r[:1] for r in two], [(a << 1,) for a, _ in two], registers=".reg .b64 %p")
    one = "{{\n.param .b32 p0;\n.param .b32 back;\nst.param.b32 [p0], {a0};\ncall.uni (back), NAME, (p0);\nld.param.b32 {r0}, [back];\n}}"
    small = [(k * 3,) for k in range(61)]
    f.kernel("call of nested functions", ["u32"], ["u32"], one.replace("NAME", "nested"), small, [(abs(a + 3 - 20) * (a + 3),) for a, in small])
    f.kernel("call of a function that ends threads", ["u32"], ["u32"], one.replace("NAME", "ends_some"), small, [(a + 7 if a <= 100 else 0,) for a, in small])
    f.kernel("call of float parameters", ["f32", "f64", "u16"], ["f32"],
             "{{\n.param .f32 p0;\n.param .f64 p1;\n.param .b16 p2;\n.param .f32 back;\nst.param.f32 [p0], {a0};\nst.param.f64 [p1], {a1};\nst.param.b16 [p2], {a2};\n"
             "call.uni (back), floating, (p0, p1, p2);\nld.param.f32 {r0}, [back];\n}}", [(0x3f800000, 0x3ff0000000000000, k) for k in range(40)],
             [(int.from_bytes(struct.pack("<f", float(k)), "little"),) for k in range(40)])
    # Through pointers: by symbol, by a table in global memory, with prototype or with targets.
    chosen = [(k % 7, rng.randint(0, 60000)) for k in range(61)]
    through = ("{{\n.param .b32 p0;\n.param .b32 back;\nst.param.b32 [p0], {a1};\nPROTO: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
               "call (back), %f, (p0), PROTO;\nld.param.b32 {r0}, [back];\n}}")
    want = [((b + b) if a & 1 == 0 else b * b,) for a, b in chosen]
    f.kernel("call through a table", ["u32", "u32"], ["u32"],
             "and.b32 %x, {a0}, 1;\nmov.u64 %f, functions;\nmad.wide.u32 %f, %x, 8, %f;\nld.global.u64 %f, [%f];\n" + through, chosen, want, registers=".reg .b64 %f")
    f.kernel("call through a selected pointer", ["u32", "u32"], ["u32"],
             "and.b32 %x, {a0}, 1;\nsetp.eq.u32 %p, %x, 0;\nmov.u64 %f, doubled;\nmov.u64 %g, squared;\nselp.b64 %f, %f, %g, %p;\n" + through, chosen, want,
             registers=".reg .b64 %f, %g;.reg .pred %p")
    f.kernel("call through a pointer with targets", ["u32", "u32"], ["u32"],
             "and.b32 %x, {a0}, 1;\nsetp.eq.u32 %p, %x, 0;\nmov.u64 %f, doubled;\nmov.u64 %g, squared;\nselp.b64 %f, %f, %g, %p;\n"
             + through.replace("PROTO: .callprototype (.param .b32 _) _ (.param .b32 _);", "PROTO: .calltargets doubled, squared;"), chosen, want,
             registers=".reg .b64 %f, %g;.reg .pred %p")
    f.kernel("scopes", ["u32"], ["u32"], "mov.u32 {r0}, {a0};\n{{\n.reg .u32 %i;\nmov.u32 %i, 5;\n{{\n.reg .u32 %i;\nmov.u32 %i, 7;\nadd.u32 {r0}, {r0}, %i;\n}}\nadd.u32 {r0}, {r0}, %i;\n}}",
             small, [(a + 12,) for a, in small])


VECTOR_FUNCTIONS = """.func (.reg .v2 .b32 %back) swapped(.reg .v2 .u32 %a)
{
    mov.v2.b32 %back, {%a.y, %a.x};
    ret;
}
.func (.reg .v4 .f32 %back) turned(.reg .v4 .b32 %a, .reg .u32 %n)
{
    .reg .u32 %t;
    add.u32 %t, %a.x, %n;
    mov.v4.b32 %back, {%a.y, %a.z, %a.w, %t};
    ret;
}
.func (.param .b64 back) inverted(.param .u64 a)
{
    .reg .b64 %t;
    ld.param.u64 %t, [a];
    not.b64 %t, %t;
    st.param.b64 [back], %t;
    ret;
}
.func (.reg .v2 .b64 %back) halved(.reg .v2 .b64 %a)
{
    shr.u64 %back.x, %a.x, 1;
    shr.u64 %back.y, %a.y, 1;
    ret;
}"""


def vectors():
    """Registers that are vectors: as a whole in moves of bits and in calls."""
    f = Family("vector_registers", "sm_70", "7.0")
    f.globals.append(VECTOR_FUNCTIONS)
    words, halves = int_rows(f.rng, (32, 32), 40), int_rows(f.rng, (16,) * 4, 40)
    wholes = [(f.rng.getrandbits(64),) for _ in range(40)]
    part = lambda whole, size, k: whole >> size * k & (1 << size) - 1
    two, four = ".reg .v2 .b32 %v", ".reg .v4 .b16 %q"
    f.kernel("mov.b64 of two words", ["b32"] * 2, ["b64"], "mov.v2.b32 %v, {{{a0}, {a1}}};\nmov.b64 {r0}, %v;", words, [(b << 32 | a,) for a, b in words], registers=two)
    f.kernel("mov.b64 to two words", ["b64"], ["b32"] * 2, "mov.b64 %v, {a0};\nmov.b32 {r0}, %v.x;\nmov.b32 {r1}, %v.y;", wholes,
             [(part(a, 32, 0), part(a, 32, 1)) for a, in wholes], registers=two)
    f.kernel("mov.b64 of four halves", ["b16"] * 4, ["f64"], "mov.v4.b16 %q, {{{a0}, {a1}, {a2}, {a3}}};\nmov.b64 {r0}, %q;", halves,
             [(a | b << 16 | c << 32 | d << 48,) for a, b, c, d in halves], registers=four)
    f.kernel("mov.b64 to four halves", ["b64"], ["b16"] * 4, "mov.b64 %q, {a0};\n" + "\n".join(f"mov.b16 {{r{k}}}, %q.{e};" for k, e in enumerate("xyzw")), wholes,
             [tuple(part(a, 16, k) for k in range(4)) for a, in wholes], registers=four)
    f.kernel("mov.b32 to and of two halves", ["f32"], ["b32", "b16"], "mov.b32 %h, {a0};\nmov.b16 {r1}, %h.y;\nmov.b32 {r0}, %h;", [w[:1] for w in words],
             [(a, a >> 16) for a, _ in words], registers=".reg .v2 .b16 %h")
    f.kernel("mov.b64 of a constant to two words", ["b32"], ["b32"] * 2, "mov.b64 %v, 0x123456789abcdef0;\nadd.u32 {r0}, %v.x, {a0};\nadd.u32 {r1}, %v.y, {a0};",
             [w[:1] for w in words], [(a + 0x9abcdef0 & M32, a + 0x12345678 & M32) for a, _ in words], registers=".reg .v2 .u32 %v")
    swapped = [(b, a) for a, b in words]
    f.kernel("call of two words", ["b32"] * 2, ["b32"] * 2,
             "mov.v2.b32 %v, {{{a0}, {a1}}};\ncall.uni (%w), swapped, (%v);\nmov.v2.b32 {{{r0}, {r1}}}, %w;", words, swapped, registers=two + ";.reg .v2 .f32 %w")
    guarded = [(a, b, f.rng.randint(0, 1)) for a, b in words]
    f.kernel("call of two words guarded", ["b32", "b32", "pred"], ["b32"] * 2,
             "mov.v2.b32 %v, {{{a0}, {a1}}};\n@{a2} call (%v), swapped, (%v);\nmov.v2.b32 {{{r0}, {r1}}}, %v;", guarded,
             [(b, a) if p else (a, b) for a, b, p in guarded], registers=two)
    f.kernel("call of two words dropped", ["b32"] * 2, ["b32"] * 2,
             "mov.v2.b32 %v, {{{a0}, {a1}}};\ncall.uni (_), swapped, (%v);\nmov.v2.b32 {{{r0}, {r1}}}, %v;", words, words, registers=two)
    fours = int_rows(f.rng, (32,) * 5, 40)
    f.kernel("call of four words", ["b32"] * 5, ["b32"] * 4,
             "mov.v4.b32 %v, {{{a0}, {a1}, {a2}, {a3}}};\ncall.uni (%v), turned, (%v, {a4});\nmov.v4.b32 {{{r0}, {r1}, {r2}, {r3}}}, %v;", fours,
             [(b, c, d, a + n & M32) for a, b, c, d, n in fours], registers=".reg .v4 .b32 %v")
    f.kernel("call of two words as one", ["b32"] * 2, ["b32"] * 2,
             "mov.v2.b32 %v, {{{a0}, {a1}}};\ncall.uni (%v), inverted, (%v);\nmov.v2.b32 {{{r0}, {r1}}}, %v;", words, [(a ^ M32, b ^ M32) for a, b in words], registers=two)
    f.kernel("call of four halves as one", ["b16"] * 4, ["b64"],
             "mov.v4.b16 %q, {{{a0}, {a1}, {a2}, {a3}}};\ncall.uni ({r0}), inverted, (%q);", halves,
             [((a | b << 16 | c << 32 | d << 48) ^ (1 << 64) - 1,) for a, b, c, d in halves], registers=four)
    f.kernel("call of four halves as two words", ["b16"] * 4, ["b32"] * 2,
             "mov.v4.b16 %q, {{{a0}, {a1}, {a2}, {a3}}};\ncall.uni (%v), swapped, (%q);\nmov.v2.b32 {{{r0}, {r1}}}, %v;", halves,
             [(c | d << 16, a | b << 16) for a, b, c, d in halves], registers=four + ";" + two)
    doubles = int_rows(f.rng, (64, 64), 40)
    f.kernel("call of two doubles", ["f64"] * 2, ["b64"] * 2,
             "mov.v2.b64 %v, {{{a0}, {a1}}};\ncall.uni (%v), halved, (%v);\nmov.v2.b64 {{{r0}, {r1}}}, %v;", doubles, [(a >> 1, b >> 1) for a, b in doubles],
             registers=".reg .v2 .f64 %v")
    # ptxas -O0 does not survive a call through a pointer beside one of a vector as a parameter in memory.
    f = Family("vector_registers_pointer", "sm_70", "7.0")
    f.globals.append(VECTOR_FUNCTIONS)
    f.kernel("call of two words through a pointer", ["b32"] * 2, ["b32"] * 2,
             "mov.v2.b32 %v, {{{a0}, {a1}}};\nmov.u64 %f, swapped;\nP: .callprototype (.reg .v2 .b32 _) _ (.reg .v2 .u32 _);\ncall (%v), %f, (%v), P;\n"
             "mov.v2.b32 {{{r0}, {r1}}}, %v;", words, swapped, registers=two + ";.reg .b64 %f")


def make():
    branches()
    calls()
    vectors()
