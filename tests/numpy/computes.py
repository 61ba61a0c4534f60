# SPDX-License-Identifier: MIT
"""Steps of a chain that compute: casts, quantization, and values of several sources as text."""

import operator

import numpy

import accel
import draw
from chain import axis_names

QUANTIZED = ("u1", "i1", "u2", "i2", "i4")


def saturated(array, dtype):
    """A cast as the library makes it: to integers round to even and saturate."""
    dtype = numpy.dtype(dtype)
    if dtype.kind == "f":
        with numpy.errstate(over="ignore"):
            return array.astype(dtype)
    limits = numpy.iinfo(dtype)
    if array.dtype.kind != "f":
        own = numpy.iinfo(array.dtype)
        return array.clip(max(limits.min, own.min), min(limits.max, own.max)).astype(dtype)
    # the largest integer of 64 bits is rounded up as a float, and that is too large
    rounded = numpy.rint(array.astype("f8"))
    is_low, is_high = rounded <= float(limits.min), rounded >= float(limits.max)
    result = numpy.where(is_low | is_high, 0, rounded).astype(dtype)
    return numpy.where(is_low, dtype.type(limits.min),
                       numpy.where(is_high, dtype.type(limits.max), result))


def is_finite(array):
    return array.dtype.kind != "f" or numpy.isfinite(array).all()


def cast(chain, array):
    if not draw.is_computed(array) or not is_finite(array):
        return None
    dtype = chain.random.choice(draw.INTEGERS + draw.FLOATS)
    chain.define("cast", accel.dtype_number(dtype), shown=dtype)
    return saturated(array, dtype)


def draw_quantization(random):
    """A scale, and a zero point that any quantized type holds."""
    return numpy.float32(random.choice((0.5, 0.25, 3, 0.1, 7.3))), random.randint(0, 127)


def quantize(chain, array):
    if array.dtype != "f4" or not is_finite(array):
        return None
    scale, zero_point = draw_quantization(chain.random)
    dtype = chain.random.choice(QUANTIZED)
    with numpy.errstate(over="ignore"):
        scaled = array * (numpy.float32(1) / scale)
    if not is_finite(scaled):
        return None
    chain.define("quantize", accel.dtype_number(dtype), accel.ctypes.c_float(scale),
                 accel.ctypes.c_int32(zero_point), shown=(dtype, scale, zero_point))
    limits = numpy.iinfo(dtype)
    values = [min(max(int(numpy.rint(value)) + zero_point, limits.min), limits.max)
              for value in scaled.astype("f8").ravel().tolist()]
    return numpy.array(values, dtype).reshape(array.shape)


def dequantize(chain, array):
    if f"{array.dtype.kind}{array.itemsize}" not in QUANTIZED:
        return None
    scale, zero_point = draw_quantization(chain.random)
    chain.define("dequantize", accel.ctypes.c_float(scale), accel.ctypes.c_int32(zero_point),
                 shown=(scale, zero_point))
    return (array.astype("i8") - zero_point).astype("f4") * scale


# Values as text ---------------------------------------------------------------------------------

def maximum(a, b):
    """NaN if either is; -0 is less than +0."""
    larger = numpy.maximum(a, b)
    return larger if larger.dtype.kind != "f" else \
        numpy.where(a == b, numpy.where(numpy.signbit(a), b, a), larger)


def minimum(a, b):
    lesser = numpy.minimum(a, b)
    return lesser if lesser.dtype.kind != "f" else \
        numpy.where(a == b, numpy.where(numpy.signbit(a), a, b), lesser)


def like(number, array):
    return numpy.array(number, array.dtype)


# Text, and the same of NumPy. What is rounded once by the library is rounded once by it.
OPERATIONS = (
    ("{} + {}", operator.add), ("{} - {}", operator.sub), ("{} * {}", operator.mul),
    ("{} + 7", lambda a: a + like(7, a)), ("{} * 3", lambda a: a * like(3, a)),
    ("-{}", operator.neg), ("abs({})", abs),
    ("min({}, {})", minimum), ("max({}, {})", maximum),
    ("relu({})", lambda a: maximum(a, like(0, a))),
    ("clamp({}, 5, 90)", lambda a: minimum(maximum(a, like(5, a)), like(90, a))),
    ("select({} < {}, {}, {})", lambda a, b, c, d: numpy.where(a < b, c, d)),
    ("select({} != 4, {}, 9)", lambda a, b: numpy.where(a != like(4, a), b, like(9, b))),
)
OF_INTEGERS = OPERATIONS + (("fma({}, {}, {})", lambda a, b, c: a * b + c),)


def draw_value(random, leaves, depth):
    """Text and array of an expression over the leaves, which are pairs of the same."""
    if not depth or random.random() < 0.2:
        return random.choice(leaves)
    is_float = leaves[0][1].dtype.kind == "f"
    text, function = random.choice(OPERATIONS if is_float else OF_INTEGERS)
    operands = [draw_value(random, leaves, depth - 1) for _ in range(text.count("{}"))]
    return "(" + text.format(*(operand for operand, _ in operands)) + ")", \
        function(*(array for _, array in operands))


def add_leaf(chain, array, axes, extents):
    """An input over some of the axes, in any order, and the same for NumPy to broadcast."""
    chosen = chain.random.sample(range(len(axes)), chain.random.randint(1, min(2, len(axes))))
    values = draw.random_array(chain.random, array.dtype, [extents[axis] for axis in chosen])
    name = chain.add_input(values)
    ascending = values.transpose(numpy.argsort(chosen))
    shape = [extents[axis] if axis in chosen else 1 for axis in range(len(axes))]
    return f"{name}[{','.join(axes[axis] for axis in chosen)}]", ascending.reshape(shape)


def compute(chain, array):
    """Several sources, broadcast, with an axis that only others have now and then."""
    random = chain.random
    if not draw.is_computed(array) or array.ndim > 5 or array.size > draw.MAX_ELEMENTS:
        return None
    axes, extents = axis_names(array.ndim), list(array.shape)
    leaves = [(f"{chain.name}[{','.join(axes)}]", array)]
    if random.random() < 0.2:
        axes.append("outer")
        extents.append(random.randint(1, 3))
        leaves[0] = (leaves[0][0], array[..., None])
    leaves += [add_leaf(chain, array, axes, extents)
               for _ in range(random.choice((0, 1, 1, 2, 3, 5)))]
    with numpy.errstate(all="ignore"):
        text, result = draw_value(random, leaves, random.randint(1, 3))
    order = random.sample(range(len(axes)), len(axes))
    written = [f"{axes[axis]}<{extents[axis]}" for axis in order]
    chain.write(written, text)
    return numpy.broadcast_to(result, extents).transpose(order)


TRANSFORMS = (cast, quantize, dequantize, compute, compute)
