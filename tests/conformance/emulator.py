"""A small emulator of PTX in numpy, to check the corpora without a GPU and without this project's compiler.

All threads of a block run together: each step takes the lowest program counter that a runnable thread stands at and
performs that instruction for all threads that stand there, which reconverges structured code without any analysis.
Calls are expanded at each call site. Every address is one of a single flat memory, so generic addresses are the
addresses themselves. Rounding other than to nearest goes through softfloat.py.
"""
import ctypes
import re
import struct
from fractions import Fraction

import numpy as np

import softfloat as sf

TOKEN = re.compile(r"\"(?:[^\"\\]|\\.)*\"|0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b|\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|\d+U?"
                   r"|[%$_A-Za-z][\w$]*(?:(?:\.|::)[\w$]+)*|\.[A-Za-z_]\w*|<<|>>|==|!=|<=|>=|&&|\|\||\S")
SIZES = {"pred": 1, "b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "b32": 4, "u32": 4, "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4,
         "b64": 8, "u64": 8, "s64": 8, "f64": 8, "u16x2": 4, "s16x2": 4}
SPACES = ("global", "shared", "local", "const", "param")
LIBM = ctypes.CDLL("libm.so.6")
LIBM.fma.restype = ctypes.c_double
LIBM.fma.argtypes = [ctypes.c_double] * 3
M64 = (1 << 64) - 1


class Fault(Exception):
    """The run ends: trap, assertion, bad address or no progress."""


class Unsupported(Exception):
    """The emulator does not know this."""


class Integer(int):
    """An integer whose quotient is cut toward zero."""

    def __floordiv__(self, other):
        return Integer(quotient(int(self), int(other)))

    def __neg__(self):
        return Integer(-int(self))


def tokenize(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"//[^\n]*", " ", text)
    text = re.sub(r"\.section[^{]*\{[^}]*\}", " ", text)
    text = re.sub(r"^\s*\.(loc|file)\b[^\n;]*;?\s*$", " ", text, flags=re.M)
    return TOKEN.findall(text)


def literal(token):
    """The bits of a number, and whether it is a float and of which format."""
    if token[:2] in ("0f", "0F"):
        return int(token[2:], 16), "f32"
    if token[:2] in ("0d", "0D"):
        return int(token[2:], 16), "f64"
    if re.fullmatch(r"\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+", token):
        return struct.unpack("<Q", struct.pack("<d", float(token)))[0], "f64"
    token = token.rstrip("U")
    if token[:2] in ("0x", "0X"):
        return int(token, 16), None
    if token[:2] in ("0b", "0B"):
        return int(token, 2), None
    return (int(token, 8) if len(token) > 1 and token[0] == "0" else int(token)), None


class Parser:
    """Tokens to module variables and functions."""

    def __init__(self, text):
        self.t, self.i = tokenize(text), 0
        self.variables, self.functions, self.order = {}, {}, []

    def peek(self, k=0):
        return self.t[self.i + k] if self.i + k < len(self.t) else ""

    def next(self):
        self.i += 1
        return self.t[self.i - 1]

    def take(self, token):
        if self.peek() == token:
            self.i += 1
            return True
        return False

    def expect(self, token):
        if self.next() != token:
            raise Unsupported(f"expected {token} near {' '.join(self.t[self.i - 5:self.i + 3])}")

    def expression(self):
        """A constant expression by way of Python's operators; numbers only."""
        text, depth = [], 0
        while not (depth == 0 and self.peek() in (",", ";", "}", "]", ")")):
            token = self.next()
            depth += {"(": 1, ")": -1}.get(token, 0)
            if token[0].isdigit():
                token = f"Integer({literal(token)[0]})"
            text.append({"/": "//", "&&": " and ", "||": " or ", "!": " not ", "WARP_SZ": "32"}.get(token, token))
        joined = "".join(text)
        joined = re.sub(r"\(\.[su]64\)", "", joined)
        match = re.fullmatch(r"(.*)\?(.*):(.*)", joined)
        if match:
            joined = f"({match[2]} if {match[1]} else {match[3]})"
        value = eval(joined, {"Integer": Integer})
        return int(bool(value)) if " or " in joined or " and " in joined else int(value)

    def declaration(self, space, single=False):
        """After the space: alignment, type, names with dimensions, initial values."""
        found, align, vector, kind = [], 1, 1, "b8"
        while self.peek().startswith(".") or self.peek() == "ptr":
            word = self.next()
            if word == ".align":
                align = int(self.next())
            elif word in (".v2", ".v4"):
                vector = int(word[2])
            elif word[1:] in SIZES:
                kind = word[1:]
            elif word == ".attribute":
                while self.next() != ")":
                    pass
            elif word == ".ptr":
                while self.peek() in (".global", ".shared", ".const", ".local", ".align"):
                    if self.next() == ".align":
                        self.next()
        while True:
            name = self.next()
            if self.take("<"):
                count = int(self.next())
                self.expect(">")
                found += [(f"{name}{k}", kind, SIZES[kind], 1, None) for k in range(count)]
            else:
                dims = []
                while self.take("["):
                    dims.append(0 if self.peek() == "]" else self.expression())
                    self.expect("]")
                init = None
                if self.take("="):
                    init = self.initial()
                if dims and dims[0] == 0 and init:
                    dims[0] = len(init)
                size = SIZES[kind] * vector
                for d in dims:
                    size *= d
                found.append((name, kind, size, max(align, SIZES[kind] * vector), (init, dims)))
                if space == "reg" and vector > 1:
                    found += [(f"{name}.{c}", kind, SIZES[kind], 1, None) for c in "xyzw"[:vector]]
            if single or not self.take(","):
                return found

    def initial(self):
        """A flat or nested list of numbers and symbols."""
        if self.take("{"):
            items = []
            while not self.take("}"):
                items.append(self.initial())
                self.take(",")
            return items
        if self.peek() == "generic" or (re.match(r"[%$_A-Za-z]", self.peek()) and self.peek() != "WARP_SZ"):
            token = self.next()
            if token == "generic":
                self.expect("(")
                token = self.next()
                self.expect(")")
            offset = self.expression() if self.take("+") else 0
            return ("symbol", token, offset)
        sign = -1 if self.peek() == "-" and literal_like(self.peek(1)) else 1
        if sign < 0:
            self.next()
        if literal_like(self.peek()) and (literal(self.peek())[1]):
            bits, fmt = literal(self.next())
            return ("float", bits ^ (1 << (31 if fmt == "f32" else 63) if sign < 0 else 0), fmt)
        value = self.expression()
        return sign * value

    def module(self):
        while self.i < len(self.t):
            token = self.next()
            if token in (".version", ".target"):
                self.next()
                while self.take(","):
                    self.next()
            elif token == ".address_size":
                self.next()
            elif token in (".visible", ".extern", ".weak", ".common"):
                self.linkage = token
            elif token in (".entry", ".func"):
                self.function(token[1:])
            elif token[1:] in SPACES:
                for name, kind, size, align, init in self.declaration(token[1:]):
                    self.variables[name] = (token[1:], kind, size, align, init)
                self.expect(";")
            elif token in (";",):
                pass
            elif token == ".pragma":
                self.next()
                self.expect(";")
            else:
                raise Unsupported(f"module statement {token}")
        return self

    def parameters(self):
        found = []
        while not self.take(")"):
            space = self.next()[1:]
            found += [(space,) + d for d in self.declaration(space, True)]
            self.take(",")
        return found

    def function(self, kind):
        returns = []
        if self.take("("):
            returns = self.parameters()
        name = self.next()
        params = self.parameters() if self.take("(") else []
        while self.peek() not in ("{", ";"):
            self.next()
        body = None
        if not self.take(";"):
            self.expect("{")
            body = self.body()
        if body is not None or name not in self.functions:
            self.functions[name] = (kind, returns, params, body)
            self.order.append(name)

    def body(self):
        """Statements until the closing brace: ('scope', [...]), ('decl', ...), ('label', ...), ('op', ...)."""
        out = []
        while not self.take("}"):
            token = self.peek()
            if token == "{":
                self.next()
                out.append(("scope", self.body()))
            elif token.startswith(".") and token[1:] in SPACES + ("reg",):
                self.next()
                out.append(("decl", token[1:], self.declaration(token[1:])))
                self.expect(";")
            elif token in (".pragma", ".maxntid", ".loc"):
                while not self.take(";"):
                    self.next()
            elif self.peek(1) == ":" and self.peek(2) in (".branchtargets", ".calltargets", ".callprototype"):
                name = self.next()
                self.next()
                what = self.next()[1:]
                items = []
                while not self.take(";"):
                    items.append(self.next())
                out.append(("list", name, what, [x for x in items if x != ","]))
            elif self.peek(1) == ":":
                out.append(("label", self.next()))
                self.next()
            elif token == ";":
                self.next()
            else:
                guard = None
                if self.take("@"):
                    negated = self.take("!")
                    guard = (self.next(), negated)
                opcode = self.next()
                operands, depth, current = [], 0, []
                while True:
                    token = self.next()
                    if token == ";" and depth == 0:
                        break
                    if token == "," and depth == 0:
                        operands.append(current)
                        current = []
                        continue
                    depth += {"{": 1, "[": 1, "(": 1, "}": -1, "]": -1, ")": -1}.get(token, 0)
                    current.append(token)
                if current:
                    operands.append(current)
                out.append(("op", guard, opcode, operands))
        return out


