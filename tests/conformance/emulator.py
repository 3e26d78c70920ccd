"""A small emulator of PTX in numpy, to check the corpora without a GPU and without this project's compiler.

All threads of a block run together: each step takes the lowest program counter that a runnable thread stands at and
performs that instruction for all threads that stand there, which reconverges structured code without any analysis.
Every address is one of a single flat memory, so generic addresses are the addresses themselves.
"""
import re
import struct
from fractions import Fraction

import numpy as np

import softfloat as sf
from operations import M64, SIZES, Arithmetic, Fault, Unsupported, sext, signed_of, zext
from reader import Parser, Program


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
                self.initialise(self.symbols[name], kind, init)

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

    def initialise(self, at, kind, init):
        """Values lie one behind the other, whatever braces are around them."""
        size = SIZES[kind]

        def flat(item):
            return [value for part in item for value in flat(part)] if isinstance(item, list) else [item]

        for k, item in enumerate(flat(init)):
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


class Block(Arithmetic):
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
            values = [self.get(s, ix) for s in o[1][1]] if o[1][0] == "v" else [self.special(o[1][1] + "." + c, ix) for c in "xyz"] + [np.zeros(len(ix), np.uint64)]
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
