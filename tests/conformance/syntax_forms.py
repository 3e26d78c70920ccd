"""What the language allows around instructions: literals, constant expressions, declarations, scopes, directives."""
import struct

from forms import Family

M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def f32(v):
    return struct.unpack("<I", struct.pack("<f", v))[0]


def f64(v):
    return struct.unpack("<Q", struct.pack("<d", v))[0]


ONE = [(k,) for k in range(5)]


def literals():
    f = Family("syntax_literals", "sm_70", "7.0")

    def value(name, t, text, bits, op=None):
        f.kernel(name, ["u32"], [t], f"mov.{op or t} {{r0}}, {text};", ONE, [(bits,)] * 5)
    for name, text, want in (("decimal", "42", 42), ("hexadecimal", "0xDeadBeef", 0xdeadbeef), ("hexadecimal upper", "0XFF", 255), ("octal", "017", 15),
                             ("binary", "0b1011", 11), ("unsigned", "4294967295U", M32), ("negative", "-1", M32), ("not", "~5", M32 - 5), ("logical not", "!7", 0),
                             ("parenthesised", "(3+4)*5", 35), ("shifted", "1<<10|3", 1027), ("precedence", "2+3*4-10/3", 11), ("modulo", "17 % 5", 2),
                             ("shift right signed", "-16>>2", M32 - 3), ("comparison", "3<4", 1), ("equal", "3==4", 0), ("conditional", "1?20:30", 20),
                             ("logical and", "2&&0", 0), ("logical or", "0||3", 1), ("xor", "0xf0^0x3c", 0xcc), ("and", "0xff&0x3c", 0x3c), ("warp size", "WARP_SZ", 32),
                             ("cast", "(.s64)-1", M32), ("nested", "((1+2)<<(2+1))-1", 23), ("divide negative", "-7/2", M32 - 2)):
        value(f"integer {name}", "b32", text, want)
    value("integer wide", "u64", "0x123456789abcdef0", 0x123456789abcdef0)
    value("integer wide unsigned", "u64", "18446744073709551615U", M64)
    value("integer wide negative", "s64", "-9223372036854775808", 1 << 63)
    value("integer short", "u16", "65535", 65535)
    value("integer short negative", "s16", "-2", 65534)
    for name, text, want in (("decimal", "1.5", 1.5), ("negative", "-2.25", -2.25), ("exponent", "1e10", 1e10), ("negative exponent", "2.5e-3", 2.5e-3),
                             ("plus exponent", "1.0E+2", 100.0), ("tenth", "0.1", 0.1)):
        value(f"float {name}", "f32", text, f32(want))
        value(f"double {name}", "f64", text, f64(want))
    value("float hexadecimal", "f32", "0f3fC00000", 0x3fc00000)
    value("float hexadecimal nan", "f32", "0F7fc00001", 0x7fc00001)
    value("double hexadecimal", "f64", "0d3FF8000000000000", 0x3ff8000000000000)
    value("double hexadecimal upper", "f64", "0DBFF0000000000000", 0xbff0000000000000)
    value("float from double literal", "f32", "0d3FF8000000000000", 0x3fc00000)
    f.kernel("add.f32 of literals", ["f32"], ["f32"], "add.f32 {r0}, {a0}, 0f3F800000;", [(f32(k),) for k in range(5)], [(f32(k + 1),) for k in range(5)])
    f.kernel("fma.rn.f64 of literals", ["f64"], ["f64"], "fma.rn.f64 {r0}, {a0}, 2.0, 0d3FE0000000000000;", [(f64(k),) for k in range(5)], [(f64(2 * k + 0.5),) for k in range(5)])
    f.kernel("setp of a literal", ["s32"], ["pred"], "setp.lt.s32 {r0}, {a0}, -3;", [(v & M32,) for v in (-5, -3, -2, 0, 9)], [(1,), (0,), (0,), (0,), (0,)])
    f.kernel("selp of literals", ["pred"], ["f32"], "selp.f32 {r0}, 1.0, 0fBF800000, {a0};", [(k & 1,) for k in range(5)], [(f32(1.0 if k & 1 else -1.0),) for k in range(5)])
    f.kernel("st of a literal", ["u32"], ["b32"], "st.global.u32 [%out], 77;\nld.global.u32 {r0}, [%out];", ONE, [(77,)] * 5)