def literal_like(token):
    return bool(token) and token[0].isdigit()


class Program:
    """One kernel expanded: instructions with resolved registers, labels and addresses."""

    def __init__(self, module, kernel, place):
        self.m, self.place = module, place
        self.code, self.registers, self.local, self.shared = [], 0, 0, {}
        self.labels, self.depth = {}, 0
        kind, _, params, body = module.functions[kernel]
        scope = {}
        at = 0
        self.params = []
        for _, name, t, size, align, _ in params:
            at = (at + align - 1) // align * align
            scope[name] = ("address", "param", at)
            self.params.append((at, size, t))
            at += size
        self.param_size = at
        self.block(body, [scope], "exit")
        self.code.append((None, "exit", [], []))

    def register(self):
        self.registers += 1
        return self.registers - 1

    def label(self):
        self.labels[len(self.labels)] = None
        return len(self.labels) - 1

    def find(self, scopes, name):
        for scope in reversed(scopes):
            if name in scope:
                return scope[name]
        if name in self.m.variables:
            return ("address", "symbol", name)
        if name in self.m.functions:
            return ("function", name)
        return None

    def block(self, body, scopes, leave):
        scope = {}
        scopes = scopes + [scope]
        for item in body:
            if item[0] == "label":
                scope["label " + item[1]] = self.label()
            elif item[0] == "decl":
                for name, t, size, align, init in item[2]:
                    if item[1] == "reg":
                        scope[name] = ("register", self.register())
                    elif item[1] == "shared":
                        scope[name] = ("address", "symbol", self.place(name, size, align, id(item)))
                    else:
                        align = max(align, 8)
                        self.local = (self.local + align - 1) // align * align
                        scope[name] = ("address", "local", self.local)
                        self.local += size
            elif item[0] == "list":
                scope["list " + item[1]] = item
        for item in body:
            if item[0] == "scope":
                self.block(item[1], scopes, leave)
            elif item[0] == "label":
                self.labels[scope["label " + item[1]]] = len(self.code)
            elif item[0] == "op":
                self.instruction(item, scopes, leave)

    def operand(self, tokens, scopes):
        """A resolved operand: ('r', n), ('n', bits, fmt), ('s', special), ('v', [...]), ('a', base, offset), ('p', r, negated), ..."""
        if tokens[0] == "{":
            parts, current = [], []
            for t in tokens[1:-1] + [","]:
                if t == ",":
                    parts.append(self.operand(current, scopes))
                    current = []
                else:
                    current.append(t)
            return ("v", parts)
        if tokens[0] == "[":
            inner = tokens[1:-1]
            base = self.operand(inner[:1], scopes)
            offset = 0
            if len(inner) > 1:
                text = "".join(str(literal(t)[0]) if literal_like(t) else t for t in inner[1:])
                offset = int(eval("0" + text, {}))
            return ("a", base, offset)
        if "|" in tokens and len(tokens) == 3 and not literal_like(tokens[0]):
            return ("two", self.operand(tokens[:1], scopes), self.operand(tokens[2:], scopes))
        if tokens[0] == "!" and not literal_like(tokens[1]):
            return ("not", self.operand(tokens[1:], scopes))
        if tokens[0] == "-" and not literal_like(tokens[1]):
            return ("neg", self.operand(tokens[1:], scopes))
        name = tokens[0]
        if len(tokens) == 1 or (tokens[1] == "+" and not literal_like(name)):
            if name == "_":
                return ("_",)
            if literal_like(name):
                return ("n",) + literal(name)
            found = self.find(scopes, name)
            if found is None and "." in name:
                base, selector = name.rsplit(".", 1)
                found = self.find(scopes, base)
                if found:
                    return ("part", ("r", found[1]), selector)
            if found is None:
                if name == "WARP_SZ":
                    return ("n", 32, None)
                return ("s", name)
            if found[0] == "register":
                return ("r", found[1])
            if found[0] == "function":
                return ("n", self.m.order.index(found[1]) + 1, None)
            offset = literal(tokens[2])[0] if len(tokens) > 1 else 0
            return ("addr", found[1], found[2], offset)
        parser = Parser("")
        parser.t, parser.i = tokens + [";"], 0
        if tokens[0] == "-" and len(tokens) == 2 and literal(tokens[1])[1]:
            bits, fmt = literal(tokens[1])
            return ("n", bits ^ 1 << (31 if fmt == "f32" else 63), fmt)
        return ("n", parser.expression() & M64, None)

    def emit(self, guard, op, *operands):
        parts = op.split(".")
        self.code.append((guard, parts[0], parts[1:], list(operands)))

    def instruction(self, item, scopes, leave):
        _, guard, opcode, operands = item
        if guard:
            guard = (self.operand([guard[0]], scopes)[1], guard[1])
        parts = opcode.split(".")
        if parts[0] == "bra":
            for scope in reversed(scopes):
                if "label " + operands[0][0] in scope:
                    self.emit(guard, "bra", scope["label " + operands[0][0]])
                    return
            raise Unsupported(f"label {operands[0][0]}")
        if parts[0] == "brx":
            for scope in reversed(scopes):
                if "list " + operands[1][0] in scope:
                    names = scope["list " + operands[1][0]][3]
                    targets = [next(s["label " + n] for s in reversed(scopes) if "label " + n in s) for n in names]
                    self.emit(guard, "brx", self.operand(operands[0], scopes), targets)
                    return
        if parts[0] == "ret":
            self.emit(guard, "exit") if leave == "exit" else self.emit(guard, "bra", leave)
            return
        if parts[0] == "call":
            self.call(guard, operands, scopes)
            return
        self.emit(guard, opcode, *(self.operand(o, scopes) for o in operands))

    def call(self, guard, operands, scopes):
        self.depth += 1
        if self.depth > 30:
            raise Unsupported("recursion")
        skip = self.label()
        if guard:
            self.emit((guard[0], not guard[1]), "bra", skip)
        returns = []
        if operands[0][0] == "(":
            returns = [t for t in operands[0][1:-1] if t != ","]
            operands = operands[1:]
        target = operands[0][0]
        args = []
        if len(operands) > 1 and operands[1][0] == "(":
            args, current = [], []
            for t in operands[1][1:-1] + [","]:
                if t == ",":
                    if current:
                        args.append(current)
                    current = []
                else:
                    current.append(t)
        if target in self.m.functions:
            self.expand(target, returns, args, scopes)
        else:
            where = self.operand([target], scopes)
            end = self.label()
            shape = None
            if len(operands) > 2:
                for scope in reversed(scopes):
                    shape = shape or scope.get("list " + operands[2][0])
            names = shape[3] if shape and shape[2] == "calltargets" else [n for n in self.m.order if self.m.functions[n][0] == "func" and self.m.functions[n][3] is not None]
            test = self.register()
            for name in names:
                _, formal_returns, params, body = self.m.functions[name]
                if len(params) != len(args) or len(formal_returns) != len(returns):
                    continue
                other = self.label()
                self.emit(None, "setp.ne.u64", ("r", test), where, ("n", self.m.order.index(name) + 1, None))
                self.emit((test, False), "bra", other)
                if self.depth < 6:
                    self.expand(name, returns, args, scopes)
                else:
                    self.emit(None, "trap")
                self.emit(None, "bra", end)
                self.labels[other] = len(self.code)
            self.emit(None, "trap")
            self.labels[end] = len(self.code)
        self.labels[skip] = len(self.code)
        self.depth -= 1

    def expand(self, name, returns, args, scopes):
        _, formal_returns, params, body = self.m.functions[name]
        if body is None:
            out = self.find(scopes, returns[0]) if returns else None
            self.emit(None, "builtin", name, out, [self.find(scopes, a[0]) for a in args])
            return
        scope = {}
        for (space, formal, t, size, align, _), actual in zip(params, args):
            if space == "reg":
                register = self.register()
                scope[formal] = ("register", register)
                self.emit(None, f"mov.b{8 * size}", ("r", register), self.operand(actual, scopes))
            else:
                scope[formal] = self.find(scopes, actual[0])
        for (space, formal, t, size, align, _), actual in zip(formal_returns, returns):
            scope[formal] = self.find(scopes, actual)
        leave = self.label()
        self.block(body, [scope], leave)
        self.labels[leave] = len(self.code)


