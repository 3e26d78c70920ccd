#!/usr/bin/env python3
"""Makes reference outputs for .halide files with the real Halide.

    pip install halide==21.0.0 numpy        (and g++ 10 or later)
    python3 make_references.py              all pipelines of cases.toml that changed
    python3 make_references.py blur fir     only pipelines whose path contains a word
    python3 make_references.py --all        all of them, changed or not
    python3 make_references.py --schedules [WORD ...]
                                            check that the schedules in the files change nothing
    python3 make_references.py --translate FILE.halide
                                            print the C++ that the file becomes
    python3 make_references.py [NAME=FILE.npy ...] --once FILE.halide
            [--size WxH] [--param NAME=VALUE] [-o FOLDER]
                                            run one pipeline on given data

A .halide file is the body of a Halide generator in C++ with a few freedoms
(declarations with definitions, undeclared Vars and images, top-level
functions). The script rewrites these, leaves out every schedule directive,
compiles the result against libHalide and runs it on the inputs that cases.toml
names. README.md beside it describes inputs, outputs and the manifest.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DATA = HERE / "data"
MANIFEST = HERE / "manifest.jsonl"
BUILD = pathlib.Path(os.environ.get("REFERENCE_BUILD", pathlib.Path(tempfile.gettempdir()) / "halide-references"))

# A pipeline's first case is committed whole up to this many bytes, others up to
# a quarter of it.
WHOLE_BYTES = 20_000
# Of larger ones that may differ by rounding, about this many elements are.
SAMPLE_ELEMENTS = 1024

# ---------------------------------------------------------------- translation

TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<number>(?:0[xX][0-9a-fA-F]+|(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)[fFuU]*)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<mark><<=|>>=|->|::|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""",
    re.VERBOSE | re.DOTALL,
)

VALUE_TYPES = {
    "float", "bool", "int", "int8_t", "int16_t", "int32_t", "uint8_t", "uint16_t", "uint32_t",
}
DECLARING = VALUE_TYPES | {
    "Func", "Var", "RVar", "Expr", "RDom", "Tuple", "ImageParam", "Param", "Input", "Output", "void",
}
DIRECTIVES = {
    "compute_root", "compute_at", "compute_inline", "store_root", "store_at", "split", "tile", "fuse",
    "reorder", "vectorize", "unroll", "parallel", "bound", "set_estimate", "set_estimates", "update",
    "rfactor", "ipim_tile", "load_pgsm", "set_bounds",
}
KNOWN = DECLARING | set("""
    const constexpr auto if else for while return true false using namespace static_cast
    UInt Int Float Bool Buffer BoundaryConditions repeat_edge constant_exterior repeat_image mirror_image
    mirror_interior cast saturating_cast select clamp min max abs absd floor ceil round trunc sqrt exp log pow sin
    cos tan tanh asin acos atan atan2 sinh cosh fast_exp fast_log fast_pow fast_inverse fast_inverse_sqrt
    fast_sin fast_cos fract lerp likely likely_if_innermost sum product maximum minimum argmax argmin popcount
    count_leading_zeros count_trailing_zeros is_nan is_inf is_finite hypot print mux
    Halide Internal std _ type_of convert_to TailStrategy ConciseCasts
    u8 u16 u32 i8 i16 i32 f32 u8_sat u16_sat u32_sat i8_sat i16_sat i32_sat
""".split())


class Failure(Exception):
    """A pipeline or a case that cannot be run, in words."""


class Token:
    def __init__(self, kind, text, line):
        self.kind, self.text, self.line = kind, text, line


def tokenize(text):
    tokens, line, at = [], 1, 0
    while at < len(text):
        match = TOKEN.match(text, at)
        kind = match.lastgroup
        if kind != "space":
            tokens.append(Token(kind, match.group(), line))
        line += match.group().count("\n")
        at = match.end()
    return tokens


