#!/usr/bin/env python3
"""Runs a real Compiler Explorer on nbcc and checks what its views show.

    COMPILER_EXPLORER=CHECKOUT tests/compiler_explorer.py NBCC

CHECKOUT is a checkout of Compiler Explorer after `npm install`; without the variable nothing is
done. COMPILER_EXPLORER_START is the command that starts it there, `{port}` and `{language}`
replaced (default: `npm run dev -- --port {port} --language {language}`). The properties files of
docs/compiler-explorer.md are put into its etc/config for as long as it runs; files of the same
names are put back.

Checked, for Halide in the C++ editor and PTX in the CUDA editor:
  assembly    the default filters leave every instruction, every label that one names, functions
  lines       at least half of the instructions are linked to a line of the source
  messages    an error is found at its line
  remarks     there are some, each at a line, and they read as sentences
  pipeline    dumps are read without an error, in pairs, for each function
  execution   the program runs on the simulated machine (Halide: PTX needs a launch file)
"""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILTERS = {
    "binary": False, "execute": False, "commentOnly": True, "demangle": False,
    "directives": True, "intel": False, "labels": True, "libraryCode": False, "trim": False,
}
DEFAULT_START = "npm run dev -- --port {port} --language {language}"
CASES = [
    ("c++", "nbcc-halide", "examples/ipim/blur.halide", "Func out(x, y) = x +;\n"),
    ("cuda", "nbcc-ptx", "examples/mpu/saxpy.ptx", "nonsense\n"),
]


def properties(folder, nbcc):
    """The properties files of the manual, for this nbcc."""
    text = (ROOT / "docs/compiler-explorer.md").read_text()
    files = re.findall(r"### [^\n]*`(\S+\.local\.properties)`\n.*?```properties\n(.*?)```", text, re.S)
    assert len(files) == 3, "docs/compiler-explorer.md has a file for every language"
    alias = folder / "nbcc-clang"
    alias.symlink_to(nbcc)
    return {
        name: body.replace("/opt/nbcc/bin/nbcc-clang", str(alias)).replace(
            "/opt/nbcc/bin/nbcc", str(nbcc))
        for name, body in files
    }