def sext(v, size):
    """Signed numbers of the low bits."""
    shift = np.uint64(64 - size)
    return ((v << shift).view(np.int64) >> np.int64(64 - size)) if size < 64 else v.view(np.int64)


def zext(v, size):
    return v & np.uint64((1 << size) - 1) if size < 64 else v


FLOATS = {"f16": (np.uint16, np.float16), "f32": (np.uint32, np.float32), "f64": (np.uint64, np.float64)}


def as_float(v, fmt):
    u, f = FLOATS[fmt]
    return v.astype(u).view(f)


def from_float(v, fmt):
    """Bits, with the canonical NaN."""
    u, f = FLOATS[fmt]
    v = np.asarray(v, f)
    bits = np.ascontiguousarray(v).view(u).astype(np.uint64)
    if fmt != "f64":
        bits[np.isnan(v)] = sf.canonical_nan(fmt)
    return bits


def flushed(v, fmt):
    e, m = sf.FORMATS[fmt]
    small = (v >> np.uint64(m)) & np.uint64((1 << e) - 1) == 0
    return np.where(small, v & np.uint64(1 << e + m), v)


def each(function, *columns):
    """A model of patterns applied to each lane."""
    out = np.empty(len(columns[0]), np.uint64)
    for k, row in enumerate(zip(*(c.tolist() for c in columns))):
        out[k] = int(function(*row)) & M64
    return out


class Machine:
    """Memory, module variables and launches of one PTX file."""

    GLOBAL, PARAM, SHARED, LOCAL, LIMIT = 0x10000, 0x1000, 0x400000, 0x800000, 0x1800000

    def __init__(self, text):
        self.m = Parser(text).module()
        self.memory = np.zeros(self.LIMIT, np.uint8)
        self.top = self.GLOBAL
        self.symbols, self.spaces = {}, {}
        self.static, self.externs = 0, []
        self.stdout = []
        self.instructions = 0
        for name, (space, kind, size, align, init) in self.m.variables.items():
            if space == "shared":
                self.shared(name, size, align, name)
            else:
                self.symbols[name] = self.allocate(size, align)
                self.spaces[name] = space
        for name, (space, kind, size, align, (init, dims)) in self.m.variables.items():
            if space != "shared" and init is not None:
                self.initialise(self.symbols[name], kind, init, dims[1:] if dims else [])

    def allocate(self, size, align=256):
        self.top = (self.top + align - 1) // align * align
        at = self.top
        self.top += max(size, 1)
        if self.top > self.SHARED:
            raise Unsupported("too much memory")
        return at

    def shared(self, name, size, align, key):
        key = (name, key)
        if key in self.symbols:
            return key
        if size == 0:
            self.externs.append(key)
            self.symbols[key] = None
        else:
            self.static = (self.static + align - 1) // align * align
            self.symbols[key] = self.SHARED + self.static
            self.static += size
        if key[0] == key[1]:
            self.symbols[name] = self.symbols[key]
            self.spaces[name] = "shared"
        return key

    def initialise(self, at, kind, init, inner):
        size = SIZES[kind]
        if not isinstance(init, list):
            init = [init]
        for k, item in enumerate(init):
            if isinstance(item, list):
                step = size
                for d in inner:
                    step *= d
                self.initialise(at + k * step, kind, item, inner[1:])
                continue
            if isinstance(item, tuple) and item[0] == "symbol":
                bits = (self.symbols[item[1]] if item[1] in self.symbols else self.m.order.index(item[1]) + 1) + item[2]
            elif isinstance(item, tuple):
                bits = item[1] if item[2] == kind else sf.resize(kind, item[2], item[1])
            else:
                bits = item & M64 if kind[0] != "f" else sf.encode(kind, int(item < 0), Fraction(abs(item)))
            self.memory[at + k * size:at + (k + 1) * size] = np.frombuffer((bits & ((1 << 8 * size) - 1)).to_bytes(size, "little"), np.uint8)

    def launch(self, kernel, grid, block, args, dynamic=0, limit=400000):
        """Runs a kernel; args are the bytes of each parameter."""
        program = Program(self.m, kernel, self.shared)
        image = bytearray(program.param_size)
        for (at, size, _), data in zip(program.params, args):
            if len(data) != size:
                raise Fault(f"argument of {len(data)} bytes for {size}")
            image[at:at + size] = data
        self.memory[self.PARAM:self.PARAM + len(image)] = np.frombuffer(bytes(image), np.uint8)
        base = (self.static + 15) // 16 * 16
        for key in self.externs:
            self.symbols[key] = self.symbols[key[0]] = self.SHARED + base
            self.spaces[key[0]] = "shared"
        for z in range(grid[2]):
            for y in range(grid[1]):
                for x in range(grid[0]):
                    Block(self, program, grid, block, (x, y, z), dynamic).run(limit)


