#!/usr/bin/env python3
"""Makes the PTX of every CUDA source in this folder, and checks each file with ptxas.

Needs: pip install nvidia-cuda-nvrtc-cu12==12.9.86 nvidia-cuda-runtime-cu12
       nvidia-cuda-cccl-cu12 nvidia-cuda-nvcc-cu12
The packages of 11.8 unpack into the same folders, so they go elsewhere, into $NVRTC_11:
pip install --target "$NVRTC_11" nvidia-cuda-nvrtc-cu11==11.8.89 nvidia-cuda-runtime-cu11==11.8.89. The sources marked `clang:`
need $CLANG (default: clang) with the NVPTX target.

What to make stands in the first lines of each source:
  // targets: 12.9:compute_80 11.8:compute_52    first: NAME.ptx, others: NAME.sm_52.ptx
                   12.9:compute_90:debug          NAME.sm_90.debug.ptx; likewise :rdc
  // options: --fmad=false                       further options of NVRTC
  // clang: sm_70 sm_70:O0                       also NAME.clang.ptx and NAME.clang.O0.ptx, by clang

Usage: make_ptx.py [NAME ...]
"""
import ctypes
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def packages():
    """The folders that hold NVIDIA's Python packages."""
    return [os.path.join(p, "nvidia") for p in sys.path if os.path.isdir(os.path.join(p, "nvidia"))]


def find(pattern, extra=()):
    """The first file that matches the pattern below the packages or the extra folders."""
    for folder in list(extra) + packages():
        found = sorted(glob.glob(os.path.join(folder, "**", pattern), recursive=True))
        if found:
            return found[0]
    sys.exit(f"{pattern} not found: see the packages named in this script")


class Nvrtc:
    """One version of the runtime compiler."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)

    def call(self, name, *args):
        code = getattr(self.lib, name)(*args)
        if code:
            self.lib.nvrtcGetErrorString.restype = ctypes.c_char_p
            raise RuntimeError(self.lib.nvrtcGetErrorString(code).decode())

    def text(self, kind, program):
        size = ctypes.c_size_t()
        self.call(f"nvrtcGet{kind}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self.call(f"nvrtcGet{kind}", program, buffer)
        return buffer.value.decode()

    def compile(self, name, source, options):
        program = ctypes.c_void_p()
        self.call("nvrtcCreateProgram", ctypes.byref(program), source.encode(), name.encode(), 0, None, None)
        encoded = [o.encode() for o in options]
        array = (ctypes.c_char_p * len(encoded))(*encoded)
        try:
            self.call("nvrtcCompileProgram", program, len(encoded), array)
        except RuntimeError as error:
            sys.exit(f"{name}: {error}\n{self.text('ProgramLog', program)}")
        return self.text("PTX", program)


VERSIONS = {}


def nvrtc(version):
    """The library of a version, loaded once."""
    if version not in VERSIONS:
        if version == "11.8":
            extra = [os.environ["NVRTC_11"]] if "NVRTC_11" in os.environ else []
            VERSIONS[version] = Nvrtc(find("libnvrtc.so.11.2", extra))
        else:
            VERSIONS[version] = Nvrtc(find("libnvrtc.so.12"))
    return VERSIONS[version]


def directives(source):
    """The `// key: value` lines at the head of a source."""
    found = {}
    for line in source.splitlines():
        match = re.match(r"// (targets|options|clang|host|ptxas): *(.*)", line)
        if match:
            found[match[1]] = match[2].strip()
        elif not line.startswith("//"):
            break
    return found


def ptx_files(name, source):
    """Pairs of file name and compiler, as the head of the source asks for them."""
    keys = directives(source)
    files = []
    for index, target in enumerate(keys.get("targets", "12.9:compute_80").split()):
        version, arch, *flags = target.split(":")
        parts = [name] + ([arch.replace("compute", "sm")] if index else []) + flags
        files.append((".".join(parts) + ".ptx", f"nvrtc {version}", ":".join([arch] + flags)))
    for target in keys.get("clang", "").split():
        arch, *flags = target.split(":")
        files.append((".".join([name, "clang"] + flags) + ".ptx", "clang", target))
    return files


def check(path):
    """ptxas's verdict on a file: its architecture is the file's own target."""
    with open(path) as file:
        target = re.search(r"^\.target\s+(\w+)", file.read(), re.M)[1]
    number = int(re.sub(r"\D", "", target))
    arch = f"sm_{max(number, 50)}" + ("a" if target.endswith("a") else "")
    ptxas = find("ptxas")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [ptxas, "-c", "-arch", arch] + (["-g", "-O0"] if ".debug." in path else ["-O1"]) + [path, "-o", os.path.join(folder, "out")],
            capture_output=True, text=True,
        )
    if done.returncode:
        sys.exit(f"{path}: ptxas says\n{done.stdout}{done.stderr}")


def main():
    os.chdir(HERE)
    headers = {
        "12.9": [os.path.dirname(find("cuda_fp16.h"))] + [os.path.dirname(os.path.dirname(find(name))) for name in ("nv/target", "crt/mma.h")],
        "11.8": [os.path.dirname(find("cuda_fp16.h", [os.environ["NVRTC_11"]]))] if "NVRTC_11" in os.environ else [],
    }
    names = sys.argv[1:] or sorted(f[:-3] for f in os.listdir(".") if f.endswith(".cu"))
    for name in names:
        with open(f"{name}.cu") as file:
            source = file.read()
        for path, compiler, target in ptx_files(name, source):
            arch, *flags = target.split(":")
            if compiler == "clang":
                clang = os.environ.get("CLANG", "clang")
                contract = "off" if "--fmad=false" in directives(source).get("options", "") else "fast"
                subprocess.run(
                    [clang, "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-S", "-O0" if flags else "-O2", f"-ffp-contract={contract}",
                     "-Xclang", "-target-feature", "-Xclang", "+ptx63", f"--cuda-gpu-arch={arch}",
                     "-include", "../../compiler/driver/data/cuda.h", "-I.", f"{name}.cu", "-o", path], check=True)
            else:
                version = compiler.split()[1]
                options = [f"--gpu-architecture={arch}", "--std=c++17"] + [f"--include-path={h}" for h in headers[version]]
                options += directives(source).get("options", "").split()
                options += [{"debug": "--device-debug", "rdc": "--relocatable-device-code=true"}[f] for f in flags]
                os.chdir("/")  # the folder goes into .file lines and debugging sections
                text = nvrtc(version).compile(f"{name}.cu", source, options)
                os.chdir(HERE)
                with open(path, "w") as file:
                    file.write(text)
            check(path)
            print(path, flush=True)


if __name__ == "__main__":
    main()