def closing(tokens, at):
    """The index of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        if tokens[i].text in ("(", "[", "{"):
            depth += 1
        elif tokens[i].text in (")", "]", "}"):
            depth -= 1
            if depth == 0:
                return i
    raise Failure(f"line {tokens[at].line}: `{tokens[at].text}` is not closed")


def text_at(tokens, i):
    return tokens[i].text if 0 <= i < len(tokens) else ""


def snippet(text, line):
    """Tokens of C++ written by this script."""
    made = tokenize(text)
    for token in made:
        token.line = line
    return made


def statement_end(tokens, at):
    """The index of the `;` that ends the statement that starts at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        if tokens[i].text in ("(", "[", "{"):
            depth += 1
        elif tokens[i].text in (")", "]", "}"):
            depth -= 1
        elif tokens[i].text == ";" and depth == 0:
            return i
    raise Failure(f"line {tokens[at].line}: no `;` ends this statement")


def split_commas(tokens):
    """The pieces between the commas that stand outside of brackets."""
    pieces, depth = [[]], 0
    for token in tokens:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if token.text == "," and depth == 0:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return pieces


def directive_in(tokens):
    """Whether a statement's tokens have a schedule directive in their chain of calls."""
    depth = 0
    for i, token in enumerate(tokens):
        if token.text in ("(", "[", "{"):
            depth += 1
        elif token.text in (")", "]", "}"):
            depth -= 1
        elif depth == 0 and token.text == "." and text_at(tokens, i + 1) in DIRECTIVES:
            return True
    return False


def strip_schedule(tokens):
    """Leaves out every statement that is a chain of schedule directives."""
    out, i = [], 0
    start, nested = True, 0
    while i < len(tokens):
        if start and tokens[i].kind == "name" and tokens[i].text not in ("if", "for", "else", "return"):
            end = statement_end(tokens, i) if ";" in (t.text for t in tokens[i:]) else len(tokens)
            body = tokens[i:end]
            declares = tokens[i].text == "Func"
            if directive_in(body) and (declares or not any(t.text == "=" for t in body)):
                i = end
                start = False
                continue
        token = tokens[i]
        out.append(token)
        nested += (token.text in ("(", "[")) - (token.text in (")", "]"))
        if nested == 0 and token.text in (";", "}", "else"):
            start = True
        elif nested == 0 and token.text == "{":
            start = text_at(out, len(out) - 2) in (")", "else", ";", "{", "}")
        elif token.text == ")":
            # After the head of an `if` or `for` a statement starts as well.
            depth, j = 0, len(out) - 1
            while j >= 0:
                depth += (out[j].text == ")") - (out[j].text == "(")
                if depth == 0:
                    break
                j -= 1
            start = text_at(out, j - 1) in ("if", "for")
        else:
            start = False
        i += 1
    return out


def halide_schedule(tokens):
    """Spells the directives that Halide lacks in Halide's own, the rest stays as it is."""
    out, i = [], 0
    while i < len(tokens):
        name = text_at(tokens, i + 1) if tokens[i].text == "." else ""
        if name == "load_pgsm":
            i = closing(tokens, i + 2) + 1
            continue
        if name == "ipim_tile":
            close = closing(tokens, i + 2)
            texts = [" ".join(t.text for t in piece) for piece in split_commas(tokens[i + 3:close])]
            if len(texts) == 6:
                x, y, xi, yi, w, h = texts
                call = f".tile({x}, {y}, {x}, {y}, {xi}, {yi}, {w}, {h}, TailStrategy::GuardWithIf)"
            else:
                x, xi, w = texts
                call = f".split({x}, {x}, {xi}, {w}, TailStrategy::GuardWithIf)"
            out += snippet(call, tokens[i].line)
            i = close + 1
            continue
        out.append(tokens[i])
        i += 1
    return out


def reduction_loops(tokens):
    """Loop names that come from splitting or fusing loops of an RDom."""
    found = set()
    domains = {tokens[i + 1].text for i, t in enumerate(tokens) if t.text == "RDom"}
    for i, token in enumerate(tokens):
        if token.text in ("split", "fuse") and text_at(tokens, i - 1) == ".":
            pieces = split_commas(tokens[i + 2:closing(tokens, i + 1)])
            if pieces[0][0].text in domains | found:
                made = pieces[1:3] if token.text == "split" else pieces[2:3]
                found |= {piece[0].text for piece in made}
    return found


