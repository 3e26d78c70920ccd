"""The CUDA driver by ctypes: modules from PTX, memory, launches. Needs nothing but the driver."""

import ctypes
import re

NOT_FOUND = 500


class Failure(Exception):
    """A call that the driver refused: its name, the driver's word, and what the compiler logged."""

    def __init__(self, call, code, word, log=""):
        super().__init__(f"{call}: {word} ({code}){': ' + log if log else ''}")
        self.call, self.code, self.word, self.log = call, code, word, log


class Gpu:
    """The first GPU, with a context of its own."""

    def __init__(self):
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.device = device
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        code = getattr(self.driver, name)(*arguments)
        if code:
            word = ctypes.c_char_p()
            self.driver.cuGetErrorName(code, ctypes.byref(word))
            raise Failure(name, code, (word.value or b"?").decode())

    def describe(self):
        """The name, the compute capability, and the version of CUDA that the driver speaks."""
        name = ctypes.create_string_buffer(200)
        self.call("cuDeviceGetName", name, 200, self.device)
        numbers = []
        for attribute in (75, 76):
            value = ctypes.c_int()
            self.call("cuDeviceGetAttribute", ctypes.byref(value), attribute, self.device)
            numbers.append(value.value)
        version = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        cuda = f"{version.value // 1000}.{version.value % 1000 // 10}"
        try:
            with open("/proc/driver/nvidia/version") as file:
                driver = re.search(r"\b\d{3,}\.[\d.]+", file.read()).group()
        except (OSError, AttributeError):
            driver = "?"
        return {"gpu": name.value.decode(), "sm": f"sm_{numbers[0]}{numbers[1]}", "cuda": cuda, "driver": driver}

    def load(self, text):
        """A module of PTX."""
        log = ctypes.create_string_buffer(1 << 14)
        options = (ctypes.c_int * 2)(5, 6)
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), ctypes.c_void_p(len(log)))
        module = ctypes.c_void_p()
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(module), text.encode() + b"\0", 2, options, values)
        except Failure as failure:
            raise Failure(failure.call, failure.code, failure.word, log.value.decode(errors="replace"))
        return Module(self, module)

    def allocate(self, data):
        """Memory of its own that holds the bytes; its address."""
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(len(data), 1)))
        self.write(address.value, data)
        return address.value

    def write(self, address, data):
        if data:
            self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), bytes(data), ctypes.c_size_t(len(data)))

    def read(self, address, size):
        data = ctypes.create_string_buffer(size)
        if size:
            self.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return data.raw

    def free(self, address):
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def synchronize(self):
        self.call("cuCtxSynchronize")


class Module:
    def __init__(self, gpu, handle):
        self.gpu, self.handle = gpu, handle

    def unload(self):
        self.gpu.call("cuModuleUnload", self.handle)

    def symbol(self, name):
        """Address and size of a variable."""
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        self.gpu.call("cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(size), self.handle, name.encode())
        return address.value, size.value

    def launch(self, kernel, grid, block, arguments, dynamic_shared=0):
        """Starts a kernel. An argument is its bytes."""
        function = ctypes.c_void_p()
        self.gpu.call("cuModuleGetFunction", ctypes.byref(function), self.handle, kernel.encode())
        if dynamic_shared:
            self.gpu.call("cuFuncSetAttribute", function, 8, ctypes.c_int(dynamic_shared))
        buffers = [ctypes.create_string_buffer(bytes(a), len(a)) for a in arguments]
        pointers = (ctypes.c_void_p * len(buffers))(*(ctypes.addressof(b) for b in buffers))
        shape = [ctypes.c_uint(n) for n in (*grid, *block)]
        self.gpu.call(
            "cuLaunchKernel", function, *shape, ctypes.c_uint(dynamic_shared), None, pointers, None
        )
