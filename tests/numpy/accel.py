# SPDX-License-Identifier: MIT
"""libaccel for the tests that compare it with NumPy: the functions of accel.h, by ctypes.

Arrays go in and come out; what the library makes of them is its own. A failure is an Error with
the library's message.
"""

import ctypes
import os

import numpy

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
LIBRARY = os.environ.get("ACCEL_LIBRARY", f"{REPOSITORY}/build/libaccel/libaccel.so")

DTYPES = {
    "u1": 0x10, "u2": 0x11, "u4": 0x12, "u8": 0x13, "i1": 0x20, "i2": 0x21, "i4": 0x22, "i8": 0x23,
    "f2": 0x31, "f4": 0x32, "f8": 0x33, "V1": 0x50, "V2": 0x51, "V4": 0x52, "V8": 0x53, "V16": 0x54,
}
# NumPy has no bfloat16: its bits are moved, as those of a record.
BF16 = numpy.dtype([("bf16", "<u2")])
NAMES = {
    "u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64", "i1": "i8", "i2": "i16", "i4": "i32",
    "i8": "i64", "f2": "f16", "f4": "f32", "f8": "f64",
}

lib = ctypes.CDLL(LIBRARY)
Pointer, Text, U32, I64, U64 = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_int64,
                                ctypes.c_uint64)


class ErrorStruct(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("column", ctypes.c_int), ("message", ctypes.c_char * 256)]


class Options(ctypes.Structure):
    _fields_ = [("is_unfused", ctypes.c_bool), ("keeps_order", ctypes.c_bool),
                ("may_alias", ctypes.c_bool)]


class Info(ctypes.Structure):
    _fields_ = [(name, U32) for name in ("num_inputs", "num_outputs", "num_slots", "num_jobs",
                                         "num_notes", "map_class", "passes", "passes_unfused")] + \
               [(name, U64) for name in ("bytes_read", "bytes_written", "temporary_bytes")]


class Im2col(ctypes.Structure):
    _fields_ = [("is_nhwc", ctypes.c_bool), ("is_view", ctypes.c_bool), ("kernel", I64 * 2),
                ("stride", I64 * 2), ("pad", I64 * 2), ("dilation", I64 * 2)]