def declare_functions(tokens):
    """Turns top-level functions into lambdas that see the names declared before."""
    out, heads, names, i, depth = [], [], set(), 0, 0
    while i < len(tokens):
        token = tokens[i]
        begins = depth == 0 and (not out or out[-1].text in (";", "}"))
        if (begins and token.text in DECLARING and i + 2 < len(tokens)
                and tokens[i + 1].kind == "name" and tokens[i + 2].text == "("):
            close = closing(tokens, i + 2)
            if text_at(tokens, close + 1) == "{":
                end = closing(tokens, close + 1)
                name = tokens[i + 1].text
                pieces = split_commas(tokens[i + 3:close])
                params = [" ".join(t.text for t in piece[:-1]) for piece in pieces if piece]
                heads.append(f"std::function<{token.text}({', '.join(params)})> {name};")
                names.add(name)
                out += snippet(f"{name} = [&]", token.line) + tokens[i + 2:close + 1]
                out += snippet(f"-> {token.text}", token.line) + tokens[close + 1:end + 1]
                out += snippet(";", tokens[end].line)
                i = end + 1
                continue
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        out.append(token)
        i += 1
    return out, heads, names


def rewrite_declarations(tokens, found):
    """Spells declarations as Halide's C++ does, and notes inputs, parameters and outputs."""
    out, i = [], 0
    while i < len(tokens):
        token, line = tokens[i], tokens[i].line
        after = text_at(tokens, i + 1)
        if token.text in ("Input", "Output", "Param") and after == "<":
            end = statement_end(tokens, i)
            head = i + 1
            while text_at(tokens, head) in ("<", ">", ">>", ",") or tokens[head].kind == "number" or (
                    tokens[head].text in VALUE_TYPES | {"Buffer"}):
                head += 1
            inner = [t.text for t in tokens[i + 2:head]]
            for piece in split_commas(tokens[head:end]):
                name, initial = piece[0].text, piece[1:]
                if "Buffer" in inner and token.text == "Output":
                    found["outputs"].append(name)
                    out += snippet(f'Func {name}("{name}");', line)
                elif "Buffer" in inner:
                    found["inputs"].append(name)
                    out += snippet(f'ImageParam {name}(type_of<{inner[2]}>(), {inner[4]}, "{name}");', line)
                else:
                    found["params"].append(name)
                    out += snippet(f'Param<{inner[0]}> {name}("{name}"', line)
                    if initial and initial[0].text == "=":
                        out += snippet(",", line) + initial[1:]
                    elif initial:
                        values = [t for t in initial[1:-1] if t.kind != "string" and t.text != ","]
                        out += snippet(",", line) * bool(values) + values
                    out += snippet(");", line)
            i = end + 1
            continue
        if token.text == "ImageParam":
            end = statement_end(tokens, i)
            for piece in split_commas(tokens[i + 1:end]):
                found["inputs"].append(piece[0].text)
                out += snippet("ImageParam", line) + piece[:-1]
                if not any(t.kind == "string" for t in piece):
                    out += snippet(f', "{piece[0].text}"', line)
                out += snippet(");", line)
            i = end + 1
            continue
        if token.text == "Func" and text_at(tokens, i + 2) == "(":
            close = closing(tokens, i + 2)
            if text_at(tokens, close + 1) == "=":
                name = tokens[i + 1].text
                out += snippet(f'Func {name}("{name}"); {name}', line)
                i += 2
                continue
        if token.text in found["outputs"] and after == "." and text_at(tokens, i + 2) == "dim":
            # What a generator's output has itself, a Func's buffer has.
            out += snippet(f"{token.text}.output_buffer()", line)
            i += 1
            continue
        if token.text in VALUE_TYPES and after == "(":
            out += snippet(f"convert_to<{token.text}>", line)
            i += 1
            continue
        out.append(token)
        i += 1
    return out