class Block:
    """The threads of one block."""

    def __init__(self, machine, program, grid, block, index, dynamic):
        self.machine, self.p, self.memory = machine, program, machine.memory
        self.grid, self.block, self.index, self.dynamic = grid, block, index, dynamic
        n = self.n = block[0] * block[1] * block[2]
        self.r = np.zeros((program.registers + 1, n), np.uint64)
        self.pc = np.zeros(n, np.int64)
        self.wait = np.zeros(n, np.int64)  # 0 runs, -1 has ended, k + 1 waits at barrier k
        self.carry = np.zeros(n, np.uint64)
        self.tid = np.arange(n)
        self.barriers = {}
        self.local = self.machine.LOCAL + self.tid.astype(np.uint64) * np.uint64((program.local + 15) // 16 * 16)
        self.memory[machine.SHARED:machine.SHARED + machine.static + dynamic + 64] = 0

    def run(self, limit):
        steps, turn = 0, 0
        with np.errstate(all="ignore"):
            while True:
                runnable = np.flatnonzero(self.wait == 0)
                if not len(runnable):
                    if (self.wait > 0).any() and not self.release(True):
                        raise Fault("deadlock at a barrier")
                    if (self.wait == -1).all():
                        return
                    continue
                pcs = self.pc[runnable]
                low = pcs.min()
                steps += 1
                if steps % 64 == 0 and steps > 4000:
                    others = np.unique(pcs)
                    turn += 1
                    low = others[turn % len(others)]
                if steps > limit:
                    raise Fault("no end")
                self.step(low, runnable[pcs == low])

    def release(self, all_waiting=False):
        """Opens barriers at which enough threads have arrived."""
        opened = False
        for number in list(self.barriers):
            arrived, need, votes = self.barriers[number]
            waiting = np.flatnonzero(self.wait == number + 1)
            live = int((self.wait != -1).sum())
            if len(waiting) + arrived >= (need or live) and len(waiting) + arrived > 0:
                self.wait[waiting] = 0
                if votes:
                    kind, out = votes["kind"], votes["out"]
                    p = np.array([votes["p"][int(t)] for t in waiting], bool)
                    value = int(p.sum()) if kind == "popc" else int(p.all()) if kind == "and" else int(p.any())
                    self.r[out][waiting] = value
                del self.barriers[number]
                opened = True
        return opened

    # Operands.
    def get(self, o, ix, size=64, fmt=None):
        kind = o[0]
        if kind == "r":
            return self.r[o[1]][ix]
        if kind == "n":
            bits = o[1]
            if fmt and o[2] and o[2] != fmt:
                bits = sf.resize(fmt, o[2], bits)
            return np.full(len(ix), bits & M64, np.uint64)
        if kind == "s":
            return self.special(o[1], ix)
        if kind == "addr":
            return self.address(o, ix)
        if kind == "not":
            return (self.get(o[1], ix) == 0).astype(np.uint64)
        if kind == "neg":
            return np.uint64(0) - self.get(o[1], ix)
        if kind == "part":
            return self.get(o[1], ix)
        raise Unsupported(f"operand {o}")

    def address(self, o, ix):
        where, name, offset = o[1], o[2], o[3] if len(o) > 3 else 0
        if where == "symbol":
            return np.full(len(ix), self.machine.symbols[name] + offset, np.uint64)
        if where == "param":
            return np.full(len(ix), self.machine.PARAM + name + offset, np.uint64)
        return self.local[ix] + np.uint64(name + offset)

    def special(self, name, ix):
        t = self.tid[ix]
        bx, by, _ = self.block
        lane = t % 32
        extents = {"%tid": (t % bx, t // bx % by, t // (bx * by)), "%ntid": self.block, "%ctaid": self.index, "%nctaid": self.grid}
        root, _, axis = name.partition(".")
        if root in extents:
            value = extents[root]["xyz".index(axis or "x")]
        elif name == "%laneid":
            value = lane
        elif name == "%warpid":
            value = t // 32
        elif name.startswith("%lanemask_"):
            one = np.int64(1) << lane
            value = {"eq": one, "lt": one - 1, "le": 2 * one - 1, "gt": 0xffffffff & ~(2 * one - 1), "ge": 0xffffffff & ~(one - 1)}[name[-2:]]
        elif name in ("%clock", "%clock64", "%globaltimer", "%clock_hi", "%globaltimer_lo", "%smid", "%gridid"):
            value = 0
        elif name == "%dynamic_smem_size":
            value = self.dynamic
        else:
            raise Unsupported(f"name {name}")
        return np.broadcast_to(np.asarray(value), (len(ix),)).astype(np.uint64)

    def set(self, o, ix, value, size=64):
        if o[0] == "_":
            return
        if o[0] == "r":
            self.r[o[1]][ix] = zext(np.asarray(value).astype(np.uint64) if np.asarray(value).dtype != np.uint64 else value, size)
            return
        raise Unsupported(f"destination {o}")

    def where(self, o, ix):
        base, offset = o[1], o[2]
        if base[0] == "n":
            at = np.full(len(ix), base[1], np.uint64)
        else:
            at = self.get(base, ix)
        return (at + np.uint64(offset & M64)).astype(np.int64)

    def load(self, at, size):
        if len(at) and (at.min() < self.machine.PARAM or at.max() + size > self.machine.LIMIT or (at % size).any()):
            raise Fault("address")
        raw = self.memory[at[:, None] + np.arange(size)]
        return np.ascontiguousarray(raw).view({1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[size]).reshape(-1).astype(np.uint64)

    def store(self, at, size, value):
        if len(at) and (at.min() < self.machine.PARAM or at.max() + size > self.machine.LIMIT or (at % size).any()):
            raise Fault("address")
        raw = np.ascontiguousarray(value).view(np.uint8).reshape(-1, 8)[:, :size]
        self.memory[at[:, None] + np.arange(size)] = raw

    # Execution.
    def step(self, pc, ix):
        guard, op, mods, o = self.p.code[pc]
        self.machine.instructions += len(ix)
        self.pc[ix] = pc + 1
        if guard is not None:
            p = self.r[guard[0]][ix] != 0
            ix = ix[~p if guard[1] else p]
            if not len(ix):
                return
        handler = getattr(self, "do_" + op, None)
        if handler is None:
            raise Unsupported(op)
        handler(mods, o, ix)

    def do_exit(self, mods, o, ix):
        self.wait[ix] = -1
        self.release()

    def do_trap(self, mods, o, ix):
        raise Fault("trap")

    def do_bra(self, mods, o, ix):
        self.pc[ix] = self.p.labels[o[0]]

    def do_brx(self, mods, o, ix):
        targets = np.array([self.p.labels[t] for t in o[1]])
        self.pc[ix] = targets[self.get(o[0], ix).astype(np.int64)]

    def do_builtin(self, mods, o, ix):
        name, out, args = o
        values = [self.load((self.local[ix] + np.uint64(a[2])).astype(np.int64), 8) for a in args]
        if name == "vprintf":
            for k in range(len(ix)):
                self.machine.stdout.append(self.format(int(values[0][k]), int(values[1][k])))
        elif name == "__assertfail":
            raise Fault("assert " + self.text(int(values[0][0])))
        else:
            raise Unsupported(name)

    def text(self, at):
        end = at
        while self.memory[end]:
            end += 1
        return self.memory[at:end].tobytes().decode()

    def format(self, at, args):
        out = ""
        for part in re.findall(r"%[-+ #0]*\d*(?:\.\d+)?(?:ll|l|h)?[a-zA-Z%]|[^%]+", self.text(at)):
            if part[0] != "%" or part == "%%":
                out += part[:1] if part == "%%" else part
                continue
            kind, size = part[-1], 8 if "l" in part or part[-1] in "sfeg" else 4
            args = (args + size - 1) // size * size
            raw = int.from_bytes(self.memory[args:args + size].tobytes(), "little")
            args += size
            spec = re.sub(r"ll|l|h", "", part)
            if kind == "s":
                out += spec % self.text(raw)
            elif kind in "feg":
                out += spec % struct.unpack("<d", struct.pack("<Q", raw))[0]
            elif kind == "d":
                out += spec % (raw - (1 << 8 * size) if raw >> 8 * size - 1 else raw)
            elif kind == "c":
                out += chr(raw & 255)
            else:
                out += spec.replace("u", "d") % raw
        return out

    def do_mov(self, mods, o, ix):
        t = mods[-1]
        size = 8 * SIZES[t]
        if mods[0] in ("v2", "v4") and o[0][0] == "v":
            values = [self.special(o[1][1] + "." + c, ix) for c in "xyz"] + [np.zeros(len(ix), np.uint64)]
            for d, v in zip(o[0][1], values):
                self.set(d, ix, v)
            return
        if o[0][0] == "v":
            v, each_size = self.get(o[1], ix), size // len(o[0][1])
            for k, d in enumerate(o[0][1]):
                self.set(d, ix, zext(v >> np.uint64(each_size * k), each_size))
        elif o[1][0] == "v":
            each_size = size // len(o[1][1])
            total = np.zeros(len(ix), np.uint64)
            for k, s in enumerate(o[1][1]):
                total |= zext(self.get(s, ix), each_size) << np.uint64(each_size * k)
            self.set(o[0], ix, total)
        else:
            v = self.get(o[1], ix, fmt=t if t[0] == "f" else None)
            self.set(o[0], ix, (v != 0).astype(np.uint64) if t == "pred" else zext(v, size))

    def do_ld(self, mods, o, ix):
        t = mods[-1]
        size = SIZES[t]
        at = self.where(o[1], ix)
        targets = o[0][1] if o[0][0] == "v" else [o[0]]
        for k, d in enumerate(targets):
            v = self.load(at + k * size, size)
            self.set(d, ix, sext(v, 8 * size).view(np.uint64) if t[0] == "s" else v)

    do_ldu = do_ld

    def do_st(self, mods, o, ix):
        t = mods[-1]
        size = SIZES[t]
        at = self.where(o[0], ix)
        sources = o[1][1] if o[1][0] == "v" else [o[1]]
        for k, s in enumerate(sources):
            self.store(at + k * size, size, self.get(s, ix, fmt=t if t[0] == "f" else None))

    def nothing(self, mods, o, ix):
        pass

    do_prefetch = do_prefetchu = do_membar = do_fence = do_nanosleep = nothing

    def do_cvta(self, mods, o, ix):
        self.set(o[0], ix, self.get(o[1], ix))

    def do_isspacep(self, mods, o, ix):
        a = self.get(o[1], ix).astype(np.int64)
        m = self.machine
        consts = [m.symbols[n] for n, s in m.spaces.items() if s == "const"]
        is_const = np.isin(a, consts)
        inside = {"shared": (a >= m.SHARED) & (a < m.LOCAL), "local": a >= m.LOCAL, "const": is_const, "global": (a >= m.GLOBAL) & (a < m.SHARED) & ~is_const}
        self.set(o[0], ix, inside[mods[0]].astype(np.uint64))

    # Integers and floats by one table of two-operand functions.
    def do_add(self, mods, o, ix):
        self.arithmetic("add", mods, o, ix)

    def do_sub(self, mods, o, ix):
        self.arithmetic("sub", mods, o, ix)

    def do_mul(self, mods, o, ix):
        self.arithmetic("mul", mods, o, ix)

    def do_div(self, mods, o, ix):
        self.arithmetic("div", mods, o, ix)

    def do_fma(self, mods, o, ix):
        self.arithmetic("fma", mods, o, ix)

    def do_rcp(self, mods, o, ix):
        self.arithmetic("rcp", mods, o, ix)

    def do_sqrt(self, mods, o, ix):
        self.arithmetic("sqrt", mods, o, ix)

    def do_mad(self, mods, o, ix):
        self.arithmetic("mad" if mods[-1][0] in "us" else "fma", mods, o, ix)

    def arithmetic(self, op, mods, o, ix):
        t = mods[-1]
        if t[0] in "fb":
            self.floating(op, mods, o, ix)
            return
        size = 8 * SIZES[t]
        if t in ("u16x2", "s16x2"):
            raise Unsupported(t)
        wide = "wide" in mods
        v = [zext(self.get(x, ix), size if not (wide and k == 2) else 64) for k, x in enumerate(o[1:])]
        signed = t[0] == "s"
        if op in ("mul", "mad"):
            if wide or "lo" in mods:
                a, b = (sext(x, size).view(np.uint64) if signed else x for x in v[:2])
                r = a * b
            else:
                r = each(lambda a, b: (signed_of(a, size, signed) * signed_of(b, size, signed)) >> size, *v[:2])
            bits = 2 * size if wide else size
            if op == "mad":
                r = self.carried(zext(r, bits), v[2], bits, mods, ix, False) if "cc" in mods else zext(r, bits) + v[2]
            self.set(o[0], ix, r, bits)
            return
        if op == "div":
            self.set(o[0], ix, each(lambda a, b: quotient(signed_of(a, size, signed), signed_of(b, size, signed)), *v), size)
            return
        if "cc" in mods:
            r = self.carried(v[0], v[1], size, mods, ix, op == "sub")
        elif "sat" in mods:
            f = (lambda a, b: a + b) if op == "add" else (lambda a, b: a - b)
            r = each(lambda a, b: max(-1 << 31, min((1 << 31) - 1, f(signed_of(a, 32, True), signed_of(b, 32, True)))), *v)
        else:
            r = v[0] + v[1] if op == "add" else v[0] - v[1]
        self.set(o[0], ix, r, size)

    def carried(self, a, b, size, mods, ix, minus, carry_in=None, write=True):
        c = np.zeros(len(ix), np.uint64) if carry_in is None else carry_in
        r = np.empty(len(ix), np.uint64)
        out = np.empty(len(ix), np.uint64)
        for k, (x, y, z) in enumerate(zip(a.tolist(), b.tolist(), c.tolist())):
            total = x - y - z if minus else x + y + z
            r[k] = total & ((1 << size) - 1)
            out[k] = (total >> size) & 1
        if write:
            self.carry[ix] = out
        return r

    def do_addc(self, mods, o, ix):
        size = 8 * SIZES[mods[-1]]
        a, b = (zext(self.get(x, ix), size) for x in o[1:])
        self.set(o[0], ix, self.carried(a, b, size, mods, ix, False, self.carry[ix], "cc" in mods))

    def do_subc(self, mods, o, ix):
        size = 8 * SIZES[mods[-1]]
        a, b = (zext(self.get(x, ix), size) for x in o[1:])
        self.set(o[0], ix, self.carried(a, b, size, mods, ix, True, self.carry[ix], "cc" in mods))

    def do_madc(self, mods, o, ix):
        t = mods[-1]
        size = 8 * SIZES[t]
        a, b, c = (zext(self.get(x, ix), size) for x in o[1:])
        half = 0 if "lo" in mods else size
        product = each(lambda x, y: (signed_of(x, size, t[0] == "s") * signed_of(y, size, t[0] == "s") >> half) & ((1 << size) - 1), a, b)
        self.set(o[0], ix, self.carried(product, c, size, mods, ix, False, self.carry[ix], "cc" in mods))

    def floating(self, op, mods, o, ix):
        t = mods[-1]
        fmt = t.removesuffix("x2")
        v = [self.get(x, ix, fmt=t if t[0] == "f" else None) for x in o[1:]]
        ftz, sat, relu = "ftz" in mods, "sat" in mods, "relu" in mods
        mode = next((m for m in mods if m in ("rn", "rz", "rm", "rp")), "rn")
        if t.endswith("x2"):
            halves = [self.compute(op, fmt, [zext(x >> np.uint64(s), 16) for x in v], mode, ftz, sat, relu, mods) for s in (0, 16)]
            self.set(o[0], ix, halves[0] | halves[1] << np.uint64(16))
        else:
            self.set(o[0], ix, self.compute(op, fmt, [zext(x, sf.width(fmt)) for x in v], mode, ftz, sat, relu, mods))

    def compute(self, op, fmt, v, mode, ftz, sat, relu, mods):
        if "approx" in mods or "full" in mods:
            mode = "rn"
        if mode != "rn" or fmt in ("bf16",) or sat or relu or (fmt == "f16" and op in ("fma", "div", "sqrt")):
            return each(lambda *row: ambiguous(sf.arithmetic, op, fmt, list(row), mode, ftz, sat, relu), *v)
        if ftz:
            v = [flushed(x, fmt) for x in v]
        f = [as_float(x, fmt) for x in v]
        one = FLOATS[fmt][1](1)
        if op == "fma":
            if fmt == "f32":
                r = fused(*f)
            else:
                r = np.array([LIBM.fma(*row) for row in zip(*f)])
        else:
            r = {"add": lambda: f[0] + f[1], "sub": lambda: f[0] - f[1], "mul": lambda: f[0] * f[1], "div": lambda: f[0] / f[1], "rcp": lambda: one / f[0],
                 "sqrt": lambda: np.sqrt(f[0])}[op]()
        bits = from_float(r, fmt)
        return flushed(bits, fmt) if ftz else bits

    def unary(name):
        def handler(self, mods, o, ix):
            t = mods[-1]
            fmt = t.removesuffix("x2")
            v = self.get(o[1], ix, fmt=t)
            if t.endswith("x2"):
                raise Unsupported(t)
            if "ftz" in mods:
                v = flushed(v, fmt)
            x = as_float(v, fmt).astype(np.float64)
            r = {"rsqrt": lambda: 1 / np.sqrt(x), "sin": lambda: np.sin(x), "cos": lambda: np.cos(x), "lg2": lambda: np.log2(x), "ex2": lambda: np.exp2(x),
                 "tanh": lambda: np.tanh(x)}[name]()
            bits = from_float(r.astype(FLOATS[fmt][1]), fmt)
            self.set(o[0], ix, flushed(bits, fmt) if "ftz" in mods else bits)
        return handler

    do_rsqrt = unary("rsqrt")
    do_sin = unary("sin")
    do_cos = unary("cos")
    do_lg2 = unary("lg2")
    do_ex2 = unary("ex2")
    do_tanh = unary("tanh")

    def do_neg(self, mods, o, ix):
        t = mods[-1]
        v = self.get(o[1], ix, fmt=t if t[0] == "f" else None)
        if t[0] in "fb":
            fmt = t.removesuffix("x2")
            v = flushed(v, fmt) if "ftz" in mods else v
            top = 1 << sf.width(fmt) - 1
            self.set(o[0], ix, v ^ np.uint64(top | (top << 16 if t.endswith("x2") else 0)))
        else:
            self.set(o[0], ix, np.uint64(0) - v, 8 * SIZES[t])

    def do_abs(self, mods, o, ix):
        t = mods[-1]
        v = self.get(o[1], ix, fmt=t if t[0] == "f" else None)
        if t[0] in "fb":
            fmt = t.removesuffix("x2")
            if t.endswith("x2"):
                raise Unsupported(t)
            v = flushed(v, fmt) if "ftz" in mods else v
            self.set(o[0], ix, v & ~np.uint64(1 << sf.width(fmt) - 1))
        else:
            self.set(o[0], ix, np.abs(sext(v, 8 * SIZES[t])).view(np.uint64), 8 * SIZES[t])

    def extreme(self, name, mods, o, ix):
        t = mods[-1]
        if t[0] in "fb":
            fmt = t.removesuffix("x2")
            a, b = (self.get(x, ix, fmt=t) for x in o[1:])
            lanes = (0, 16) if t.endswith("x2") else (0,)
            mask = (1 << sf.width(fmt)) - 1

            def choose(x, y):
                return sum(sf.minmax(name, fmt, x >> k & mask, y >> k & mask, "ftz" in mods, "NaN" in mods, "xorsign" in mods) << k for k in lanes)
            self.set(o[0], ix, each(choose, a, b))
            return
        if "relu" in mods or t.endswith("x2"):
            raise Unsupported(".".join(mods))
        size = 8 * SIZES[t]
        a, b = (zext(self.get(x, ix), size) for x in o[1:])
        less = sext(a, size) < sext(b, size) if t[0] == "s" else a < b
        self.set(o[0], ix, np.where(less == (name == "min"), a, b))

    def do_min(self, mods, o, ix):
        self.extreme("min", mods, o, ix)

    def do_max(self, mods, o, ix):
        self.extreme("max", mods, o, ix)

    def do_rem(self, mods, o, ix):
        t = mods[-1]
        size, signed = 8 * SIZES[t], t[0] == "s"

        def rest(a, b):
            a, b = signed_of(a, size, signed), signed_of(b, size, signed)
            return a - quotient(a, b) * b if b else a
        self.set(o[0], ix, each(rest, *(zext(self.get(x, ix), size) for x in o[1:])), size)

    def do_sad(self, mods, o, ix):
        t = mods[-1]
        size, signed = 8 * SIZES[t], t[0] == "s"
        self.set(o[0], ix, each(lambda a, b, c: abs(signed_of(a, size, signed) - signed_of(b, size, signed)) + c, *(zext(self.get(x, ix), size) for x in o[1:])), size)

    def logic(self, f, mods, o, ix):
        self.set(o[0], ix, f(*(self.get(x, ix) for x in o[1:])), 64 if mods[-1] == "pred" else 8 * SIZES[mods[-1]])

    def do_and(self, mods, o, ix):
        self.logic(lambda a, b: a & b, mods, o, ix)

    def do_or(self, mods, o, ix):
        self.logic(lambda a, b: a | b, mods, o, ix)

    def do_xor(self, mods, o, ix):
        self.logic(lambda a, b: a ^ b, mods, o, ix)

    def do_not(self, mods, o, ix):
        self.logic((lambda a: (a == 0).astype(np.uint64)) if mods[-1] == "pred" else (lambda a: ~a), mods, o, ix)

    def do_cnot(self, mods, o, ix):
        self.logic(lambda a: (a == 0).astype(np.uint64), mods, o, ix)

    def do_shl(self, mods, o, ix):
        size = 8 * SIZES[mods[-1]]
        a, s = self.get(o[1], ix), zext(self.get(o[2], ix), 32)
        self.set(o[0], ix, np.where(s < size, zext(a, size) << np.minimum(s, np.uint64(63)), np.uint64(0)), size)

    def do_shr(self, mods, o, ix):
        t = mods[-1]
        size = 8 * SIZES[t]
        a, s = self.get(o[1], ix), zext(self.get(o[2], ix), 32)
        if t[0] == "s":
            r = (sext(a, size) >> np.minimum(s, np.uint64(size - 1)).astype(np.int64)).view(np.uint64)
        else:
            r = np.where(s < size, zext(a, size) >> np.minimum(s, np.uint64(63)), np.uint64(0))
        self.set(o[0], ix, r, size)

    def do_setp(self, mods, o, ix):
        t = mods[-1]
        test = mods[0]
        a, b = (self.get(x, ix, fmt=t if t[0] == "f" else None) for x in o[1:3])
        r = self.compare(test, t, a, b, "ftz" in mods)
        self.combine(mods, o, ix, r, 3)

    def compare(self, test, t, a, b, ftz):
        if t[0] == "f" or t.startswith("bf"):
            return each(lambda x, y: sf.compare(test, t, x, y, ftz), zext(a, sf.width(t)), zext(b, sf.width(t))) != 0
        size = 8 * SIZES[t]
        a, b = (sext(v, size) if t[0] == "s" else zext(v, size) for v in (a, b))
        test = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(test, test)
        return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[test]

    def combine(self, mods, o, ix, r, at):
        word = next((m for m in mods if m in ("and", "or", "xor")), None)
        other = ~r
        if word:
            c = self.get(o[at], ix) != 0
            f = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}[word]
            r, other = f(r, c), f(other, c)
        if o[0][0] == "two":
            self.set(o[0][1], ix, r.astype(np.uint64))
            self.set(o[0][2], ix, other.astype(np.uint64))
        else:
            self.set(o[0], ix, r.astype(np.uint64))

    def do_set(self, mods, o, ix):
        source, to = mods[-1], mods[-2]
        a, b = (self.get(x, ix, fmt=source if source[0] == "f" else None) for x in o[1:3])
        r = self.compare(mods[0], source, a, b, "ftz" in mods)
        word = next((m for m in mods if m in ("and", "or", "xor")), None)
        if word:
            c = self.get(o[3], ix) != 0
            r = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}[word](r, c)
        yes = sf.one(to) if to in sf.FORMATS else 0xffffffff
        self.set(o[0], ix, np.where(r, np.uint64(yes), np.uint64(0)))

    def do_selp(self, mods, o, ix):
        t = mods[-1]
        a, b = (self.get(x, ix, fmt=t if t[0] == "f" else None) for x in o[1:3])
        self.set(o[0], ix, np.where(self.get(o[3], ix) != 0, a, b), 8 * SIZES[t])

    def do_cvt(self, mods, o, ix):
        if "pack" in mods or "tf32" in mods:
            raise Unsupported("cvt." + ".".join(mods))
        to, source = mods[-2], mods[-1]
        v = self.get(o[1], ix, fmt=source if source[0] == "f" else None)
        mode = next((m for m in mods if m in ("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi")), None)
        ftz, sat, relu = "ftz" in mods, "sat" in mods, "relu" in mods
        if to.endswith("x2"):
            fmt = to[:-2]
            w = self.get(o[2], ix, fmt=source)
            hi, lo = (each(lambda x: sf.finish(fmt, sf.resize(fmt, source, x, mode), relu=relu), y) for y in (v, w))
            self.set(o[0], ix, hi << np.uint64(16) | lo)
            return
        to_float, from_fl = to in sf.FORMATS, source in sf.FORMATS
        if not to_float and not from_fl:
            size = 8 * SIZES[source]
            v = sext(v, size).view(np.uint64) if source[0] == "s" else zext(v, size)
            if sat:
                bits, s = 8 * SIZES[to], to[0] == "s"
                low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if s else (0, (1 << bits) - 1)
                v = each(lambda x: max(low, min(high, signed_of(x, 64, source[0] == "s"))), v)
            small = 8 * SIZES[to]
            self.set(o[0], ix, sext(v, small).view(np.uint64) if to[0] == "s" else zext(v, small))
            return
        if to_float and not from_fl:
            size, s = 8 * SIZES[source], source[0] == "s"
            def convert(x):
                n = signed_of(x & ((1 << size) - 1), size, s)
                return sf.finish(to, sf.encode(to, int(n < 0), Fraction(abs(n)), mode), sat=sat)
            self.set(o[0], ix, each(convert, v))
            return
        v = zext(v, sf.width(source))
        if not to_float:
            bits, s = 8 * SIZES[to], to[0] == "s"

            def convert(x):
                if sf.is_nan(source, x):
                    return 0 if source != "f64" and bits < 64 else 1 << bits - 1
                return sf.to_integer(source, x, bits, s, mode, ftz)
            r = each(convert, v)
            self.set(o[0], ix, sext(r, bits).view(np.uint64) if s else r)
            return

        def convert(x):
            if ftz and source == "f32":
                x = sf.flush(source, x)
            if mode in ("rni", "rzi", "rmi", "rpi"):
                x = sf.to_integral(source, x, mode)
            r = sf.resize(to, source, x, mode if mode in ("rn", "rz", "rm", "rp") else "rn") if to != source else x
            return sf.finish(to, r, ftz and to == "f32", sat, relu)
        self.set(o[0], ix, each(convert, v))

    def model(self, function, mods, o, ix, size=32):
        self.set(o[0], ix, each(function, *(zext(self.get(x, ix), size) for x in o[1:])), size)

    def do_popc(self, mods, o, ix):
        self.model(lambda a: a.bit_count(), mods, o, ix, 8 * SIZES[mods[-1]])

    def do_clz(self, mods, o, ix):
        size = 8 * SIZES[mods[-1]]
        self.model(lambda a: size - a.bit_length(), mods, o, ix, size)

    def do_brev(self, mods, o, ix):
        size = 8 * SIZES[mods[-1]]
        self.model(lambda a: int(f"{a:0{size}b}"[::-1], 2), mods, o, ix, size)

    def do_bfind(self, mods, o, ix):
        import integer_forms
        t = mods[-1]
        size = 8 * SIZES[t]
        self.set(o[0], ix, each(lambda a: integer_forms.bfind(a, size, t[0] == "s", "shiftamt" in mods), zext(self.get(o[1], ix), size)))

    def do_bfe(self, mods, o, ix):
        import integer_forms
        t = mods[-1]
        self.model(lambda a, b, c: integer_forms.bfe(a, b, c, 8 * SIZES[t], t[0] == "s"), mods, o, ix, 8 * SIZES[t])

    def do_bfi(self, mods, o, ix):
        import integer_forms
        size = 8 * SIZES[mods[-1]]
        self.model(lambda a, b, c, d: integer_forms.bfi(a, b, c, d, size), mods, o, ix, size)

    def do_prmt(self, mods, o, ix):
        import integer_forms
        self.model(lambda a, b, c: integer_forms.prmt(a, b, c, mods[1] if len(mods) > 1 else ""), mods, o, ix)

    def do_shf(self, mods, o, ix):
        def funnel(a, b, c):
            n = c & 31 if mods[1] == "wrap" else min(c, 32)
            return (b << 32 | a) << n >> 32 if mods[0] == "l" else (b << 32 | a) >> n
        self.model(funnel, mods, o, ix)

    def do_lop3(self, mods, o, ix):
        a, b, c = (self.get(x, ix) for x in o[1:4])
        r = np.zeros(len(ix), np.uint64)
        for k in range(8):
            if o[4][1] >> k & 1:
                r |= (a if k & 4 else ~a) & (b if k & 2 else ~b) & (c if k & 1 else ~c)
        self.set(o[0], ix, r, 32)

    def do_mul24(self, mods, o, ix):
        s = mods[-1] == "s32"
        self.model(lambda a, b: signed_of(a & 0xffffff, 24, s) * signed_of(b & 0xffffff, 24, s) >> (16 if "hi" in mods else 0), mods, o, ix)

    def do_mad24(self, mods, o, ix):
        s = mods[-1] == "s32"
        self.model(lambda a, b, c: (signed_of(a & 0xffffff, 24, s) * signed_of(b & 0xffffff, 24, s) >> (16 if "hi" in mods else 0)) + c, mods, o, ix)

    def do_dp4a(self, mods, o, ix):
        self.model(lambda a, b, c: c + sum(signed_of(a >> k & 255, 8, mods[0] == "s32") * signed_of(b >> k & 255, 8, mods[1] == "s32") for k in (0, 8, 16, 24)), mods, o, ix)

    def do_vabsdiff4(self, mods, o, ix):
        if mods != ["u32"] * 3:
            raise Unsupported("vabsdiff4." + ".".join(mods))
        self.model(lambda a, b, c: sum(abs((a >> k & 255) - (b >> k & 255)) << k for k in (0, 8, 16, 24)), mods, o, ix)

    def do_copysign(self, mods, o, ix):
        top = np.uint64(1 << 8 * SIZES[mods[-1]] - 1)
        a, b = (self.get(x, ix, fmt=mods[-1]) for x in o[1:])
        self.set(o[0], ix, a & top | b & ~top)

    # Atomics, warps and barriers.
    def atomic(self, mods, o, ix, out, at_o, sources):
        t = mods[-1]
        op = next(m for m in mods if m in ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"))
        size = SIZES[t]
        at = self.where(at_o, ix)
        values = [self.get(s, ix, fmt=t if t[0] == "f" else None) for s in sources]
        for k in range(len(ix)):
            a = at[k:k + 1]
            old = int(self.load(a, size)[0])
            v = [int(x[k]) & ((1 << 8 * size) - 1) for x in values]
            s = t[0] == "s"
            if op == "add" and (t[0] == "f" or t.startswith("bf")):
                fmt = t.removesuffix("x2")
                lanes = (0, 16) if t.endswith("x2") else (0,)
                mask = (1 << sf.width(fmt)) - 1
                ftz = t == "f32" and "global" in mods
                new = sum(sf.arithmetic("add", fmt, [old >> h & mask, v[0] >> h & mask], ftz=ftz) << h for h in lanes)
            else:
                new = {"add": lambda: old + v[0], "min": lambda: min(old, v[0], key=lambda x: signed_of(x, 8 * size, s)), "and": lambda: old & v[0],
                       "max": lambda: max(old, v[0], key=lambda x: signed_of(x, 8 * size, s)), "or": lambda: old | v[0], "xor": lambda: old ^ v[0], "exch": lambda: v[0],
                       "cas": lambda: v[1] if old == v[0] else old, "inc": lambda: 0 if old >= v[0] else old + 1,
                       "dec": lambda: v[0] if old == 0 or old > v[0] else old - 1}[op]()
            self.store(a, size, np.array([new & ((1 << 8 * size) - 1)], np.uint64))
            if out is not None:
                self.set(out, ix[k:k + 1], np.array([old], np.uint64))

    def do_atom(self, mods, o, ix):
        self.atomic(mods, o, ix, o[0], o[1], o[2:])

    def do_red(self, mods, o, ix):
        self.atomic(mods, o, ix, None, o[0], o[1:])

    def warps(self, ix, mask=None):
        """Groups of the threads that perform an operation together; others of the mask are waited for."""
        for w in np.unique(ix // 32):
            yield ix[ix // 32 == w]

    def gather(self, o, ix, mask_at):
        """Whether all of the mask's live lanes are here; otherwise the arrived step back and others go on."""
        for group in self.warps(ix):
            mask = int(self.get(o[mask_at], group)[0])
            base = group[0] // 32 * 32
            need = [base + l for l in range(32) if mask >> l & 1 and base + l < self.n and self.wait[base + l] != -1]
            if not set(need) <= set(group.tolist()):
                raise Unsupported("a warp operation whose lanes come apart")
        return True

    def do_shfl(self, mods, o, ix):
        sync = "sync" in mods
        mode = next(m for m in mods if m in ("up", "down", "bfly", "idx"))
        if sync:
            self.gather(o, ix, 4)
        out, pred = (o[0][1], o[0][2]) if o[0][0] == "two" else (o[0], None)
        for group in self.warps(ix):
            lane = group % 32
            v = np.zeros(32, np.uint64)
            v[lane] = self.get(o[1], group)
            b, c = self.get(o[2], group).astype(np.int64) & 31, self.get(o[3], group).astype(np.int64)
            seg, clamp = c >> 8 & 31, c & 31
            high, low = (lane & seg) | (clamp & ~seg & 31), lane & seg
            j = {"up": lane - b, "down": lane + b, "bfly": lane ^ b, "idx": low | b & ~seg & 31}[mode]
            inside = j >= high if mode == "up" else j <= high
            self.set(out, group, v[np.where(inside, j, lane)])
            if pred is not None:
                self.set(pred, group, inside.astype(np.uint64))

    def do_vote(self, mods, o, ix):
        if "sync" in mods:
            self.gather(o, ix, 2)
        mode = next(m for m in mods if m in ("all", "any", "uni", "ballot"))
        for group in self.warps(ix):
            p = self.get(o[1], group) != 0
            r = {"all": lambda: int(p.all()), "any": lambda: int(p.any()), "uni": lambda: int(p.all() or not p.any()),
                 "ballot": lambda: sum(1 << int(l) for l in group[p] % 32)}[mode]()
            self.set(o[0], group, np.full(len(group), r, np.uint64))

    def do_match(self, mods, o, ix):
        self.gather(o, ix, 2)
        out, pred = (o[0][1], o[0][2]) if o[0][0] == "two" else (o[0], None)
        for group in self.warps(ix):
            v = self.get(o[1], group)
            if mods[0] == "any":
                self.set(out, group, np.array([sum(1 << int(l) for l in group[v == x] % 32) for x in v], np.uint64))
            else:
                same = bool((v == v[0]).all())
                self.set(out, group, np.full(len(group), sum(1 << int(l) for l in group % 32) if same else 0, np.uint64))
                if pred is not None:
                    self.set(pred, group, np.full(len(group), int(same), np.uint64))

    def do_redux(self, mods, o, ix):
        self.gather(o, ix, 2)
        t, op = mods[-1], mods[1]
        for group in self.warps(ix):
            v = [signed_of(int(x), 32, t[0] == "s") for x in self.get(o[1], group)]
            r = v[0]
            for x in v[1:]:
                r = {"add": r + x, "min": min(r, x), "max": max(r, x), "and": r & x, "or": r | x, "xor": r ^ x}[op]
            self.set(o[0], group, np.full(len(group), r & 0xffffffff, np.uint64))

    def do_activemask(self, mods, o, ix):
        for group in self.warps(ix):
            self.set(o[0], group, np.full(len(group), sum(1 << int(l) for l in group % 32), np.uint64))

    def do_bar(self, mods, o, ix):
        mods = [m for m in mods if m != "cta"]
        if mods[0] == "warp":
            return
        red = mods[0] == "red"
        first = 1 if red else 0
        number = int(self.get(o[first], ix)[0])
        rest = o[first + 1:]
        if red:
            predicate, rest = rest[-1], rest[:-1]
        need = int(self.get(rest[0], ix)[0]) if rest else 0
        arrived, _, votes = self.barriers.get(number, [0, need, None])
        if mods[0] == "arrive":
            arrived += len(ix)
        else:
            self.wait[ix] = number + 1
        if red:
            votes = votes or {"kind": mods[1], "out": o[0][1], "p": {}}
            for thread, p in zip(ix.tolist(), (self.get(predicate, ix) != 0).tolist()):
                votes["p"][thread] = p
        self.barriers[number] = [arrived, need, votes]
        self.release()

    do_barrier = do_bar


def signed_of(v, size, signed):
    return v - (1 << size) if signed and v >> size - 1 & 1 else v


def quotient(a, b):
    if b == 0:
        return -1
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def ambiguous(function, *args):
    try:
        return function(*args)
    except sf.Ambiguous:
        return 0


def fused(a, b, c):
    """The fused multiply-add of binary32 by rounding to odd in binary64."""
    a, b, c = (x.astype(np.float64) for x in (a, b, c))
    product = a * b
    total = product + c
    back = total - product
    error = (product - (total - back)) + (c - back)
    bits = total.view(np.int64).copy()
    odd = (error != 0) & np.isfinite(error) & (bits & 1 == 0)
    bits = np.where(odd, bits + np.where((error > 0) == (total > 0), 1, -1), bits)
    return bits.view(np.float64).astype(np.float32)
