"""Runs what this repository has of PTX on an NVIDIA GPU and keeps what comes out.

    python3 record.py OUT [forms] [vectors] [cases] [kernels=FILE] [--jobs N] [--records N] [--salt N]

Each part is cut into tasks, each task runs in a process of its own that is ended when it takes too
long, so that a kernel that faults or hangs harms no other. OUT gets `gpu.json`, and for each part an
index `PART.jsonl` and the bytes `PART.bin` it points into. Python and the driver are all it needs."""

import argparse
import concurrent.futures
import gzip
import hashlib
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import tomllib
import zlib
from pathlib import Path

import forms
import gpu as driver

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CORPORA = ("tests/cuda", "examples/mpu", "examples/tom")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("parts", nargs="*", default=["forms", "vectors", "cases"])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--records", type=int, default=forms.RECORDS)
    parser.add_argument("--salt", type=int, default=0)
    parser.add_argument("--task", help=argparse.SUPPRESS)
    options = parser.parse_args()
    out = Path(options.out)
    if options.task:
        return work(json.loads(options.task), out)
    out.mkdir(parents=True, exist_ok=True)
    probe = run({"part": "probe", "limit": 120})
    (out / "gpu.json").write_text(json.dumps(probe["index"][0]) + "\n")
    print(probe["index"][0], flush=True)
    for part in options.parts:
        name, _, argument = part.partition("=")
        tasks = list(TASKS[name](argument, options))
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            results = list(pool.map(run, tasks))
        write(out, name, results)


def run(task):
    """The result of a task, from a process of its own."""
    with tempfile.TemporaryDirectory() as place:
        line = [sys.executable, __file__, place, "--task", json.dumps(task)]
        with open(Path(place) / "stdout", "wb") as stdout:
            try:
                ended = subprocess.run(line, stdout=stdout, stderr=subprocess.PIPE, timeout=task["limit"])
                said, code = ended.stderr.decode(errors="replace")[-2000:], ended.returncode
            except subprocess.TimeoutExpired:
                said, code = "it took too long", None
        path = Path(place) / "index"
        index = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        path = Path(place) / "data"
        data = zlib.decompress(path.read_bytes()) if path.exists() else b""
        printed = (Path(place) / "stdout").read_bytes()
    if code != 0 or printed:
        names = {key: task[key] for key in task if key in ("part", "case", "ptx", "first")}
        index.append({"task": names, "code": code, "said": said, "printed": printed.decode(errors="replace")})
    return {"index": index, "data": data}


def write(out, name, results):
    at = wrong = 0
    with open(out / f"{name}.jsonl", "w") as index, open(out / f"{name}.bin", "wb") as data:
        for result in results:
            for line in result["index"]:
                for key in ("at", "parts"):
                    if key == "at" and key in line:
                        line[key] += at
                    if key == "parts" and key in line:
                        line[key] = [[what, start + at, size] for what, start, size in line[key]]
                wrong += "failure" in line or "task" in line
                index.write(json.dumps(line) + "\n")
            data.write(result["data"])
            at += len(result["data"])
    print(f"{name}: {sum(len(r['index']) for r in results)} lines, {at} bytes, {wrong} of them failures", flush=True)


class Report:
    """What a task hands back: lines of an index, and bytes."""

    def __init__(self, place):
        self.place, self.lines, self.data = place, [], bytearray()

    def add(self, line, data=b""):
        self.lines.append(dict(line, at=len(self.data), size=len(data)) if data else line)
        self.data += data

    def close(self):
        (self.place / "data").write_bytes(zlib.compress(bytes(self.data), 1))
        (self.place / "index").write_text("".join(json.dumps(line) + "\n" for line in self.lines))


def work(task, place):
    """Does a task, in this process."""
    report = Report(place)
    gpu = driver.Gpu()
    try:
        WORK[task["part"]](gpu, task, report)
    except driver.Failure as failure:
        report.add({"failure": str(failure)[:3000]})
        report.close()
        os._exit(0)
    report.close()