def declared_names(tokens):
    """Names that some declaration in the tokens introduces, in any scope."""
    names, i = set(), 0
    for i, token in enumerate(tokens):
        if token.text not in DECLARING or text_at(tokens, i - 1) in ("<", "::"):
            continue
        j = i + 1
        if text_at(tokens, j) == "<":
            while text_at(tokens, j) not in (">", ">>", ""):
                j += 1
            j += 1
        while j < len(tokens) and tokens[j].kind == "name":
            names.add(tokens[j].text)
            j += 1
            depth = 0
            while j < len(tokens):
                t = tokens[j].text
                depth += (t in ("(", "[", "{")) - (t in (")", "]", "}"))
                if depth < 0 or depth == 0 and t in (",", ";", ":"):
                    break
                j += 1
            if text_at(tokens, j) != "," or depth < 0:
                break
            j += 1
    return names


def last_defined(tokens):
    """The Func whose first definition stands last in the file, outside of braces."""
    depth, order = 0, []
    for i, token in enumerate(tokens):
        begins = depth == 0 and token.kind == "name" and text_at(tokens, i - 1) in (";", "}", "")
        if begins and text_at(tokens, i + 1) == "(" and text_at(tokens, closing(tokens, i + 1) + 1) == "=":
            order += [token.text] * (token.text not in order)
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
    return order[-1]


def translate(source, scheduled=False):
    """The C++ of a .halide file's text, without its schedule unless asked for."""
    found = {"inputs": [], "params": [], "outputs": []}
    tokens = tokenize(source)
    loops = reduction_loops(tokens)
    tokens = halide_schedule(tokens) if scheduled else strip_schedule(tokens)
    tokens, heads, functions = declare_functions(tokens)
    tokens = rewrite_declarations(tokens, found)
    declared = declared_names(tokens) | functions | KNOWN
    variables, images = [], {}
    for i, token in enumerate(tokens):
        if token.kind != "name" or token.text in declared:
            continue
        if text_at(tokens, i - 1) in (".", "::", "->"):
            continue
        after = text_at(tokens, i + 1)
        if after == "(":
            close = closing(tokens, i + 1)
            depth, rank = 0, 1
            for t in tokens[i + 2:close]:
                depth += (t.text in ("(", "[", "{")) - (t.text in (")", "]", "}"))
                rank += depth == 0 and t.text == ","
            images[token.text] = rank
        elif after != ".":
            if token.text not in variables:
                variables.append(token.text)
    variables = [name for name in variables if name not in images]
    if images and found["inputs"]:
        raise Failure(f"undefined function `{next(iter(images))}` in a file that declares an input")
    outputs = found["outputs"]
    if not outputs:
        outputs = [n for n in ("out", "output") if n in declared - KNOWN][:1]
    if not outputs:
        outputs = [last_defined(tokens)]
    lines = ['#include "support.h"', "", "Pipe build_pipeline() {"]
    lines += [f"    {'RVar' if name in loops else 'Var'} {name}(\"{name}\");" for name in variables]
    lines += [f"    ImplicitImage {name}(\"{name}\", {rank});" for name, rank in images.items()]
    lines += [f"    {head}" for head in heads]
    body, line = "", 0
    for i, token in enumerate(tokens):
        if token.line != line:
            body += "\n    "
            line = token.line
        elif text_at(tokens, i - 1) not in ("(", "[", ".", "::", "!") and token.text not in (
                ")", "]", ",", ";", ".", "::", "(", "["):
            body += " "
        body += token.text
    lines += [body.lstrip("\n"), "", "    Pipe pipe;"]
    for name in found["inputs"]:
        lines.append(f'    pipe.inputs.emplace_back("{name}", {name});')
    for name in images:
        lines.append(f'    pipe.inputs.emplace_back("{name}", {name}.parameter());')
    for name in found["params"]:
        lines.append(f'    pipe.params.emplace_back("{name}", scalar({name}));')
    for name in outputs:
        lines.append(f'    pipe.outputs.emplace_back("{name}", {name});')
    lines += ["    return pipe;", "}", ""]
    return "\n".join(lines)


