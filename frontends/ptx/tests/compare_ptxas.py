#!/usr/bin/env python3
"""Compares what this frontend accepts with what ptxas accepts, over mutated PTX.

    compare_ptxas.py --ptxas PTXAS --check PTX_CHECK [--count N] [--seed S] [--names-only] FILE.ptx...

PTX_CHECK is the example `ptx_check` of this crate. Each mutant is a file of the list with one or a
few tokens or statements removed, repeated, exchanged, or replaced by others of the same kind. The
report gives the four counts, and examples of each kind of disagreement, most frequent first. ptxas
comes from PyPI (nvidia-cuda-nvcc-cu12); the test command of this repository does not need it.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import random
import re
import subprocess
import tempfile

TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"|\s+|0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|0[xX][0-9a-fA-F]+U?"
    r"|\d+\.\d+|\d+U?|[%$_]?[A-Za-z_$][\w$]*|\.\w+(?:::\w+)*|.",
    re.S,
)
NUMBERS = ["0", "1", "2", "3", "4", "8", "16", "31", "32", "63", "64", "255", "256", "65535", "65536",
           "2147483647", "4294967295", "4294967296", "9223372036854775807", "0x10", "017", "1.5",
           "0f3F800000", "0d3FF0000000000000", "WARP_SZ"]


def kind(token):
    if token.isspace() or token.startswith(("//", "/*")):
        return None
    if token.startswith("%"):
        return "register"
    if token.startswith("."):
        return "word"
    if token[0].isdigit():
        return "number"
    if re.match(r"[A-Za-z_$]", token):
        return "name"
    return "mark"


def mutate(text, rng):
    tokens = TOKEN.findall(text)
    # The header stays as it is: mutants of it are all refused by both.
    start = next((i for i, t in enumerate(tokens) if t == ".address_size"), 0) + 3
    real = [i for i in range(start, len(tokens)) if kind(tokens[i])]
    by_kind = collections.defaultdict(list)
    for i in real:
        by_kind[kind(tokens[i])].append(tokens[i])
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        i = rng.choice(real)
        action = rng.choice(["drop", "twice", "next", "swap", "same", "same", "same", "number",
                             "statement", "again"])
        if action == "drop":
            tokens[i] = " "
        elif action == "twice":
            tokens[i] = tokens[i] + " " + tokens[i]
        elif action == "next":
            j = real[min(real.index(i) + 1, len(real) - 1)]
            tokens[i], tokens[j] = tokens[j], tokens[i]
        elif action == "swap":
            j = rng.choice(real)
            tokens[i], tokens[j] = tokens[j], tokens[i]
        elif action == "same":
            tokens[i] = rng.choice(by_kind[kind(tokens[i])] if kind(tokens[i]) else [" "])
        elif action == "number":
            numbers = [j for j in real if kind(tokens[j]) == "number"]
            if numbers:
                tokens[rng.choice(numbers)] = rng.choice(NUMBERS)
        else:
            begin = i
            while begin > start and tokens[begin - 1] not in ";{}":
                begin -= 1
            end = i
            while end < len(tokens) - 1 and tokens[end] not in ";{}":
                end += 1
            statement = tokens[begin:end + 1]
            if action == "again":
                tokens[end] = tokens[end] + "".join(statement)
            else:
                tokens[begin:end + 1] = [" "] * len(statement)
    return "".join(tokens)


def ptxas(args, path):
    """None where ptxas accepts, its complaint where it refuses, nothing where it dies."""
    target = re.search(r"^\.target\s+(sm_[1-9][0-9]{2}[af]?|sm_90a)\b", path.read_text(), re.M)
    arch = target[1] if target else args.arch
    done = subprocess.run([args.ptxas, "-arch", arch, "-O0", str(path), "-o", "/dev/null"],
                          capture_output=True, text=True, errors="replace")
    if done.returncode == 0:
        return None
    if done.returncode < 0 or "Memory allocation failure" in done.stderr:
        return ""
    lines = [l for l in (done.stdout + done.stderr).splitlines() if "error" in l or "fatal" in l]
    return lines[0] if lines else f"exit {done.returncode}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ptxas", required=True)
    parser.add_argument("--check", required=True)
    parser.add_argument("--arch", default="sm_90", help="for files whose target is not newer")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=4, help="examples of each disagreement")
    parser.add_argument("--keep", help="a folder for the mutants that the two disagree on")
    parser.add_argument("--names-only", action="store_true")
    parser.add_argument("--plain", action="store_true", help="the files as they are, no mutants")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    texts = [pathlib.Path(f).read_text() for f in args.files]
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        count = len(texts) if args.plain else args.count
        for number in range(count):
            path = pathlib.Path(folder) / f"m{number}.ptx"
            path.write_text(texts[number] if args.plain else mutate(rng.choice(texts), rng))
            paths.append(path)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            theirs = list(pool.map(lambda p: ptxas(args, p), paths))
        command = [args.check] + (["--names-only"] if args.names_only else [])
        ours = []
        for begin in range(0, count, 200):
            done = subprocess.run(command + [str(p) for p in paths[begin:begin + 200]],
                                  capture_output=True, text=True, errors="replace", check=False)
            lines = done.stdout.splitlines()
            assert len(lines) == len(paths[begin:begin + 200]), done.stderr[-2000:]
            ours += [None if l.startswith("ok") else l.split(" ", 2)[2] for l in lines]
        counts = collections.Counter()
        groups = collections.defaultdict(list)
        for path, our, their in zip(paths, ours, theirs):
            if their == "":
                count -= 1
                continue
            counts[(our is None, their is None)] += 1
            if (our is None) == (their is None):
                continue
            if our is None:
                message = their.split(":", 1)[-1].strip()
                key = "accepted, ptxas: " + re.sub(r"'[^']*'", "'..'", message)
                line = re.search(r"line (\d+)", their)
            else:
                key = "refused: " + re.sub(r"`[^`]*`", "`..`", our.split(" ", 1)[1])
                line = re.match(r"(\d+)", our)
            text = path.read_text().splitlines()
            at = int(line.group(1)) - 1 if line else 0
            where = text[at].strip() if at < len(text) else ""
            groups[key].append(f"{our or their}\n        {where[:150]}")
            if args.keep:
                pathlib.Path(args.keep).mkdir(exist_ok=True)
                (pathlib.Path(args.keep) / path.name).write_text(path.read_text())
    print(f"both accept {counts[True, True]}, both refuse {counts[False, False]}, "
          f"only ptxas refuses {counts[True, False]}, only we refuse {counts[False, True]}: "
          f"agreement {100 * (counts[True, True] + counts[False, False]) / count:.2f} %")
    for key, examples in sorted(groups.items(), key=lambda g: (-len(g[1]), g[0])):
        print(f"{len(examples):4} {key}")
        for example in examples[:args.show]:
            print(f"      {example}")


if __name__ == "__main__":
    main()