def probe(gpu, task, report):
    report.add(gpu.describe())


# Forms.


def form_tasks(argument, options):
    lines = (HERE / "forms.txt").read_text().splitlines()
    for first in range(0, len(lines), 64):
        yield {
            "part": "forms", "first": first, "lines": lines[first : first + 64],
            "records": options.records, "salt": options.salt, "limit": 240,
        }


def form_work(gpu, task, report):
    run_forms(gpu, [forms.Form(line) for line in task["lines"]], task, report)


def run_forms(gpu, some, task, report):
    """Runs forms as one module, or in halves where the compiler refuses one of them."""
    text = forms.HEADER + "".join(form.kernel(f"k{number}") for number, form in enumerate(some))
    try:
        module = gpu.load(text)
    except driver.Failure as failure:
        if len(some) == 1:
            report.add({"form": some[0].line, "failure": str(failure)[:1000]})
            return
        half = len(some) // 2
        run_forms(gpu, some[:half], task, report)
        run_forms(gpu, some[half:], task, report)
        return
    records = task["records"]
    for number, form in enumerate(some):
        size = records * form.stride(form.results)
        source = gpu.allocate(form.inputs(records, task["salt"]))
        target = gpu.allocate(bytes(size))
        block = min(records, 128)
        module.launch(f"k{number}", (records // block, 1, 1), (block, 1, 1), [pointer(source), pointer(target)])
        gpu.synchronize()
        report.add({"form": form.line}, gpu.read(target, size))
        gpu.free(source)
        gpu.free(target)
    module.unload()


def pointer(address):
    return struct.pack("<Q", address)


# Vectors of tests/conformance.


def vector_tasks(argument, options):
    families = {}
    for line in (ROOT / "tests/conformance/manifest.jsonl").read_text().splitlines():
        vector = json.loads(line)
        families.setdefault(vector["ptx"], []).append(vector)
    for ptx, vectors in families.items():
        for first in range(0, len(vectors), 60):
            yield {"part": "vectors", "ptx": ptx, "first": first, "vectors": vectors[first : first + 60], "limit": 240}


ENTRY = re.compile(r"(?:^|(?<=\n))(?:\.visible |\.weak )?\.entry (\w+)\b.*?\n}\n", re.S)


def only(text, kernels):
    """PTX with only these of its kernels."""
    return ENTRY.sub(lambda found: found.group() if found.group(1) in kernels else "", text)


def vector_work(gpu, task, report):
    text = (ROOT / "tests/conformance" / task["ptx"]).read_text()
    records = (ROOT / "tests/conformance" / task["ptx"].replace(".ptx", ".bin")).read_bytes()
    run_vectors(gpu, text, records, task["vectors"], report)


def run_vectors(gpu, text, records, vectors, report):
    try:
        module = gpu.load(only(text, {vector["kernel"] for vector in vectors}))
    except driver.Failure as failure:
        if len(vectors) == 1:
            report.add({"kernel": vectors[0]["kernel"], "ptx": vectors[0]["ptx"], "failure": str(failure)[:1000]})
            return
        half = len(vectors) // 2
        run_vectors(gpu, text, records, vectors[:half], report)
        run_vectors(gpu, text, records, vectors[half:], report)
        return
    for vector in vectors:
        for block in vector["blocks"]:
            at, size = vector["in"]["offset"], vector["in"]["bytes"]
            source = gpu.allocate(records[at : at + size])
            target = gpu.allocate(bytes(vector["out"]["bytes"]))
            arguments = [pointer(source), pointer(target), struct.pack("<I", vector["count"])]
            module.launch(vector["kernel"], (-(-vector["count"] // block), 1, 1), (block, 1, 1), arguments)
            gpu.synchronize()
            line = {"ptx": vector["ptx"], "kernel": vector["kernel"], "block": block}
            report.add(line, gpu.read(target, vector["out"]["bytes"]))
            gpu.free(source)
            gpu.free(target)
    module.unload()


# Cases: PTX with launch files, as docs/launch.md describes them.


def case_tasks(argument, options):
    for folder in CORPORA:
        for line in (ROOT / folder / "manifest.jsonl").read_text().splitlines():
            case = json.loads(line)
            for ptx in case["ptx"]:
                limit = 25 if "fault" in case else 120
                yield {"part": "cases", "folder": folder, "case": case["name"], "launch": case["launch"],
                       "ptx": ptx["file"], "limit": limit}


def case_work(gpu, task, report):
    folder = ROOT / task["folder"]
    text = (folder / task["ptx"]).read_text()
    launch_file = tomllib.loads((folder / task["launch"]).read_text())
    program = Program(gpu, gpu.load(text), text, folder)
    for symbol in launch_file.get("symbol", []):
        address, _ = program.module.symbol(program.variable(symbol["name"]))
        gpu.write(address, contents(folder / symbol["file"]))
    for launch in launch_file.get("launch", [launch_file]):
        program.launch(launch)
    parts = []
    for read in launch_file.get("read", []):
        address, size = program.buffers[read["buffer"]]
        parts.append([read["buffer"], len(report.data), size])
        report.data += gpu.read(address, size)
    report.add({"folder": task["folder"], "case": task["case"], "ptx": task["ptx"], "parts": parts})


SCALARS = {"i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
           "f16": "e", "f32": "f", "f64": "d"}


class Program:
    """A module with the buffers of its launches."""

    def __init__(self, gpu, module, text, folder):
        self.gpu, self.module, self.folder = gpu, module, folder
        self.buffers = {}
        self.kernels = re.findall(r"\.entry\s+([\w$]+)", text)
        self.variables = re.findall(r"\.(?:global|const)\b[^;=(]*?\.\w+\s+([\w$]+)\s*(?:\[|=|;)", text)

    def launch(self, launch):
        kernel = spelled(launch.get("kernel"), self.kernels)
        grid, block = ([*launch[key], 1, 1][:3] for key in ("grid", "block"))
        arguments = [self.argument(argument) for argument in launch.get("arg", [])]
        until = launch.get("until")
        for _ in range(launch.get("repeat", 1000000 if until else 1)):
            self.module.launch(kernel, grid, block, arguments, launch.get("dynamic_shared_bytes", 0))
            self.gpu.synchronize()
            if until:
                address, _ = self.buffers[until["buffer"]]
                if self.gpu.read(address + until.get("offset", 0), 4) == bytes(4):
                    break

    def variable(self, name):
        return spelled(name, self.variables)

    def argument(self, argument):
        if "hex" in argument:
            return bytes.fromhex(argument["hex"])
        if "buffer" in argument:
            name = argument["buffer"]
            if name not in self.buffers:
                data = contents(self.folder / argument["file"]) if "file" in argument else bytes(argument["bytes"])
                self.buffers[name] = self.gpu.allocate(data), len(data)
            return pointer(self.buffers[name][0] + argument.get("offset", 0))
        (kind, value), = argument.items()
        return struct.pack("<" + SCALARS[kind], value)


def spelled(name, symbols):
    """The symbol that a name of the source means, as C++ writes it."""
    if name is None or name in symbols:
        return name or symbols[0]
    parts = re.split(r"::", re.match(r"[\w:]+", name).group())
    mangled = "".join(f"{len(part)}{part}" for part in parts)
    found = [symbol for symbol in symbols if re.match(rf"_Z(N|L|NK)?{mangled}", symbol)]
    if "<" in name and len(found) > 1:
        letters = {"float": "f", "double": "d", "int": "i", "unsigned int": "j"}
        inside = name[name.index("<") + 1 : name.index(">")].split(",")
        inside = "".join(letters.get(part.strip(), f"Li{part.strip()}E") for part in inside)
        found = [symbol for symbol in found if f"{mangled}I{inside}E" in symbol]
    if len(found) != 1:
        raise SystemExit(f"{name} means {len(found)} of {symbols}")
    return found[0]


def contents(path):
    """The bytes of a file, of an array file those of its elements."""
    data = path.read_bytes()
    return data[10 + int.from_bytes(data[8:10], "little") :] if path.suffix == ".npy" else data


# Random kernels: a file of texts, each of which says in its first line how it is launched.


def kernel_tasks(argument, options):
    """FILE has the texts one behind the other, as `NBCC_FUZZ_PRINT` prints them, perhaps by gzip. If there is
    FILE.digests, lines of a seed and a digest, buffers with another digest are kept."""
    path = Path(argument)
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    digests = path.with_suffix(".digests") if path.suffix == ".gz" else Path(f"{path}.digests")
    wanted = dict(line.split() for line in digests.read_text().splitlines()) if digests.exists() else {}
    starts = [found.start() for found in re.finditer(rb"^// grid ", data, re.M)] + [len(data)]
    plain = options.out + "/kernels.ptx"
    Path(plain).write_bytes(data)
    for first in range(0, len(starts) - 1, 24):
        some = []
        for start, end in zip(starts[first : first + 24], starts[first + 1 : first + 25]):
            seed = data[start : data.index(b"\n", start)].split()[6].decode()
            some.append([start, end, wanted.get(seed)])
        yield {"part": "kernels", "first": first, "file": plain, "some": some, "limit": 200}


def kernel_work(gpu, task, report):
    with open(task["file"], "rb") as file:
        for start, end, wanted in task["some"]:
            file.seek(start)
            run_kernel(gpu, file.read(end - start).decode(), wanted, report)


def run_kernel(gpu, text, wanted, report):
    words = text.split("\n", 1)[0].split()
    grid, block, seed = int(words[2]), int(words[4]), int(words[6])
    buffers = kernel_buffers(grid, block, seed)
    module = gpu.load(text)
    addresses = [gpu.allocate(buffer) for buffer in buffers]
    module.launch("k", (grid, 1, 1), (block, 1, 1), [pointer(a) for a in addresses])
    gpu.synchronize()
    results = b"".join(gpu.read(a, len(b)) for a, b in zip(addresses, buffers))
    digest = hashlib.sha256(results).hexdigest()[:16]
    line = {"seed": seed, "digest": digest}
    report.add(line, results if wanted not in (None, digest) else b"")
    for address in addresses:
        gpu.free(address)
    module.unload()


SPECIAL = [0, 1, 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000,
           0x8000, 0x800000, 0x7FFFFF, 0x4B800000, 0x3C007BFF, 0x7FF00000, 0x3FF00000, 0x5F000000, 0xCF000000, 31]


def kernel_buffers(grid, block, seed):
    """The input, room for the results, and counters that begin as the input does."""
    random = forms.Random(seed ^ 0x5EED)

    def between(low, high):
        return low + random.next() % (high - low + 1)

    words = []
    for _ in range(64):
        way = random.next() % 4
        if way == 0:
            words.append(SPECIAL[random.next() % len(SPECIAL)])
        elif way == 1:
            words.append(between(-100, 100) & 0xFFFFFFFF)
        elif way == 2:
            words.append(struct.unpack("<I", struct.pack("<f", between(-100000, 100000) / 64))[0])
        else:
            words.append(between(0, 0xFFFFFFFF))
    data = struct.pack("<64I", *words)
    return data, bytes(RESULT_WORDS * 4 * grid * block), data + bytes(256 * grid)


RESULT_WORDS = 8 + 2 * 4 + 3 + 5 + 2 * 3 + 4 + 2

TASKS = {"forms": form_tasks, "vectors": vector_tasks, "cases": case_tasks, "kernels": kernel_tasks}
WORK = {"probe": probe, "forms": form_work, "vectors": vector_work, "cases": case_work, "kernels": kernel_work}

if __name__ == "__main__":
    main()