# ------------------------------------------------------------------ compiling

def run_quietly(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise Failure(f"{command[0]} failed\n{(result.stdout + result.stderr)[:4000]}")
    return result.stdout


def compiler():
    import halide

    package = pathlib.Path(halide.__file__).parent
    flags = ["-std=c++17", "-O0", "-w", f"-I{package / 'include'}"]
    libraries = [f"-L{package / 'lib64'}", f"-Wl,-rpath,{package / 'lib64'}", "-lHalide", "-lpthread", "-ldl"]
    return flags, libraries


def prepare():
    """Precompiles Halide's header and the main program, once."""
    flags, _ = compiler()
    BUILD.mkdir(parents=True, exist_ok=True)
    header, runner = HERE / "support.h", HERE / "runner.cpp"
    copy, made = BUILD / "support.h", BUILD / "support.h.gch"
    if not made.exists() or copy.read_text() != header.read_text():
        copy.write_text(header.read_text())
        run_quietly(["g++", *flags, "-x", "c++-header", copy, "-o", made])
    if not (BUILD / "runner.o").exists() or max(
            runner.stat().st_mtime, made.stat().st_mtime) > (BUILD / "runner.o").stat().st_mtime:
        text = BUILD / "runner.cpp"
        text.write_text(runner.read_text())
        run_quietly(["g++", *flags, f"-I{BUILD}", "-c", text, "-o", BUILD / "runner.o"])


def compile_pipeline(path, scheduled=False):
    """The program of a .halide file, compiled unless it is there already."""
    prepare()
    flags, libraries = compiler()
    code = translate(path.read_text(), scheduled)
    key = hashlib.sha256((code + (BUILD / "support.h").read_text() + (BUILD / "runner.cpp").read_text()).encode())
    program = BUILD / f"{path.stem}-{key.hexdigest()[:16]}"
    if not program.exists():
        text = BUILD / f"{path.stem}.cpp"
        text.write_text(code)
        run_quietly(["g++", *flags, f"-I{BUILD}", text, BUILD / "runner.o", "-o", program, *libraries])
    entries = [line.split() for line in run_quietly([program, "--describe"]).splitlines()]
    return program, [(kind, name, element, int(rank)) for kind, name, element, rank in entries]


# --------------------------------------------------------------------- inputs

NUMPY = {"f32": np.float32, "bool": np.uint8, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32,
         "i8": np.int8, "i16": np.int16, "i32": np.int32}

SPECIAL_F32 = [
    0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x40000000, 0xC0000000, 0x3F000000, 0xBF000000,
    0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x00800000, 0x80800000, 0x00000001, 0x80000001,
    0x3F7FFFFF, 0x3F800001, 0xBF7FFFFF, 0xBF800001, 0x4B000000, 0xCB000000, 0x4B7FFFFF, 0x4F000000,
    0xCF000000, 0x4EFFFFFF, 0x3FC00000, 0xBFC00000, 0x40200000, 0xC0200000, 0x42F6E979, 0xC2F6E979,
]
END_F32 = [
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000,
    0x1F800000, 0x9F800000, 0x3A83126F, 0xBA83126F, 0x3F000000, 0xBF000000, 0x3F7FFFFF, 0xBF7FFFFF,
    0x3F800000, 0xBF800000, 0x3F800001, 0xBF800001, 0x3FC00000, 0xBFC00000, 0x40000000, 0xC0000000,
    0x40200000, 0xC0200000, 0x40400000, 0xC0400000, 0x40490FDB, 0xC0490FDB, 0x42B1999A, 0xC2B1999A,
    0x42D00000, 0xC2D00000, 0x42FF0000, 0xC2FF0000, 0x43000000, 0xC3000000, 0x437F8000, 0xC37F8000,
    0x43800000, 0xC3800000, 0x46FFFF00, 0xC6FFFF00, 0x47000000, 0xC7000000, 0x477FFF80, 0xC77FFF80,
    0x47800000, 0xC7800000, 0x4AFFFFFF, 0xCAFFFFFF, 0x4B000001, 0xCB000001, 0x4B7FFFFF, 0xCB7FFFFF,
    0x4B800001, 0xCB800001, 0x4EFFFFFF, 0xCEFFFFFF, 0x4F000000, 0xCF000000, 0x4F000001, 0xCF000001,
    0x4F7FFFFF, 0xCF7FFFFF, 0x4F800000, 0xCF800000, 0x4F9502F9, 0xCF9502F9, 0x5F000000, 0xDF000000,
    0x7F000000, 0xFF000000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001,
]
SPECIAL_I32 = [
    0, 1, -1, 2, -2, 3, -3, 7, -7, 127, 128, -128, -129, 255, 256, 32767,
    32768, -32768, -32769, 65535, 65536, 16777215, 16777216, 16777217,
    1073741823, 1073741824, 2147483646, 2147483647, -2147483647, -2147483648, 1000000007, -1000000007,
]


def mix(h):
    """A 32-bit integer hash of two multiplications; bijective."""
    h = h ^ (h >> np.uint32(16))
    h = h * np.uint32(0x7FEB352D)
    h = h ^ (h >> np.uint32(15))
    h = h * np.uint32(0x846CA68B)
    return h ^ (h >> np.uint32(16))


def generate(element, extent, seed, kind="uniform"):
    """An input of the given extent (x first), as an array of the reversed shape."""
    whole = list(extent) + [1] * (3 - len(extent))
    c, y, x = np.meshgrid(*(np.arange(n, dtype=np.uint32) for n in reversed(whole)), indexing="ij")
    with np.errstate(over="ignore"):
        h = mix(x + mix(y + mix(c + mix(np.uint32(seed)))))
    shape = list(reversed(extent))
    if kind == "ends":
        index = (x if seed % 2 else y) % np.uint32(len(END_F32))
        return np.array(END_F32, np.uint32)[index].view(np.float32).reshape(shape)
    if kind == "special":
        index = h >> np.uint32(27)
        if element == "f32":
            return np.array(SPECIAL_F32, np.uint32)[index].view(np.float32).reshape(shape)
        return np.array(SPECIAL_I32, np.int64)[index].astype(np.uint32).astype(NUMPY[element]).reshape(shape)
    if element == "f32":
        value = (h >> np.uint32(8)).astype(np.float32) / np.float32(2.0**24)
    elif element == "bool":
        value = (h >> np.uint32(31)).astype(np.uint8)
    else:
        bits = int(element[1:])
        value = (h >> np.uint32(32 - bits)).astype(f"uint{bits}").view(NUMPY[element])
    return value.reshape(shape)


# ----------------------------------------------------------------------- runs

def parse_size(text):
    return [int(n) for n in text.split("x")]


def execute(program, inputs, params, outputs, options=()):
    """Runs a program; `inputs` are arrays by name, `outputs` (name, element, extent)."""
    with tempfile.TemporaryDirectory() as folder:
        plan, results = [], {}
        for name, value in params.items():
            plan.append(f"param {name} {value}")

        def image(kind, name, extent):
            whole = list(extent) + [1] * (3 - len(extent))
            path = pathlib.Path(folder) / f"{kind}-{name}"
            plan.append(f"{kind} {name} {len(extent)} {' '.join(map(str, whole))} {path}")
            return path

        for name, array in inputs.items():
            path = image("input", name, list(reversed(array.shape)))
            path.write_bytes(np.ascontiguousarray(array).tobytes())
        for name, element, extent in outputs:
            results[name] = (image("output", name, extent), element, extent)
        ended = subprocess.run([program, *options], input="\n".join(plan) + "\n", capture_output=True, text=True)
        if ended.returncode != 0:
            raise Failure(f"{program.name}: {ended.stderr.strip()}")
        return {
            name: np.fromfile(path, NUMPY[element]).reshape(list(reversed(extent)))
            for name, (path, element, extent) in results.items()
        }


def sample_stride(count, extent):
    """The smallest prime that leaves about SAMPLE_ELEMENTS and divides no extent."""
    stride = max(2, -(-count // SAMPLE_ELEMENTS))
    while any(stride % k == 0 for k in range(2, int(stride**0.5) + 1)) or any(n % stride == 0 for n in extent):
        stride += 1
    return stride


def make_case(path, case, defaults, program, entries):
    """Runs one case, writes its reference files and returns its manifest entry."""
    tolerance = case.get("tolerance", defaults.get("tolerance", "exact"))
    entry = {"halide": str(path.relative_to(ROOT)), "inputs": [], "params": case.get("params", {})}
    arrays, seed = {}, case.get("seed", 1)
    for kind, name, element, rank in entries:
        if kind == "input":
            extent = parse_size(case.get(name, case.get("in", "")))
            if len(extent) != rank:
                raise Failure(f"{path.name}: case {case} gives input `{name}` no extent of rank {rank}")
            style = case.get("values", defaults.get("values", "uniform"))
            arrays[name] = generate(element, extent, seed, style)
            entry["inputs"].append({"name": name, "type": element, "extent": extent, "seed": seed, "values": style})
            seed += 1
    size = case.get("size")
    entry["size"] = parse_size(size) if size else None
    default = parse_size(size) if size else entry["inputs"][0]["extent"] if entry["inputs"] else []
    outputs = []
    for kind, name, element, rank in entries:
        if kind == "output":
            fixed = case.get("bound", defaults.get("bound"))
            extent = parse_size(fixed[name] if isinstance(fixed, dict) else fixed) if fixed else default[:rank]
            if len(extent) != rank:
                raise Failure(f"{path.name}: case {case} gives output `{name}` no extent of rank {rank}")
            outputs.append((name, element, extent))
    results = execute(program, arrays, entry["params"], outputs)
    given = entry["inputs"][0]["extent"] if entry["inputs"] else default
    label = case.get("label", "x".join(map(str, given)))
    entry["case"] = f"{path.stem}-{label}"
    entry["tolerance"] = tolerance
    entry["outputs"] = []
    for name, element, extent in outputs:
        array = results[name]
        if element == "f32":
            if all(i["values"] != "ends" for i in entry["inputs"]) and not np.isfinite(array).all():
                raise Failure(f"{entry['case']}: output `{name}` is not finite everywhere")
            array.view(np.uint32)[np.isnan(array)] = 0x7FC00000
        record = {"name": name, "type": element, "extent": extent, "whole": None, "sample": None, "stride": None,
                  "sha256": hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()}
        file = DATA / f"{entry['case']}.{name}.npy"
        stored = array.astype(np.bool_) if element == "bool" else array
        limit = WHOLE_BYTES if case.get("first") else WHOLE_BYTES // 4
        if array.nbytes <= limit or (case.get("whole", defaults.get("whole")) and tolerance != "exact"):
            record["whole"] = str(file.relative_to(HERE))
            np.save(file, stored)
        elif tolerance != "exact":
            record["stride"] = sample_stride(array.size, extent)
            record["sample"] = str(file.relative_to(HERE))
            np.save(file, stored.reshape(-1)[::record["stride"]])
        entry["outputs"].append(record)
    return entry


def make_all(words, everything):
    cases = tomllib.loads((HERE / "cases.toml").read_text())
    DATA.mkdir(exist_ok=True)
    old = {}
    if MANIFEST.exists():
        for line in MANIFEST.read_text().splitlines():
            entry = json.loads(line)
            old.setdefault(entry["halide"], []).append(entry)
    entries_out, failed = [], False
    for relative, spec in cases.items():
        path = ROOT / relative
        digest = hashlib.sha256((translate(path.read_text()) + json.dumps(spec, sort_keys=True)).encode()).hexdigest()
        known = old.get(relative)
        wanted = any(w in relative for w in words) if words else True
        if known and (not wanted or (not everything and all(e["source"] == digest for e in known))):
            entries_out += known
            continue
        if not wanted:
            continue
        try:
            program, entries = compile_pipeline(path)
            results = [make_case(path, {**case, "first": number == 0}, spec, program, entries)
                       for number, case in enumerate(spec["cases"])]
        except Failure as failure:
            print(f"{relative}: {failure}", flush=True)
            failed = True
            continue
        for entry in results:
            entry["source"] = digest
            entries_out.append(entry)
            print(entry["case"], *(f"{o['name']}:{o['type']}" for o in entry["outputs"]), flush=True)
    names = [e["case"] for e in entries_out]
    for name in names:
        if names.count(name) > 1:
            raise Failure(f"two cases are called {name}: give one a label")
    MANIFEST.write_text("".join(json.dumps(e) + "\n" for e in entries_out))
    if failed:
        raise SystemExit("some pipelines failed")
    kept = {o[k] for e in entries_out for o in e["outputs"] for k in ("whole", "sample")}
    for file in DATA.iterdir():
        if str(file.relative_to(HERE)) not in kept:
            file.unlink()


def check_schedules(words):
    """Runs every case of the manifest again, with the schedule that the file has."""
    for line in MANIFEST.read_text().splitlines():
        entry = json.loads(line)
        if words and not any(w in entry["halide"] for w in words):
            continue
        try:
            program, _ = compile_pipeline(ROOT / entry["halide"], scheduled=True)
            inputs = {i["name"]: generate(i["type"], i["extent"], i["seed"], i["values"]) for i in entry["inputs"]}
            outputs = [(o["name"], o["type"], o["extent"]) for o in entry["outputs"]]
            results = execute(program, inputs, entry["params"], outputs, ["--scheduled"])
        except Failure as failure:
            print(f"{entry['case']}: {failure}", flush=True)
            continue
        for o in entry["outputs"]:
            result = np.ascontiguousarray(results[o["name"]])
            same = hashlib.sha256(result.tobytes()).hexdigest() == o["sha256"]
            if not same and entry["tolerance"] != "exact":
                # Only rfactor changes the order of a float reduction.
                stored = np.load(HERE / (o["whole"] or o["sample"])).reshape(-1)
                same = np.allclose(result.reshape(-1)[::o["stride"] or 1], stored, 1e-5, 1e-5)
            if not same:
                print(f"{entry['case']}: output `{o['name']}` differs under its schedule", flush=True)


def run_once(arguments):
    path = pathlib.Path(arguments.once)
    program, entries = compile_pipeline(path)
    arrays = {name: np.load(file) for name, file in (a.split("=", 1) for a in arguments.words)}
    params = dict(a.split("=", 1) for a in arguments.param)
    first = next((list(reversed(arrays[n].shape)) for k, n, _, _ in entries if k == "input"), [])
    size = parse_size(arguments.size) if arguments.size else first
    inputs = {n: arrays[n].astype(NUMPY[e]) for k, n, e, _ in entries if k == "input"}
    outputs = [(n, e, size[:rank]) for k, n, e, rank in entries if k == "output"]
    for name, array in execute(program, inputs, params, outputs).items():
        file = pathlib.Path(arguments.output) / f"{path.stem}.{name}.npy"
        np.save(file, array)
        print(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--schedules", action="store_true")
    parser.add_argument("--translate", metavar="FILE")
    parser.add_argument("--once", metavar="FILE")
    parser.add_argument("--size")
    parser.add_argument("--param", action="append", default=[])
    parser.add_argument("-o", "--output", default=".")
    arguments = parser.parse_args()
    if arguments.translate:
        print(translate(pathlib.Path(arguments.translate).read_text()))
    elif arguments.once:
        run_once(arguments)
    elif arguments.schedules:
        check_schedules(arguments.words)
    else:
        make_all(arguments.words, arguments.all)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        raise SystemExit(str(failure))
