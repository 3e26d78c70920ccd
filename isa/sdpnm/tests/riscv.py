#!/usr/bin/env python3
"""Makes riscv.txt: words of RV32IM with the text that llvm-objdump gives them, and words that are none.

Words are random, with every major opcode of RV32IM but those of fences and the environment, of which
there are the ones that the core has. A line is a word in hexadecimal and its text, or `-`.

usage: riscv.py > riscv.txt
"""
import pathlib
import random
import re
import struct
import subprocess
import tempfile

MAJOR = [0x37, 0x17, 0x6F, 0x67, 0x63, 0x03, 0x23, 0x13, 0x33]


def words():
    random.seed(5)
    yield from [0x00000073, 0x00100073]
    for major in MAJOR:
        for index in range(120 if major in (0x13, 0x33, 0x63, 0x03, 0x23) else 30):
            word = random.getrandbits(32) & ~0x7F | major
            if major == 0x33 and index % 3:
                word = word & ~(0x7F << 25) | random.choice([0, 1, 0x20]) << 25
            if major == 0x13 and (word >> 12 & 3) == 1 and index % 3:
                word = word & ~(0x7F << 25) | random.choice([0, 0x20]) << 25
            yield word


def main():
    all_words = list(words())
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "words.bin"
        source.write_bytes(struct.pack(f"<{len(all_words)}I", *all_words))
        elf = pathlib.Path(folder) / "words.elf"
        elf.write_bytes(container(source.read_bytes()))
        out = subprocess.run(
            ["llvm-objdump", "-d", "--mattr=+m", "-M", "no-aliases", "-M", "numeric", str(elf)],
            check=True, capture_output=True, text=True).stdout
    lines = re.findall(r"^\s*([0-9a-f]+):\s+[0-9a-f ]{8,11}\s+(\S.*)$", out, re.M)
    assert len(lines) == len(all_words), (len(lines), len(all_words))
    for (address, text), word in zip(lines, all_words):
        print(f"{word:08x}", normal(text, int(address, 16)))


def normal(text, address):
    """Decimal numbers, and distances where addresses are."""
    if "unknown" in text:
        return "-"
    text = re.sub(r"\s*<[^>]*>", "", text.split("#")[0]).split()
    name, rest = text[0], "".join(text[1:])
    operands = [re.sub(r"-?0x[0-9a-f]+", lambda m: str(int(m.group(), 16)), o)
                for o in rest.split(",") if o]
    if name == "jal" or name.startswith("b"):
        distance = int(operands[-1]) - address
        operands[-1] = str((distance + (1 << 31)) % (1 << 32) - (1 << 31))
    return " ".join(filter(None, [name, ", ".join(operands)]))


def container(code):
    """An ELF32 object of RISC-V with these bytes as .text."""
    names = b"\0.text\0.shstrtab\0"
    header = struct.pack("<16sHHIIIIIHHHHHH", b"\x7fELF\1\1\1" + bytes(9), 1, 243, 1, 0, 0,
                         52 + len(code) + len(names), 0, 52, 0, 0, 40, 3, 2)
    none = bytes(40)
    text = struct.pack("<IIIIIIIIII", 1, 1, 6, 0, 52, len(code), 0, 0, 4, 0)
    strings = struct.pack("<IIIIIIIIII", 7, 3, 0, 0, 52 + len(code), len(names), 0, 0, 1, 0)
    return header + code + names + none + text + strings


main()
