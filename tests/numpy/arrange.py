# SPDX-License-Identifier: MIT
"""Layouts, written for the library and made by NumPy: pad, reshape, transpose.

An arrangement is the text of a layout and the letters of its axes; the units of which each axis is
padded to a multiple; the factors by which axes are split, 1 where they are not; and the order of
what they are split into, pairs of an axis and whether it is the inner part.
"""

import numpy

import accel

LETTERS = "ABCDEF"
MOST_BYTES = 1 << 18


def by_letters(random, array):
    """NHWC, NCHW16c: each axis by a letter, the splits behind."""
    factors, order = [1] * array.ndim, [(axis, 0) for axis in range(array.ndim)]
    random.shuffle(order)
    for axis in random.sample(range(array.ndim), random.randint(0, min(2, array.ndim))):
        factors[axis] = random.choice((2, 3, 4, 8, 16))
        order.append((axis, 1))
    text = "".join(f"{factors[axis]}{LETTERS[axis].lower()}" if is_inner else LETTERS[axis]
                   for axis, is_inner in order)
    return text, LETTERS[:array.ndim], factors, factors, order


def by_map(random, array):
    """The same by an index map, in which an inner part is no longer than its axis."""
    names = [f"i{axis}" for axis in range(array.ndim)]
    axis, factor = random.randrange(array.ndim), random.choice((2, 3, 4, 8))
    parts = [(name, (place, 0)) for place, name in enumerate(names)]
    parts[axis] = (f"{names[axis]}//{factor}", (axis, 0))
    parts.append((f"{names[axis]}%{factor}", (axis, 1)))
    random.shuffle(parts)
    factors = [1] * array.ndim
    factors[axis] = min(factor, array.shape[axis])
    return f"({', '.join(names)}) -> ({', '.join(text for text, _ in parts)})", None, factors, \
        factors, [part for _, part in parts]


def by_sticks(random, array):
    """128 bytes of the last axis each; all axes are padded to as many elements, or it alone."""
    elements, last = 128 // array.itemsize, array.ndim - 1
    factors = [1] * last + [elements]
    order = [(axis, 0) for axis in ((*range(1, last), last, 0) if last else (0,))]
    if random.random() < 0.5:
        return "stick:pad=stick", None, factors, factors, [*order, (last, 1)]
    return "stick", None, [elements] * array.ndim, factors, [*order, (last, 1)]


def up_to(extent, unit):
    return -(-extent // unit) * unit


def arrange(array, units, factors, order, padding):
    """What memory holds, its axes as they are there."""
    shape = [up_to(extent, unit) for extent, unit in zip(array.shape, units)]
    padded = numpy.full(shape, padding, array.dtype)
    padded[tuple(slice(0, extent) for extent in array.shape)] = array
    parts = [part for extent, factor in zip(shape, factors) for part in (extent // factor, factor)]
    axes = [2 * axis + is_inner for axis, is_inner in order]
    unsplit = [part for part in range(len(parts)) if part not in axes]
    memory = padded.reshape(parts).transpose(axes + unsplit)
    return numpy.ascontiguousarray(memory.reshape(memory.shape[:len(axes)]))


def draw_arrangement(random, array, padding):
    """The array in some layout with this padding, or None if it is nothing or becomes large."""
    if not array.size or not 1 <= array.ndim <= len(LETTERS):
        return None
    kind = random.choice((by_letters, by_letters, by_map, by_sticks))
    text, axes, units, factors, order = kind(random, array)
    bytes_in_memory = array.itemsize
    for extent, unit in zip(array.shape, units):
        bytes_in_memory *= up_to(extent, unit)
    if bytes_in_memory > MOST_BYTES:
        return None
    return accel.Arranged(array, arrange(array, units, factors, order, padding), text, axes)