class Explorer:
    """A running Compiler Explorer."""

    def __init__(self, checkout, language):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        start = os.environ.get("COMPILER_EXPLORER_START", DEFAULT_START)
        self.process = subprocess.Popen(
            start.format(port=self.port, language=language), shell=True, cwd=checkout,
            start_new_session=True)
        self.language = language

    def __enter__(self):
        for _ in range(180):
            try:
                self.compilers = self.ask(f"/api/compilers/{self.language}?fields=all")
                if self.compilers:
                    return self
            except OSError:
                pass
            if self.process.poll() is not None:
                break
            time.sleep(1)
        self.__exit__()
        sys.exit("Compiler Explorer does not start")

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait()

    def ask(self, path, body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Accept": "application/json", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    def compile(self, compiler, source, options=None, filters=FILTERS):
        return self.ask(f"/api/compiler/{compiler}/compile", {
            "source": source,
            "lang": self.language,
            "options": {
                "userArguments": "", "compilerOptions": options or {}, "filters": filters,
                "tools": [], "libraries": [],
                "executeParameters": {"args": ["--fast"], "stdin": ""},
            },
        })


def check(explorer, nbcc, compiler, path, broken):
    """One language; what is wrong."""
    problems = []

    def expect(holds, view, what):
        print(f"  {'ok  ' if holds else 'FAIL'} {view}: {what}")
        if not holds:
            problems.append(view)

    found = [entry for entry in explorer.compilers if entry["id"] == compiler]
    expect(found, "compilers", compiler)
    if not found:
        return problems
    expect(found[0].get("supportsOptOutput"), "remarks", "are offered")
    offered = found[0].get("optPipeline") or found[0].get("supportsLLVMOptPipelineView")
    expect(offered, "pipeline", "is offered")

    source = (ROOT / path).read_text()
    result = explorer.compile(compiler, source)
    expect(result["code"] == 0, "assembly", "compiles")
    rows = result["asm"]
    options = found[0]["options"].split()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([nbcc, *options, "-S", "-o", f"{folder}/own.s", ROOT / path],
                       check=True, stderr=subprocess.DEVNULL)
        own = pathlib.Path(f"{folder}/own.s").read_text()
    text = own.split(".section .text\n")[1].split("\n.section ")[0].splitlines()
    instructions = [line for line in text if line.startswith("    ")]
    labels = {line[:-1] for line in text if line.endswith(":")}
    shown = [row["text"] for row in rows]
    kept = {line[:-1] for line in shown if line.endswith(":")}
    expect([line for line in shown if line.startswith("    ")] == instructions, "assembly",
           f"{len(instructions)} instructions are shown")
    named = {word for line in instructions
             for word in re.findall(r"[\w$]+", line.split("#")[0])} & labels
    functions = set(re.findall(r"^\.type (\S+),", own, re.M))
    expect(named | functions <= kept, "assembly", "so are labels and functions")
    linked = [row["source"]["line"] for row in rows if (row.get("source") or {}).get("line")]
    expect(2 * len(linked) > len(instructions), "lines", f"{len(linked)} are linked")

    result = explorer.compile(compiler, broken)
    tags = [line.get("tag", {}).get("line") for line in result["stderr"]]
    expect(result["code"] != 0 and 1 in tags, "messages", "stand at their lines")

    result = explorer.compile(compiler, source, {"produceOptInfo": True})
    remarks = result.get("optOutput") or []
    expect(remarks, "remarks", f"{len(remarks)} are shown")
    expect(all(remark["DebugLoc"]["Line"] > 0 for remark in remarks), "remarks", "have lines")

    asked = {"filterDebugInfo": False, "filterIRMetadata": False, "fullModule": False,
             "noDiscardValueNames": False, "demangle": False, "libraryFunctions": True}
    views = {"produceOptPipeline": asked, "produceLLVMOptPipeline": asked}
    result = explorer.compile(compiler, source, views)
    dumps = result.get("optPipelineOutput") or result.get("llvmOptPipelineOutput") or {}
    expect(not dumps.get("error"), "pipeline", dumps.get("error") or "dumps are read")
    passes = [one for list_ in (dumps.get("results") or {}).values() for one in list_]
    both = [one for one in passes if one["before"] and one["after"]]
    expect(len(both) > 5, "pipeline", f"{len(passes)} passes, {len(both)} before and after")

    if compiler == "nbcc-halide":
        result = explorer.compile(
            compiler, source, {"executorRequest": True}, {**FILTERS, "execute": True})
        printed = "\n".join(line["text"] for line in result.get("stdout", []))
        expect(result["code"] == 0 and "instructions" in printed, "execution", "runs")
    return problems


def main():
    checkout = os.environ.get("COMPILER_EXPLORER")
    if not checkout:
        print("COMPILER_EXPLORER names no checkout: nothing is checked")
        return 0
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    nbcc = pathlib.Path(sys.argv[1]).resolve()
    config = pathlib.Path(checkout) / "etc/config"
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        files = properties(folder, nbcc)
        kept = {name: config / name for name in files if (config / name).exists()}
        for name, path in kept.items():
            shutil.copy2(path, folder / name)
        try:
            for name, body in files.items():
                (config / name).write_text(body)
            for language, compiler, path, broken in CASES:
                print(f"{compiler} in the editor for {language}")
                with Explorer(checkout, language) as explorer:
                    problems += check(explorer, nbcc, compiler, path, broken)
        finally:
            for name in files:
                (config / name).unlink(missing_ok=True)
            for name, path in kept.items():
                shutil.copy2(folder / name, path)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
