"""Reads PTX for the emulator: tokens, module variables and functions, and one kernel expanded.

Calls are expanded at each call site, and names are resolved to registers, labels and addresses.
"""
import re
import struct

from operations import M64, SIZES, Unsupported, quotient

TOKEN = re.compile(r"\"(?:[^\"\\]|\\.)*\"|0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b|\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|\d+U?"
                   r"|[%$_A-Za-z][\w$]*(?:(?:\.|::)[\w$]+)*|\.[A-Za-z_]\w*|<<|>>|==|!=|<=|>=|&&|\|\||\S")
SPACES = ("global", "shared", "local", "const", "param")


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
                elements = [self.find(scopes, f"{name}.{c}") for c in "xyzw"]
                if elements[0]:
                    return ("v", [("r", e[1]) for e in elements if e])
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
        if any(self.find(scopes, f"{actual[0]}.x") for actual in args) or any(self.find(scopes, f"{actual}.x") for actual in returns):
            raise Unsupported("vectors in calls")
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