def float_bits():
    """Floats where operands are bits: `0f` for 32, all others for 64."""
    f = Family("syntax_float_bits", "sm_70", "7.0")
    f.kernel("st of bits of floats", ["u32"], ["b64", "b64"], "st.global.v2.b64 [%out], {{0d3FF8000000000000, 2.5}};\nld.global.v2.b64 {{{r0}, {r1}}}, [%out];",
             ONE, [(f64(1.5), f64(2.5))] * 5)
    f.kernel("bits of a float in a register pair", ["b32"], ["b64"], "mov.b64 {r0}, {{0f3FC00000, {a0}}};", ONE, [(k << 32 | f32(1.5),) for k, in ONE])
    f.kernel("selp.b32 of bits of a float", ["pred"], ["b32"], "selp.b32 {r0}, 0f3FC00000, 7, {a0};", [(k & 1,) for k in range(5)], [(f32(1.5) if k & 1 else 7,) for k in range(5)])
    f.kernel("or.b64 of bits of a float", ["b64"], ["b64"], "or.b64 {r0}, {a0}, 2.5;", [(k << 3,) for k in range(5)], [(f64(2.5) | k << 3,) for k in range(5)])


def declarations():
    f = Family("syntax_declarations", "sm_70", "7.5")
    f.globals += [
        "/* a comment over", "   lines */ .global .u32 first = 1; .global .u32 second = 2; // two on a line",
        ".weak .global .align 4 .b32 weak_one = 9;",
        ".visible .global .align 16 .b8 quoted[16] = {0x41, 0102, 0b1000011, 68};",
        ".extern .shared .align 16 .b8 dynamic[];",
        ".global .v4 .f32 vector = {1.0, 2.0, 3.0, 4.0};",
        ".global .attribute(.managed) .s32 managed_one = 5;",
        ".const .b32 $dollar$ = 3;", ".global .b32 _under = 4;", ".global .b32 %percent = 6;",
        ".global .u16 shorts[] = {1, 2, 3};",
        ".global .u32 matrix[2][2] = {{1, 2}, {3}};",
        ".global .s64 negative = -5;",
        ".global .u32 computed[2] = {(1 << 4) + 3, ~0};",
        "",
    ]
    for name, text, want in (("second", "ld.global.u32 {r0}, [second];", 2), ("weak", "ld.global.b32 {r0}, [weak_one];", 9), ("letters", "ld.global.b32 {r0}, [quoted];", 0x44434241),
                             ("dollar", "ld.const.b32 {r0}, [$dollar$];", 3), ("underscore", "ld.global.b32 {r0}, [_under];", 4), ("percent", "ld.global.b32 {r0}, [%percent];", 6),
                             ("shorts", "ld.global.u16 {r0}, [shorts+4];", 3), ("matrix", "ld.global.u32 {r0}, [matrix+8];", 3), ("matrix end", "ld.global.u32 {r0}, [matrix+12];", 0),
                             ("computed", "ld.global.u32 {r0}, [computed];", 19), ("computed not", "ld.global.u32 {r0}, [computed+4];", M32),
                             ("managed", "ld.global.s32 {r0}, [managed_one];", 5), ("negative", "ld.global.u32 {r0}, [negative+4];", M32),
                             ("two statements", "mov.u32 %x, 3; add.u32 {r0}, %x, 4;", 7)):
        f.kernel(f"declaration {name}", ["u32"], ["u32"], text, ONE, [(want,)] * 5)
    f.kernel("vector of a variable", ["u32"], ["f32"] * 4, "ld.global.v4.f32 {{{r0}, {r1}, {r2}, {r3}}}, [vector];", ONE, [tuple(f32(v) for v in (1, 2, 3, 4))] * 5)
    f.kernel("register ranges", ["u32"], ["u32"], "mov.u32 %v0, {a0};\nadd.u32 %v11, %v0, 1;\nadd.u32 {r0}, %v11, %v0;", ONE, [(2 * k + 1,) for k, in ONE], registers=".reg .b32 %v<12>")
    f.kernel("registers of vectors", ["u32"], ["u32"], "mov.u32 %v.x, {a0};\nmov.u32 %v.w, 5;\nadd.u32 {r0}, %v.x, %v.w;", ONE, [(k + 5,) for k, in ONE], registers=".reg .v4 .b32 %v")
    f.kernel("registers without percent", ["u32"], ["u32"], "add.u32 value, {a0}, 1;\nadd.u32 {r0}, value, 1;", ONE, [(k + 2,) for k, in ONE], registers=".reg .u32 value, $other")
    f.kernel("loc and pragma", ["u32"], ["u32"], ".pragma \"nounroll\";\n.loc 1 7 3\nadd.u32 {r0}, {a0}, 1;\n.loc 1 8 5\nadd.u32 {r0}, {r0}, 1;", ONE, [(k + 2,) for k, in ONE])
    f.globals.insert(0, ".file 1 \"syntax.cu\"")
    f.kernel("dynamic shared", ["u32"], ["u32"], "mov.u32 {r0}, %dynamic_smem_size;", ONE, [(0,)] * 5)
    f.kernel("labels of inner scopes", ["u32"], ["u32"],
             "mov.u32 {r0}, 0;\n{{\nbra HERE;\nadd.u32 {r0}, {r0}, 100;\nHERE: add.u32 {r0}, {r0}, 1;\n}}\n{{\nbra HERE;\nadd.u32 {r0}, {r0}, 100;\nHERE:\nadd.u32 {r0}, {r0}, {a0};\n}}",
             ONE, [(k + 1,) for k, in ONE])
    f.kernel("unused labels and dead code", ["u32"], ["u32"], "mov.u32 {r0}, {a0};\nFIRST:\nSECOND: bra LAST;\nmov.u32 {r0}, 5;\ntrap;\nLAST:", ONE, [(k,) for k, in ONE])
    f.kernel("registers never written on one path", ["u32"], ["u32"], "setp.ne.u32 %p, {a0}, {a0};\n@%p bra USE;\nmov.u32 {r0}, 8;\nbra DONE;\nUSE:\nadd.u32 {r0}, %v, 1;\nDONE:", ONE,
             [(8,)] * 5, registers=".reg .pred %p;.reg .u32 %v")
    f.kernel("sinks", ["u32"], ["u32"], "add.u32 {r0}, {a0}, 1;\nld.global.v2.u32 {{_, %x}}, [quoted];\nmov.b64 {{%y, _}}, %in;\nxor.b32 {r0}, {r0}, %x;" , ONE,
             [((k + 1) ^ 0,) for k, in ONE])


def directives():
    f = Family("syntax_directives", "sm_70", "7.5")
    bounds = {".maxntid 64": (1, 64), ".maxntid 64, 1, 1": (64,), ".reqntid 64": (64,), ".reqntid 64, 1, 1": (64,), ".maxntid 128\n.minnctapersm 2": (1, 64),
              ".maxntid 64\n.maxnreg 32": (64,)}
    for text, blocks in bounds.items():
        name = "bounds " + " ".join(text.replace(".", "").replace(",", "").split())
        f.kernel(name, ["u32"], ["u32"], "add.u32 {r0}, {a0}, 3;", [(k,) for k in range(70)], [(k + 3,) for k in range(70)], blocks=blocks)
        f.kernels[-1] = f.kernels[-1].replace(".param .u32 n)\n{", f".param .u32 n)\n{text}\n{{")


def make():
    literals()
    float_bits()
    declarations()
    directives()