class Error(Exception):
    """What a function of the library returned, and its message."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def call(name, *arguments):
    """Calls a function whose last argument is the error."""
    error = ErrorStruct()
    function = getattr(lib, name)
    code = function(*arguments, ctypes.byref(error))
    if code:
        raise Error(code, error.message.decode())


def made(name, *arguments):
    """The object that a function makes, which comes before the error."""
    result = Pointer()
    call(name, *arguments, ctypes.byref(result))
    return result


def integers(values):
    return (I64 * max(len(values), 1))(*values)


def unsigned(values):
    return (U32 * max(len(values), 1))(*values)


def texts(values):
    return (Text * max(len(values), 1))(*(value.encode() for value in values))


def bits(value, dtype):
    """The bits of an element, as paddings are given."""
    raw = numpy.array(value, dtype).tobytes().ljust(16, b"\0")
    return (U64 * 2)(*numpy.frombuffer(raw, "<u8").tolist())


def dtype_number(dtype):
    dtype = numpy.dtype(dtype)
    return 0x41 if dtype == BF16 else DTYPES[f"{dtype.kind}{dtype.itemsize}"]


def dtype_name(dtype):
    dtype = numpy.dtype(dtype)
    return "bf16" if dtype == BF16 else \
        NAMES.get(f"{dtype.kind}{dtype.itemsize}", f"raw{8 * dtype.itemsize}")


def as_bytes(memory):
    return memory.reshape(-1).view("u1")


class Strided:
    """An array and all of the memory that it is a view of."""

    def __init__(self, array):
        base = array
        while isinstance(base.base, numpy.ndarray):
            base = base.base
        if not base.flags.c_contiguous or base.dtype != array.dtype:
            base = array = numpy.ascontiguousarray(array)
        self.array, self.memory = array, base

    def tensor(self, buffer):
        """The tensor that is in a buffer what the array is in its memory."""
        array = self.array
        offset = array.__array_interface__["data"][0] - \
            self.memory.__array_interface__["data"][0]
        # NumPy's strides of nothing are any
        strides = integers([stride // array.itemsize for stride in array.strides]) \
            if array.size else None
        return made("accel_tensor_from_buffer", buffer, dtype_number(array.dtype),
                    U32(array.ndim), integers(array.shape), strides,
                    I64(offset // array.itemsize if array.size else 0))

    def with_elements(self, element):
        """The same with one element in place of all, and what is between them as it is."""
        array, memory = self.array, self.memory.copy()
        if not array.size:
            return self
        start = array.__array_interface__["data"][0] - \
            self.memory.__array_interface__["data"][0]
        view = numpy.ndarray(array.shape, array.dtype, as_bytes(memory), start,
                             array.strides)
        view[...] = element
        return Strided(view)


class Arranged:
    """An array in a layout, given by its text; memory is what NumPy makes of it, with padding."""

    def __init__(self, array, memory, text, axes):
        self.array, self.memory, self.text, self.axes = array, memory, text, axes

    def layout(self):
        return made("accel_layout_parse", self.text.encode(), self.axes and self.axes.encode())

    def tensor(self, buffer):
        layout = self.layout()
        try:
            return made("accel_tensor_from_layout", buffer, dtype_number(self.array.dtype),
                        U32(self.array.ndim), integers(self.array.shape), layout, U64(0))
        finally:
            lib.accel_layout_unref(layout)

    def with_elements(self, element):
        return Arranged(self.array, numpy.full_like(self.memory, element), self.text, self.axes)


class Device:
    def __init__(self, name="cpu"):
        self.pointer = made("accel_open", None if name == "auto" else name.encode())

    def __del__(self):
        lib.accel_device_unref(self.pointer)

    def tensor(self, stored):
        """A tensor of zeros where what is stored so is, and its memory byte by byte."""
        size = max(stored.memory.nbytes, 1)
        buffer = made("accel_buffer_create", self.pointer, U64(size))
        try:
            address = Pointer()
            call("accel_buffer_map", buffer, ctypes.byref(address))
            memory = numpy.frombuffer((ctypes.c_ubyte * size).from_address(address.value), "u1")
            return stored.tensor(buffer), memory[:stored.memory.nbytes]
        finally:
            lib.accel_buffer_unref(buffer)

    def bind(self, stored):
        """The same with the elements, and what is between them."""
        tensor, memory = self.tensor(stored)
        memory[:] = as_bytes(stored.memory)
        return tensor, memory


class Function:
    """A function under construction; results are named by the caller."""

    def __init__(self):
        self.pointer = made("accel_function_create")
        self.inputs, self.outputs = [], []

    def __del__(self):
        lib.accel_function_unref(self.pointer)

    def input(self, name, array):
        """A row-major input."""
        call("accel_function_add_input", self.pointer, name.encode(), dtype_number(array.dtype),
             U32(array.ndim), integers(array.shape), None)
        self.inputs.append(Strided(numpy.ascontiguousarray(array)))

    def input_like(self, name, array):
        """An input with the strides and the offset of a view."""
        self._like("accel_function_add_input_like", name, Strided(array))
        self.inputs.append(Strided(array))

    def input_arranged(self, name, arranged):
        array, layout = arranged.array, arranged.layout()
        try:
            call("accel_function_add_input", self.pointer, name.encode(),
                 dtype_number(array.dtype), U32(array.ndim), integers(array.shape), layout)
        finally:
            lib.accel_layout_unref(layout)
        self.inputs.append(arranged)

    def output(self, name, stored):
        """Asks for a tensor, row-major; stored is what its memory must be equal to."""
        call("accel_function_add_output", self.pointer, name.encode(), None, None)
        self.outputs.append(stored)

    def output_like(self, name, stored):
        self._like("accel_function_add_output_like", name, stored)
        self.outputs.append(stored)

    def output_arranged(self, name, arranged, padding):
        layout = arranged.layout()
        try:
            call("accel_function_add_output", self.pointer, name.encode(), layout, padding)
        finally:
            lib.accel_layout_unref(layout)
        self.outputs.append(arranged)

    def _like(self, function, name, stored):
        tensor, _ = Device().tensor(stored)
        try:
            call(function, self.pointer, name.encode(), tensor)
        finally:
            lib.accel_tensor_unref(tensor)

    def define(self, text):
        call("accel_function_define", self.pointer, text.encode())

    def operate(self, operation, result, source, *arguments):
        """accel_function_OPERATION(function, result, source, ...)"""
        call(f"accel_function_{operation}", self.pointer, result.encode(), source.encode(),
             *arguments)

    def map(self, operation, result, source, text, *arguments):
        """The same of those that take a map, which is given as text."""
        parsed = made("accel_map_parse", text.encode())
        try:
            self.operate(operation, result, source, parsed, *arguments)
        finally:
            lib.accel_map_unref(parsed)

    def join(self, operation, result, sources, axis):
        call(f"accel_function_{operation}", self.pointer, result.encode(), U32(len(sources)),
             texts(sources), U32(axis))

    def split(self, results, source, axis, sizes):
        call("accel_function_split", self.pointer, U32(len(results)), texts(results),
             source.encode(), U32(axis), integers(sizes))

    def shape(self, name):
        dtype, rank, shape = ctypes.c_int(), U32(), (I64 * 16)()
        call("accel_function_tensor", self.pointer, name.encode(), ctypes.byref(dtype),
             ctypes.byref(rank), shape)
        return dtype.value, tuple(shape[:rank.value])

    def plan(self, **options):
        return Plan(self, Options(**options))


class Plan:
    def __init__(self, function, options=Options()):
        self.pointer = made("accel_plan_create", function.pointer, ctypes.byref(options))
        self.info = Info()
        lib.accel_plan_info(self.pointer, ctypes.byref(self.info))

    def __del__(self):
        if hasattr(self, "pointer"):
            lib.accel_plan_unref(self.pointer)

    def notes(self):
        return [lib.accel_plan_note(self.pointer, U32(k)).decode()
                for k in range(self.info.num_notes)]

    def run(self, device, inputs, outputs):
        """Runs it on what is stored so; the memory of the outputs, byte by byte."""
        bound = [device.bind(each) for each in (*inputs, *outputs)]
        tensors = (Pointer * len(bound))(*(tensor for tensor, _ in bound))
        task = Pointer()
        try:
            call("accel_task_create", self.pointer, U32(len(bound)), tensors, ctypes.byref(task))
            call("accel_task_submit", task, None, ctypes.c_size_t(0))
            call("accel_task_wait", task, I64(-1))
            return [memory.copy() for _, memory in bound[len(inputs):]]
        finally:
            lib.accel_task_unref(task)
            for tensor, _ in bound:
                lib.accel_tensor_unref(tensor)


def declare():
    """Functions that return something other than an int, or take a pointer as it is."""
    for name in ("accel_function_unref", "accel_plan_unref", "accel_task_unref", "accel_map_unref",
                 "accel_buffer_unref", "accel_tensor_unref", "accel_device_unref",
                 "accel_layout_unref"):
        getattr(lib, name).argtypes = [Pointer]
        getattr(lib, name).restype = None
    lib.accel_plan_note.restype = lib.accel_plan_map.restype = lib.accel_plan_chain.restype = Text
    lib.accel_plan_info.restype = None


declare()
