"""What a case of the corpus is made of: its launch file, its inputs and its expected outputs.

A case is a function of one `Case`, registered with `@case("NAME")`; it makes its inputs from the
case's own random generator, says the launches, and says what the buffers hold afterwards,
computed with numpy or plain Python and never with this project's own tools.
"""
import json
import math
import os
import struct

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = {}
DTYPES = {"f2": "f16", "f4": "f32", "f8": "f64", "i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64",
          "u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64"}


def case(name):
    """Registers a case under the name of its source."""
    def register(function):
        CASES[name] = function
        return function
    return register


class Case:
    """One launch file in the making."""

    def __init__(self, name, kernel_file=None):
        self.name = name
        self.rng = np.random.default_rng(int.from_bytes(name.encode(), "little") % (1 << 61))
        self.buffers = {}
        self.used = set()
        self.launches = []
        self.symbols = []
        self.outputs = []
        self.stdout = None
        self.stdout_order = "exact"
        self.fault = None

    # Inputs.
    def ints(self, count, low=-1000, high=1000, dtype=np.int32):
        """Random integers of [low, high)."""
        return self.rng.integers(low, high, count).astype(dtype)

    def bits(self, count, dtype=np.uint32):
        """Random bits."""
        size = np.dtype(dtype).itemsize
        shape = (count,) if isinstance(count, int) else tuple(count)
        return np.frombuffer(self.rng.bytes(size * math.prod(shape)), dtype).reshape(shape).copy()

    def floats(self, count, low=-2.0, high=2.0, dtype=np.float32):
        """Random floats of [low, high)."""
        return (self.rng.random(count) * (high - low) + low).astype(dtype)

    # Arguments.
    def input(self, name, array):
        """A buffer with contents; again by its name alone: `buffer`."""
        self.buffers[name] = np.ascontiguousarray(array)
        return ("buffer", name)

    def zeros(self, name, count, dtype=np.int32):
        """A zeroed buffer of elements."""
        self.buffers[name] = int(count) * np.dtype(dtype).itemsize
        return ("buffer", name)

    @staticmethod
    def buffer(name):
        """A buffer stated before."""
        return ("buffer", name)

    @staticmethod
    def bytes(data):
        """Any bytes, such as a structure's."""
        return ("hex", bytes(data).hex())

    def symbol(self, name, array):
        """The initial contents of a module variable."""
        self.symbols.append((name, np.ascontiguousarray(array)))

    def launch(self, kernel, grid, block, *args, shared=0):
        """One launch; args in order, numbers as pairs such as ("i32", 5)."""
        self.launches.append((kernel, triple(grid), triple(block), shared, list(args)))

    # What must come out.
    def expect(self, buffer, array, compare="exact", comment=None, **limits):
        """The contents of a buffer after the last launch.

        compare: "exact" (same bytes), "ulp" (max=N units in the last place) or
        "tolerance" (|got - want| <= absolute + relative * |want|).
        """
        self.outputs.append((buffer, np.ascontiguousarray(array), dict(kind=compare, **limits), comment))

    def prints(self, text, order="exact"):
        """What the run prints; order "lines": in any order of the lines."""
        self.stdout, self.stdout_order = text, order

    def faults(self, kind, message=None):
        """The run ends with this fault instead."""
        self.fault = {"kind": kind, "message": message} if message else {"kind": kind}

    # Files.
    def write(self, ptx):
        """Writes the launch file and the data; returns the line of the manifest."""
        lines = []
        written = set()
        for name, array in self.symbols:
            lines += ["[[symbol]]", f'name = "{name}"', f'file = "{self.save("symbol_" + name, array, "bin")}"', ""]
        for kernel, grid, block, shared, args in self.launches:
            lines += ["[[launch]]", f'kernel = "{kernel}"', f"grid = {list(grid)}", f"block = {list(block)}"]
            if shared:
                lines.append(f"dynamic_shared_bytes = {shared}")
            for kind, value in args:
                lines.append("[[launch.arg]]")
                if kind == "buffer":
                    lines.append(f'buffer = "{value}"')
                    if value not in written:
                        written.add(value)
                        contents = self.buffers[value]
                        if isinstance(contents, int):
                            lines.append(f"bytes = {contents}")
                        else:
                            lines.append(f'file = "{self.save(value, contents)}"')
                elif kind == "hex":
                    lines.append(f'hex = "{value}"')
                else:
                    lines.append(f"{kind} = {number(value)}")
            lines.append("")
        outputs = []
        for buffer, array, compare, comment in self.outputs:
            dtype = DTYPES[array.dtype.str[1:]]
            if comment:
                lines.append(f"# {comment}")
            lines += ["[[read]]", f'buffer = "{buffer}"', f'file = "{self.name}.{buffer}.out.npy"',
                      f'dtype = "{dtype}"', f"shape = {list(array.shape)}", ""]
            outputs.append({"buffer": buffer, "expected": self.save(f"{buffer}.expected", array),
                            "dtype": dtype, "compare": compare})
        with open(os.path.join(HERE, f"{self.name}.toml"), "w") as file:
            file.write("\n".join(lines).rstrip() + "\n")
        line = {"name": self.name, "source": f"{self.name}.cu", "ptx": ptx, "launch": f"{self.name}.toml",
                "outputs": outputs}
        if self.stdout is not None:
            line["stdout"] = self.stdout
            line["stdout_order"] = self.stdout_order
        if self.fault:
            line["fault"] = self.fault
        return json.dumps(line)

    def save(self, what, array, kind="npy"):
        """One file of the data folder; returns its path from the launch file."""
        path = f"data/{self.name}.{what}.{kind}"
        full = os.path.join(HERE, path)
        if kind == "npy":
            np.save(full, array)
        else:
            array.tofile(full)
        return path


def triple(extent):
    """An extent of one to three numbers, as three."""
    values = (extent,) if isinstance(extent, int) else tuple(extent)
    return values + (1,) * (3 - len(values))


def number(value):
    """A number as TOML writes it."""
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(int(value))


def i32(value):
    return ("i32", value)


def u32(value):
    return ("u32", value)


def i64(value):
    return ("i64", value)


def u64(value):
    return ("u64", value)


def f32(value):
    return ("f32", float(np.float32(value)))


def f64(value):
    return ("f64", float(value))


def fma32(a, b, c):
    """The fused multiply-add of binary32: rounded to odd in binary64, then to nearest."""
    a, b, c = (np.asarray(v, np.float64) for v in np.broadcast_arrays(a, b, c))
    product = a * b
    total = product + c
    back = total - product
    error = (product - (total - back)) + (c - back)
    bits = np.atleast_1d(total).view(np.int64).copy()
    err, tot = np.atleast_1d(error), np.atleast_1d(total)
    adjust = (err != 0) & (bits & 1 == 0)
    step = np.where((err > 0) == (tot > 0), 1, -1)
    bits = np.where(adjust, bits + step, bits)
    return bits.view(np.float64).reshape(total.shape).astype(np.float32)


def pack(layout, *values):
    """A structure's bytes, little endian with C's padding left to the layout string."""
    return struct.pack("<" + layout, *values)
