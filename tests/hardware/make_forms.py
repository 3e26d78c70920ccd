"""Writes `forms.txt`: every form of the PTX frontend's table that computes, with all its modifiers and
types, and the sequences and immediates of `../conformance`."""

import itertools
import json
import re
from pathlib import Path

HERE = Path(__file__).parent
TABLE = HERE.parent.parent / "frontends/ptx/src/forms/table.rs"
CONFORMANCE = HERE.parent / "conformance"

#: Meanings whose instructions compute from registers alone, and need no other instruction beside them.
COMPUTES = """Add AddPair And Bfe Bfi Bfind Bmsk Brev Clz Cnot Copysign CvtFloat CvtFloatToInt CvtInt CvtIntToFloat
CvtPack CvtPair CvtTf32 Dp2a Dp4a Float FloatApprox Fns IntAbs IntDiv IntMax IntMin IntNeg IntRem Lop3 Mad24 MadHi
MadLo MadWide MaxPair MinPair Mov MovPred Mul24 MulHi MulLo MulWide Not Or Popc Prmt Sad Selp Set Setp Shf Shl Shr
Simd Slct Sub Szext Testp Video Vmad Vset Xor""".split()

#: Families of `../conformance` of which each kernel is a form.
FAMILIES = """convert_float convert_integer convert_to_float convert_to_integer float_approximate float_arithmetic
float_compare float_minmax half_arithmetic integer_arithmetic integer_bits integer_carry integer_compare
integer_lop3_predicate integer_packed vector_registers video_scalar video_simd""".split()

TYPE = re.compile(r"[usbf]\d+(x2)?|bf16(x2)?|tf32|pred")
ROUNDINGS = ("rn", "rz", "rm", "rp")


def expanded():
    text = TABLE.read_text()
    classes = dict(re.findall(r'\("(\w+)", "([^"]+)"\)', text))
    rows = re.findall(r'f\((\w+), "([^"]*)", "([^"]*)", (\d+), (\d+)\)', text)
    for meaning, pattern, operands, ptx, sm in rows:
        if meaning not in COMPUTES or int(ptx) > 86 or int(sm) > 90 or "%" in operands:
            continue
        opcode, *slots = pattern.split()
        ways = []
        for slot in slots:
            words = slot.lstrip("?^.").split("|")
            words = [w for word in words for w in (classes[word[1:]].split("|") if word[0] == "$" else [word])]
            ways.append(([""] if slot[0] == "?" else []) + words)
        for words in itertools.product(*ways):
            yield from one(opcode, [w for w in words if w], operands.split())


def one(opcode, words, operands):
    """The form of an opcode with these modifiers."""
    types = [w for w in words if TYPE.fullmatch(w)]
    others = [w for w in words if not TYPE.fullmatch(w)]
    if opcode in ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset") or opcode[-1] in "24":
        name = ".".join([opcode, *(words if opcode[0] == "v" or opcode in ("dp4a", "dp2a") else others + types)])
    else:
        roundings = [w for w in others if w in ROUNDINGS and opcode == "mad"]
        rest = [w for w in others if w not in roundings]
        behind = ["b32", *(w for w in rest)] if opcode == "prmt" else roundings + rest + types
        name = ".".join([opcode, *behind])
    secondary = any(w in ("add", "min", "max") for w in others) if opcode[0] == "v" else False
    combined = any(w in ("and", "or", "xor") for w in others)
    results, sources, texts = [], [], []

    def type_of(text):
        text = text.rstrip("~*!_&")
        if text[0] == "w" and text[1:].isdigit():
            narrow = types[int(text[1:])]
            return narrow[0] + str(2 * int(narrow[1:]))
        return types[int(text)] if text.isdigit() else {"p": "pred"}.get(text, text)

    for operand in operands:
        if operand[0] == "?":
            operand = operand[1:]
            wanted = combined if operand == "p" else secondary
            if not wanted:
                continue
        if operand == "#":
            texts.append("0x96" if len(words) < 2 else "0xca")
        elif operand[0] == "=":
            parts = re.split(r"[|+]", operand[1:])
            names = []
            for part in parts:
                names.append(f"%r{len(results)}")
                results.append(type_of(part))
            texts.append("|".join(names))
        else:
            texts.append(f"%a{len(sources)}")
            sources.append(type_of(operand))
    if "tf32" in types:
        results, sources = ["tf32"], ["f32"]
    yield f"{' '.join(results)} = {' '.join(sources)} | {name} {', '.join(texts)};"


def of_conformance():
    for line in (CONFORMANCE / "manifest.jsonl").read_text().splitlines():
        vector = json.loads(line)
        if vector["ptx"].removesuffix(".ptx") not in FAMILIES:
            continue
        text = (CONFORMANCE / vector["ptx"]).read_text()
        body = re.search(rf"\.entry {vector['kernel']}\(.*?\n}}\n", text, re.S).group()
        lines = [l.strip() for l in body.splitlines()]
        reads = [n for n, l in enumerate(lines) if re.search(r"\[%in\+\d+\]", l) or l.startswith("setp.ne.u32 %a")]
        writes = [n for n, l in enumerate(lines) if re.search(r"\[%out\+\d+\]", l) or re.match(r"selp\.\w+ %x", l)]
        if not reads or not writes or max(reads) > min(writes):
            continue
        code = lines[max(reads) + 1 : min(writes)]
        known = set(re.findall(r"%\w+", " ".join(code)))
        if not code or any(not re.fullmatch(r"%[ar]\d+", name) for name in known):
            continue
        if any(":" in l or l.startswith((".", "{", "}", "bra", "call")) for l in code):
            continue
        yield f"{' '.join(vector['out_types'])} = {' '.join(vector['in_types'])} | {' '.join(code)}"


def main():
    lines = {}
    for line in itertools.chain(expanded(), of_conformance()):
        lines.setdefault(line.split(" | ")[1], line)
    (HERE / "forms.txt").write_text("".join(line + "\n" for _, line in sorted(lines.items())))
    print(len(lines), "forms")


if __name__ == "__main__":
    main()
