#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Random distributions over 1 to 64 PEs, moved into each other: every part against NumPy.

    tests/numpy/test_distributions.py [--device cpu|auto|PATH] [--seed N] [--count N]

Layouts are Python: NumPy evaluates the very text that the library parses.
"""

import argparse
import ctypes
import math
import random
import time

import numpy

import accel
import tap

NAMES = "ijkl"
DTYPES = ("u1", "f2", "i4", "f8", "V16")


def partition(chosen, name, extent, limit):
    """The PE of an index, at most limit of them, how many, and the coordinates that are left."""
    kind = chosen.choice(("block", "cycle", "blocks in turn"))
    pes = chosen.randint(1, min(limit, extent + 2))
    if kind == "block":
        size = -(-extent // pes)
        return f"{name}//{size}", pes, [f"{name}%{size}"]
    if kind == "cycle":
        return f"{name}%{pes}", pes, [f"{name}//{pes}"]
    size = chosen.randint(1, 3)
    return f"{name}//{size}%{pes}", pes, [f"{name}//{size * pes}", f"{name}%{size}"]


def draw_layout(chosen, shape, num_pes):
    """One or two axes are distributed; what is behind the PE is in any order."""
    axes = chosen.sample(range(len(shape)), chosen.randint(1, min(2, len(shape))))
    pe, limit, local = "0", num_pes, [NAMES[d] for d in range(len(shape)) if d not in axes]
    for axis in axes:
        term, count, rest = partition(chosen, NAMES[axis], max(shape[axis], 1), limit)
        pe, limit = f"{count}*({pe}) + {term}", limit // count
        local += rest
    chosen.shuffle(local)
    return f"({', '.join(NAMES[:len(shape)])}) -> ({', '.join([pe, *local])})"


def places(text, shape):
    """The PE of each element, where it is in the memory of that, and how large a part is."""
    inputs, outputs = text.split(" -> ")
    indices = numpy.indices(shape)
    values = eval(f"lambda {inputs.strip('()')}: [{outputs[1:-1]}]")(*indices)
    values = [numpy.broadcast_to(value, shape) for value in values]
    extents = [int(value.max()) + 1 for value in values]
    element = numpy.zeros(shape, "i8")
    for value, extent in zip(values[1:], extents[1:]):
        element = element * extent + value
    return values[0], element, math.prod(extents[1:])


class Distribution:
    def __init__(self, pointer):
        self.pointer = pointer

    def __del__(self):
        accel.lib.accel_distribution_unref(self.pointer)

    def part(self, pe, dtype):
        """The memory of a PE, or None."""
        buffer = accel.lib.accel_distribution_buffer(self.pointer, accel.U32(pe))
        if not buffer:
            return None
        address = accel.Pointer()
        accel.call("accel_buffer_map", accel.Pointer(buffer), ctypes.byref(address))
        size = accel.lib.accel_buffer_size(buffer)
        memory = (ctypes.c_ubyte * size).from_address(address.value)
        return numpy.frombuffer(memory, "u1")[:size // dtype.itemsize * dtype.itemsize].view(dtype)


def distribute(device, array, text):
    layout = accel.made("accel_layout_parse", text.encode(), None)
    try:
        return Distribution(accel.made(
            "accel_distribution_create", device.pointer, accel.dtype_number(array.dtype),
            accel.U32(array.ndim), accel.integers(array.shape), layout))
    finally:
        accel.lib.accel_layout_unref(layout)


def whole(device, array):
    tensor, memory = device.bind(accel.Strided(array))
    try:
        return Distribution(accel.made("accel_distribution_from_tensor", tensor)), memory
    finally:
        accel.lib.accel_tensor_unref(tensor)


def move(target, source):
    repartition = accel.made("accel_repartition_create", target.pointer, source.pointer)
    try:
        accel.call("accel_repartition_submit", repartition, None, ctypes.c_size_t(0))
        accel.call("accel_repartition_wait", repartition, accel.I64(-1))
    finally:
        accel.lib.accel_repartition_unref(repartition)


def expect(distribution, array, text, num_pes):
    """Every element is where the text says, and there is nothing else."""
    if not array.size:
        assert all(distribution.part(pe, array.dtype) is None for pe in range(num_pes))
        return
    pes, elements, size = places(text, array.shape)
    for pe in range(num_pes):
        found, mine = distribution.part(pe, array.dtype), pes == pe
        if not mine.any():
            assert found is None, f"PE {pe} has memory"
            continue
        expected = numpy.zeros(len(found), array.dtype)
        expected[elements[mine]] = array[mine]
        assert elements[mine].max() < size
        assert found.tobytes() == expected.tobytes(), f"PE {pe}"


def run(name, seed):
    chosen = random.Random(seed)
    num_pes = chosen.choice((1, 2, 3, 4, 7, 16, 64))
    if name == "cpu":
        columns = chosen.choice([count for count in range(1, 65) if num_pes % count == 0])
        name = f"cpu:pes={num_pes},columns={columns}"
    else:
        num_pes = 4
    device = accel.Device(name)
    shape = tuple(chosen.choice((0, 1, 2, 5, 9, 14, 23)) if chosen.random() < 0.1 else
                  chosen.randint(1, 13) for _ in range(chosen.randint(1, 4)))
    dtype = numpy.dtype(chosen.choice(DTYPES))
    data = numpy.frombuffer(chosen.randbytes(math.prod(shape) * dtype.itemsize), dtype)
    array = data.reshape(shape)
    texts = [draw_layout(chosen, shape, num_pes) for _ in range(2)]
    told = f"seed {seed}: {name} {shape} {dtype} {texts}"
    try:
        source, _ = whole(device, array)
        result, memory = whole(device, numpy.zeros(shape, dtype))
        first, second = (distribute(device, array, text) for text in texts)
        move(first, source)
        expect(first, array, texts[0], num_pes)
        move(second, first)
        expect(second, array, texts[1], num_pes)
        move(result, second)
        assert memory.tobytes() == array.tobytes(), "gathered"
    except Exception as error:
        raise AssertionError(told) from error


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=int(time.time()) * 1000)
    parser.add_argument("--count", type=int, default=150)
    return parser.parse_args()


def main():
    options = parse()
    print(f"# seed {options.seed}")

    def random_distributions_are_moved_into_each_other():
        for number in range(options.count):
            run(options.device, options.seed + number)

    test = random_distributions_are_moved_into_each_other
    tap.run([(test.__name__, test)])


for unref in ("accel_distribution_unref", "accel_repartition_unref"):
    getattr(accel.lib, unref).argtypes = [accel.Pointer]
    getattr(accel.lib, unref).restype = None
accel.lib.accel_distribution_buffer.argtypes = [accel.Pointer, accel.U32]
accel.lib.accel_distribution_buffer.restype = accel.Pointer
accel.lib.accel_buffer_size.argtypes = [accel.Pointer]
accel.lib.accel_buffer_size.restype = accel.U64

if __name__ == "__main__":
    main()
