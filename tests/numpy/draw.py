# SPDX-License-Identifier: MIT
"""What tests draw: types, shapes, arrays, and views of larger ones. Nothing is drawn from anything
but the given random.Random, so that a seed replays a test.
"""

import numpy

import accel

MAX_ELEMENTS = 1 << 12
EXTENTS = (1, 1, 2, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17)
MOVED = ("u1", "i1", "u2", "i2", "f2", accel.BF16, "u4", "i4", "f4", "u8", "i8", "f8", "V16")
INTEGERS = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8")
FLOATS = ("f2", "f4", "f8")


def is_computed(array):
    return array.dtype.kind in "uif"


def random_array(random, dtype, shape):
    """Bits that differ from each other, finite where they are floats."""
    dtype = numpy.dtype(dtype)
    count = int(numpy.prod(shape, dtype=object))
    if dtype.kind == "f":
        values = [random.randint(-2000, 2000) / 8 for _ in range(min(count, 251))] or [0]
        return numpy.resize(numpy.array(values), shape).astype(dtype)
    raw = random.randbytes(max(count, 1) * dtype.itemsize)
    return numpy.frombuffer(raw, dtype)[:count].reshape(shape)


def random_shape(random, rank, most=MAX_ELEMENTS):
    shape = []
    for _ in range(rank):
        extent = random.choice(EXTENTS)
        while numpy.prod(shape, dtype=object) * extent > most:
            extent = max(extent // 2, 1)
        shape.append(extent)
    if shape and random.random() < 0.02:
        shape[random.randrange(rank)] = 0
    return tuple(shape)


def random_view(random, dtype, rank):
    """A part of a larger array, with any offset and strides, negative ones and 0 among them."""
    base = random_array(random, dtype, random_shape(random, rank))
    base.flags.writeable = False
    index = []
    for extent in base.shape:
        start = random.randint(0, min(extent, 3))
        index.append(random.choice((slice(None), slice(start, None), slice(None, None, 2),
                                    slice(None, None, -1), slice(start, None, -1))))
    view = base[tuple(index)].transpose(random.sample(range(rank), rank))
    if random.random() < 0.3:
        view = numpy.broadcast_to(view, [random.randint(1, 4), *view.shape])
    return view if view.size <= MAX_ELEMENTS else view[:1]


def random_input(random, dtype):
    rank = random.randint(1, 5)
    if random.random() < 0.5:
        return random_array(random, dtype, random_shape(random, rank))
    return random_view(random, dtype, rank)


def draw_indices(random, extent, shape):
    """Indices below an extent, of any integer type that holds them."""
    dtype = random.choice([dtype for dtype in INTEGERS if numpy.iinfo(dtype).max >= extent - 1])
    values = [random.randrange(extent) for _ in range(int(numpy.prod(shape)))]
    return numpy.array(values, dtype).reshape(shape)
