#!/usr/bin/env python3
"""Mutates PTX of ../cuda and of this folder, and records what ptxas says of each mutant in verdicts.jsonl.

A mutant is a file with the characters of one span replaced. Lines of verdicts.jsonl:
  file          path from this folder
  start, end    the span of characters that is replaced
  text          what stands there instead (truncate: nothing, and all that follows is cut)
  kind          the kind of the mutation
  accepted      ptxas's verdict
  message       its first complaint, without the file's name

Needs: pip install nvidia-cuda-nvcc-cu12. Usage: mutate.py [MUTANTS-PER-FILE]
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

from generate import ptxas

HERE = os.path.dirname(os.path.abspath(__file__))
BASES = ["../cuda/vecadd.ptx", "../cuda/reduce_shared.sm_52.ptx", "../cuda/warp_votes.ptx", "../cuda/function_pointers.ptx", "../cuda/dynamic_shared.ptx",
         "../cuda/struct_params.clang.ptx", "../cuda/vector_loads.ptx", "../cuda/half_matmul.ptx", "../cuda/histogram.ptx", "../cuda/static_variables.ptx",
         "../cuda/named_barriers.ptx", "../cuda/life.clang.ptx", "../cuda/assertion.ptx", "../cuda/printing.ptx", "call.ptx", "syntax_declarations.ptx"]
TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"[^\"]*\"|\.?[A-Za-z_$%][\w$%]*|\d\w*|\S", re.S)
TYPES = [".u8", ".s8", ".b8", ".u16", ".s16", ".b16", ".f16", ".u32", ".s32", ".b32", ".f32", ".u64", ".s64", ".b64", ".f64", ".pred"]
MODIFIERS = [".lo", ".hi", ".wide", ".rn", ".rz", ".ftz", ".sat", ".approx", ".full", ".cc", ".v2", ".v4", ".v3", ".global", ".shared", ".local", ".const", ".param",
             ".volatile", ".uni", ".sync", ".eq", ".lt", ".num", ".add", ".x", ".align", ".to", ".bogus"]
OPCODES = ["add", "sub", "mul", "mad", "fma", "mov", "ld", "st", "cvt", "cvta", "setp", "selp", "and", "shl", "bra", "ret", "call", "bar", "atom", "div", "frobnicate", "bfe"]
NUMBERS = ["0", "-1", "3", "17", "4096", "0x100000000", "99999999999999999999", "1.5", "0f3F800000", "0d3FF0000000000000", "0f123", "08"]


def tokens(text):
    """Spans of what is neither blank nor comment."""
    return [(m.start(), m.end()) for m in TOKEN.finditer(text) if not m[0].startswith(("//", "/*"))]


def mutate(rng, text, spans):
    """One mutation: kind, start, end and replacement."""
    index = rng.randrange(len(spans))
    start, end = spans[index]
    token = text[start:end]
    kind = rng.choice(("delete", "duplicate", "swap", "insert", "truncate", "line", "number", "number") + ("replace", "modifier", "modifier", "retarget") * 4)
    if kind == "truncate":
        return kind, start, len(text), ""
    if kind == "delete":
        return kind, start, end, ""
    if kind == "duplicate":
        return kind, start, end, f"{token} {token}"
    if kind == "swap" and index + 1 < len(spans):
        after = spans[index + 1]
        return kind, start, after[1], text[after[0]:after[1]] + text[end:after[0]] + token
    if kind == "insert":
        return kind, start, start, rng.choice((",", ";", "{", "}", "[", "]", "(", ")", "!", "@", "|", "-", "+", ".", "%", "::", "x ", "@%p1 ", "\x01"))
    if kind == "line":
        begin = text.rfind("\n", 0, start) + 1
        finish = text.find("\n", end)
        finish = len(text) if finish < 0 else finish
        if rng.random() < 0.5:
            return "line deleted", begin, finish, ""
        return "line doubled", begin, finish, text[begin:finish] + "\n" + text[begin:finish]
    if kind == "modifier":
        places = [s for s in spans if text[s[0]] == "." and text[s[0] - 1] not in " \t\n"]
        start, end = rng.choice(places)
        pool = TYPES if text[start:end] in TYPES else MODIFIERS + TYPES
        return kind, start, end, rng.choice([p for p in pool if p != text[start:end]])
    if kind == "number":
        places = [s for s in spans if text[s[0]:s[1]][:1].isdigit()]
        start, end = rng.choice(places)
        return kind, start, end, rng.choice(NUMBERS)
    if kind == "retarget":
        places = [s for s in spans if text[s[0]:s[0] + 1] in "%$"]
        start, end = rng.choice(places)
        other = rng.choice(places)
        new = text[other[0]:other[1]]
        if rng.random() < 0.25:
            new = rng.choice(("%undefined", "17", "1.5", "[%rd1]", "%tid.x", "%p1", "{%r1, %r2}", "_", "%r99999"))
        return kind, start, end, new
    if token.startswith("."):
        pool = TYPES if token in TYPES else MODIFIERS + TYPES
    elif token[:1].isdigit():
        pool = NUMBERS
    elif token in OPCODES:
        pool = OPCODES
    else:
        pool = ["undefined_name", "17", "[", ",", ";", "%r1", "%rd1", "%p1", "%f1", "0f3F800000"]
    return "replace", start, end, rng.choice([p for p in pool if p != token])


def verdict(text, folder):
    """Whether ptxas accepts a text, and its first complaint; None when it fails in another way."""
    path = os.path.join(folder, "mutant.ptx")
    with open(path, "w") as file:
        file.write(text)
    target = re.search(r"^\.target\s+sm_(\d+)", text, re.M)
    arch = f"sm_{max(50, int(target[1]))}" if target and int(target[1]) <= 90 else "sm_90"
    try:
        done = subprocess.run([ptxas(), "-c", "-arch", arch, "-O0", path, "-o", os.path.join(folder, "out")], capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode not in (0, 255):
        return None
    complaints = [line for line in (done.stdout + done.stderr).splitlines() if re.search(r"error|fatal", line)]
    message = re.sub(r"^ptxas \S*mutant\.ptx, ", "", complaints[0]).replace(path, "the file") if complaints else ""
    return done.returncode == 0, message


def main():
    per_file = int(sys.argv[1]) if len(sys.argv) > 1 else 110
    lines, seen = [], set()
    with tempfile.TemporaryDirectory() as folder:
        for base in BASES:
            with open(os.path.join(HERE, base)) as file:
                text = file.read()
            spans = tokens(text)
            rng = random.Random(base)
            for _ in range(per_file):
                kind, start, end, new = mutate(rng, text, spans)
                key = (base, start, end, new)
                if key in seen or text[start:end] == new:
                    continue
                seen.add(key)
                result = verdict(text[:start] + new + text[end:], folder)
                if result is None:
                    continue
                lines.append(json.dumps({"file": base, "start": start, "end": end, "text": new, "kind": kind, "accepted": result[0], "message": result[1]}))
    with open(os.path.join(HERE, "verdicts.jsonl"), "w") as file:
        file.write("\n".join(lines) + "\n")
    accepted = sum('"accepted": true' in line for line in lines)
    print(f"{len(lines)} mutants, {accepted} accepted")


if __name__ == "__main__":
    main()
