"""Forms: one instruction, or a few, with what it reads and writes. A line of `forms.txt` is

    RESULTS = OPERANDS | CODE

with types separated by blanks and code over registers %r0, %r1, ... and %a0, %a1, ...; a predicate
is one in its register and a word in memory, 0 or 1. Kernels and operands follow from the line alone;
`src/forms.rs` says the same."""

from dataclasses import dataclass

RECORDS = 512
MASK = (1 << 64) - 1

HEADER = ".version 8.6\n.target sm_90\n.address_size 64\n"


def bits(ty):
    """Bits of a type in memory."""
    if ty == "pred" or ty.endswith("x2"):
        return 32
    return {"bf16": 16, "tf32": 32}.get(ty) or max(int(ty[1:]), 8)


@dataclass
class Form:
    line: str

    def __post_init__(self):
        types, self.code = self.line.split(" | ")
        results, operands = types.split(" =")
        self.results, self.operands = results.split(), operands.split()

    def stride(self, types):
        at = 0
        for ty in types:
            at = -(-at // (width(ty) // 8)) * (width(ty) // 8) + width(ty) // 8
        return -(-at // 8) * 8

    def kernel(self, name):
        """A kernel `(in, out)` of which each thread takes one record."""
        lines = [f".visible .entry {name}(.param .u64 in, .param .u64 out)", "{"]
        lines += ["\t.reg .b32 %i, %x, %y;", "\t.reg .b64 %in, %out;", "\t.reg .pred %p, %q;"]
        for letter, types in (("a", self.operands), ("r", self.results)):
            for number, ty in enumerate(types):
                kind = "pred" if ty == "pred" else f"b{width(ty)}"
                lines.append(f"\t.reg .{kind} %{letter}{number};")
        lines += [
            "\tmov.u32 %x, %ctaid.x;",
            "\tmov.u32 %y, %ntid.x;",
            "\tmov.u32 %i, %tid.x;",
            "\tmad.lo.u32 %i, %x, %y, %i;",
            "\tld.param.u64 %in, [in];",
            "\tld.param.u64 %out, [out];",
            "\tcvta.to.global.u64 %in, %in;",
            "\tcvta.to.global.u64 %out, %out;",
            f"\tmad.wide.u32 %in, %i, {self.stride(self.operands)}, %in;",
            f"\tmad.wide.u32 %out, %i, {self.stride(self.results)}, %out;",
        ]
        at = 0
        for number, ty in enumerate(self.operands):
            size = width(ty) // 8
            at = -(-at // size) * size
            if ty == "pred":
                lines.append(f"\tld.global.b32 %x, [%in+{at}];")
                lines.append(f"\tsetp.ne.u32 %a{number}, %x, 0;")
            else:
                lines.append(f"\tld.global.b{width(ty)} %a{number}, [%in+{at}];")
            at += size
        lines.append("\t" + self.code.replace("; ", ";\n\t"))
        at = 0
        for number, ty in enumerate(self.results):
            size = width(ty) // 8
            at = -(-at // size) * size
            if ty == "pred":
                lines.append(f"\tselp.b32 %x, 1, 0, %r{number};")
                lines.append(f"\tst.global.b32 [%out+{at}], %x;")
            else:
                lines.append(f"\tst.global.b{width(ty)} [%out+{at}], %r{number};")
            at += size
        return "\n".join(lines + ["\tret;", "}", ""])

    def inputs(self, records=RECORDS, salt=0):
        """The operands of all records."""
        random = Random(fnv(self.line) ^ salt)
        stride = self.stride(self.operands)
        data = bytearray()
        for _ in range(records):
            record, last = bytearray(), {}
            for ty in self.operands:
                size = width(ty) // 8
                record += bytes(-len(record) % size)
                if ty.endswith("x2"):
                    half = ty[:-2]
                    low = random.value(half, last.get(half))
                    value = low | random.value(half, low) << 16
                    last[half] = value & 0xFFFF
                else:
                    value = random.value(ty, last.get(kind(ty)))
                    last[kind(ty)] = value
                record += value.to_bytes(size, "little")
            data += record + bytes(stride - len(record))
        return bytes(data)


def width(ty):
    """Bits of the register: bytes are in registers of 32 bits."""
    return 32 if bits(ty) == 8 else bits(ty)


def kind(ty):
    """Types whose values are alike: floats by format, integers by width."""
    return ty if ty.startswith(("f", "bf", "p")) else str(width(ty))


def fnv(text):
    """FNV-1a, of 64 bits."""
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = (h ^ byte) * 0x100000001B3 & MASK
    return h


#: Bits of mantissa and exponent of each format.
FORMATS = {"f16": (10, 5), "bf16": (7, 8), "f32": (23, 8), "f64": (52, 11)}


class Random:
    """SplitMix64."""

    def __init__(self, seed):
        self.state = seed & MASK

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        return z ^ z >> 31

    def value(self, ty, last):
        """A value of a type; `last` is the one before of the same kind, if there is one."""
        choice, more = self.next(), self.next()
        if ty == "pred":
            return more & 1
        if ty in FORMATS:
            return self.float(ty, choice, more, last)
        size = width(ty)
        mask = (1 << size) - 1
        way = choice % 16
        if way < 4:
            table = [0, 1, 2, mask, mask - 1, mask >> 1, (mask >> 1) + 1, (mask >> 1) - 1, 0x80, 0xFF, 0x7F, 0x8000]
            table += [0xFFFF, 0x7FFF, 31, 32, 33, 63, 64, size, size - 1, 0x00FF00FF, 0x80808080, 0x7FFFFF]
            return table[more % len(table)] & mask
        if way < 7:
            return (more % 80 - 8) & mask
        if way < 8:
            return 1 << more % size
        if way < 10 and last is not None:
            return (last + (more % 5 - 2) * (choice >> 8 & 1)) & mask
        return more >> (choice >> 8) % size & mask if way < 13 else more & mask

    def float(self, ty, choice, more, last):
        mantissa, exponent = FORMATS[ty]
        size = mantissa + exponent + 1
        ones = (1 << exponent) - 1
        bias, fraction, sign = ones >> 1, (1 << mantissa) - 1, more >> 63
        infinity = ones << mantissa
        way = choice % 16
        if way < 4:
            one = bias << mantissa
            table = [0, 1, fraction, fraction + 1, fraction + 2, infinity - 1, infinity, infinity + 1]
            table += [infinity | fraction, infinity | (fraction + 1) >> 1, infinity | (fraction + 1) >> 1 | 5]
            table += [one, one + 1, one - 1, (bias + 1) << mantissa, (bias - 1) << mantissa, fraction >> 1]
            table += [one | fraction, one | (fraction + 1) >> 1, (bias + mantissa) << mantissa | 1]
            table += [(bias + e) << mantissa for e in (7, 8, 15) if e <= bias]
            table += [((bias + e) << mantissa) + d for e in (31, 32, 63, 64) if e <= bias for d in (-1, 0)]
            value = table[more % len(table)]
        elif way < 6 and last is not None:
            value = (last + (more % 5 - 2) * (choice >> 8 & 1)) & (infinity | fraction)
        elif way < 9:
            value = (bias + (choice >> 8) % 17 - 8) << mantissa | more & fraction
        elif way < 11:
            # A number of few bits, so that ties and exact results come about.
            shift = (choice >> 16) % (mantissa + 1)
            value = (bias + (choice >> 8) % (mantissa + 4)) << mantissa | (more & fraction) >> shift << shift
        elif way < 12:
            value = (choice >> 8) % 3 << mantissa | more & fraction
        else:
            return more & ((1 << size) - 1)
        return value | sign << size - 1
