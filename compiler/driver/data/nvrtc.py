"""Prints the PTX that NVRTC makes of the CUDA C++ file that is named. Exits with 3 where no NVRTC is
found: neither NVIDIA's Python package, nor a CUDA installation, nor a library that the system knows."""
import ctypes
import glob
import os
import sys


def folders(kind):
    """Where NVIDIA's Python packages and CUDA installations keep libraries or headers."""
    homes = [os.environ[name] for name in ("CUDA_PATH", "CUDA_HOME") if os.environ.get(name)]
    homes += ["/usr/local/cuda", "/opt/cuda"]
    patterns = [os.path.join(path, "nvidia", "*", kind) for path in sys.path]
    patterns += [os.path.join(home, kind + tail) for home in homes for tail in ("64", "")]
    return [folder for pattern in patterns for folder in sorted(glob.glob(pattern))]


def library():
    found = [path for folder in folders("lib") for path in sorted(glob.glob(folder + "/libnvrtc.so*"))]
    found += ["libnvrtc.so" + version for version in (".13", ".12", ".11.2", "")]
    for path in found:
        if ".alt." in path:
            continue
        try:
            return ctypes.CDLL(path)
        except OSError:
            pass
    sys.exit(3)


nvrtc = library()


def call(name, *args):
    code = getattr(nvrtc, "nvrtc" + name)(*args)
    if code:
        nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise RuntimeError(nvrtc.nvrtcGetErrorString(code).decode())


def text(kind, program):
    size = ctypes.c_size_t()
    call("Get" + kind + "Size", program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    call("Get" + kind, program, buffer)
    return buffer.value


name = sys.argv[1]
with open(name, "rb") as file:
    source = file.read()
headers = [os.path.dirname(os.path.abspath(name))] + folders("include")
options = ["--gpu-architecture=compute_75", "--std=c++17", "--generate-line-info"]
options = [option.encode() for option in options + ["--include-path=" + path for path in headers]]
program = ctypes.c_void_p()
# NVRTC knows by itself what these declare for kernels.
known = [b"cuda_runtime.h", b"cuda.h", b"device_launch_parameters.h"]
strings = ctypes.c_char_p * len(known)
empty = strings(*[b""] * len(known))
call("CreateProgram", ctypes.byref(program), source, name.encode(), len(known), empty, strings(*known))
try:
    call("CompileProgram", program, len(options), (ctypes.c_char_p * len(options))(*options))
except RuntimeError as error:
    said = text("ProgramLog", program).decode(errors="replace").strip()
    sys.exit("NVRTC: %s\n%s" % (error, said))
sys.stdout.buffer.write(text("PTX", program))
