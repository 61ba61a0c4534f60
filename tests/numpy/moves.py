# SPDX-License-Identifier: MIT
"""Steps of a chain that move elements and leave their bits alone."""

import numpy

import accel
import draw
from chain import axis_names


def permute(chain, array):
    axes = list(range(array.ndim))
    chain.random.shuffle(axes)
    chain.define("permute", accel.unsigned(axes), shown=axes)
    return array.transpose(axes)


def reshape(chain, array):
    shape = list(array.shape)
    if len(shape) > 1 and chain.random.random() < 0.6:
        axis = chain.random.randrange(len(shape) - 1)
        shape[axis:axis + 2] = [shape[axis] * shape[axis + 1]]
    axis = chain.random.randrange(len(shape))
    divisors = [d for d in range(1, min(shape[axis], 64) + 1) if shape[axis] % d == 0]
    if divisors and len(shape) < 6:
        divisor = chain.random.choice(divisors)
        shape[axis:axis + 1] = [shape[axis] // divisor, divisor]
    chain.define("reshape", accel.U32(len(shape)), accel.integers(shape), shown=shape)
    return array.reshape(shape)


def slice_text(chain, array):
    parts, index = [], []
    for extent in array.shape:
        start, stop = (chain.random.choice((None, chain.random.randint(-extent - 1, extent + 1)))
                       for _ in range(2))
        step = chain.random.choice((None, 1, 1, 2, 3, -1, -2))
        if chain.random.random() < 0.5:
            start = stop = step = None
        parts.append(f"{'' if start is None else start}:{'' if stop is None else stop}" +
                     ("" if step is None else f":{step}"))
        index.append(slice(start, stop, step))
    text = ",".join(parts)
    chain.define("slice", text.encode(), shown=text)
    return array[tuple(index)]


def pad(chain, array):
    before = [chain.random.choice((0, 0, 1, 2, 3)) for _ in array.shape]
    after = [chain.random.choice((0, 0, 1, 2, 5)) for _ in array.shape]
    if numpy.prod([sum(x) for x in zip(before, array.shape, after)]) > 4 * draw.MAX_ELEMENTS:
        return None
    value = draw.random_array(chain.random, array.dtype, ())
    chain.define("pad", accel.integers(before), accel.integers(after),
                 accel.bits(value, array.dtype), shown=(before, after, value))
    result = numpy.full([sum(x) for x in zip(before, array.shape, after)], value, array.dtype)
    result[tuple(slice(b, b + n) for b, n in zip(before, array.shape))] = array
    return result


def pack(chain, array):
    """Splits an axis by a factor that need not divide it, its inner part last."""
    axis = chain.random.randrange(array.ndim)
    if array.ndim > 5 or array.size * 2 > 4 * draw.MAX_ELEMENTS or not array.size:
        return None
    factor = chain.random.choice((2, 3, 4, 8, 16))
    names = axis_names(array.ndim)
    outputs = [f"i{axis}//{factor}" if name == f"i{axis}" else name for name in names]
    text = f"({', '.join(names)}) -> ({', '.join(outputs)}, i{axis}%{factor})"
    value = draw.random_array(chain.random, array.dtype, ())
    chain.define("map", text, accel.bits(value, array.dtype), by_map=True, shown=(text, value))
    blocks = -(-array.shape[axis] // factor)
    # a shorter axis than the factor makes a block of its own length
    inner = min(factor, array.shape[axis])
    widened = numpy.full((*array.shape[:axis], blocks * inner, *array.shape[axis + 1:]), value,
                         array.dtype)
    widened[tuple(slice(0, extent) for extent in array.shape)] = array
    split = widened.reshape(*array.shape[:axis], blocks, inner, *array.shape[axis + 1:])
    return numpy.moveaxis(split, axis + 1, -1)


def unpack(chain, array):
    """Takes an outer and an inner axis for one, and drops some of its end."""
    if array.ndim < 2 or not array.size:
        return None
    outer, inner = chain.random.sample(range(array.ndim), 2)
    factor = array.shape[inner]
    whole = array.shape[outer] * factor
    extent = chain.random.randint(max(whole - factor, 1), whole)
    rest = [axis for axis in range(array.ndim) if axis not in (outer, inner)]
    shape = (*(array.shape[axis] for axis in rest), extent)
    names = axis_names(len(shape))
    outputs = [None] * array.ndim
    for place, axis in enumerate(rest):
        outputs[axis] = names[place]
    outputs[outer], outputs[inner] = f"{names[-1]}//{factor}", f"{names[-1]}%{factor}"
    text = f"({', '.join(names)}) -> ({', '.join(outputs)})"
    chain.define("unmap", text, accel.U32(len(shape)), accel.integers(shape), by_map=True,
                 shown=(text, shape))
    moved = array.transpose([*rest, outer, inner])
    return moved.reshape(*moved.shape[:-2], whole)[..., :extent]


def reflect(chain, array):
    """Each index from the other side, in steps: an index map with negative and repeated parts."""
    axis = chain.random.randrange(array.ndim)
    extent = array.shape[axis]
    if not extent or array.size > draw.MAX_ELEMENTS:
        return None
    shape = list(array.shape)
    shape[axis] = 2 * extent
    names = axis_names(array.ndim)
    outputs = list(names)
    outputs[axis] = f"{extent - 1} - i{axis}//2"
    text = f"({', '.join(names)}) -> ({', '.join(outputs)})"
    chain.define("unmap", text, accel.U32(len(shape)), accel.integers(shape), by_map=True,
                 shown=(text, shape))
    return numpy.repeat(numpy.flip(array, axis), 2, axis)


def broadcast(chain, array):
    shape = [3 if extent == 1 else extent for extent in array.shape]
    if chain.random.random() < 0.5:
        shape.insert(0, 2)
    if len(shape) > 6 or numpy.prod(shape) > 2 * draw.MAX_ELEMENTS:
        return None
    chain.define("broadcast", accel.U32(len(shape)), accel.integers(shape), shown=shape)
    return numpy.broadcast_to(array, shape)


def repeat(chain, array):
    axis = chain.random.randrange(array.ndim)
    if array.size * 3 > draw.MAX_ELEMENTS:
        return None
    count = chain.random.randint(1, 3)
    chain.define("repeat", accel.U32(axis), accel.I64(count), shown=(axis, count))
    return numpy.repeat(array, count, axis)


def tile(chain, array):
    counts = [chain.random.choice((1, 1, 2, 3)) for _ in array.shape]
    if array.size * numpy.prod(counts) > 2 * draw.MAX_ELEMENTS:
        return None
    chain.define("tile", accel.integers(counts), shown=counts)
    return numpy.tile(array, counts)


def windows(image, kernel, stride, padding, dilation):
    """(N,Ho,Wo,C,Kh,Kw) of an image (N,C,H,W), and None where there is no window."""
    padded = numpy.zeros((*image.shape[:2], *(extent + 2 * padding[d]
                                             for d, extent in enumerate(image.shape[2:]))),
                         image.dtype)
    padded[:, :, padding[0]:padding[0] + image.shape[2],
           padding[1]:padding[1] + image.shape[3]] = image
    reach = [dilation[d] * (kernel[d] - 1) + 1 for d in range(2)]
    counts = [(padded.shape[2 + d] - reach[d]) // stride[d] + 1 for d in range(2)]
    if min(counts) < 1:
        return None
    result = numpy.zeros((image.shape[0], *counts, image.shape[1], *kernel), image.dtype)
    for ho in range(counts[0]):
        for wo in range(counts[1]):
            top, left = ho * stride[0], wo * stride[1]
            result[:, ho, wo] = padded[:, :, top:top + reach[0]:dilation[0],
                                       left:left + reach[1]:dilation[1]]
    return result


def im2col(chain, array):
    if array.ndim != 4 or not array.size or array.size > draw.MAX_ELEMENTS // 4:
        return None
    kernel, stride, dilation = ([chain.random.randint(1, most) for _ in range(2)]
                                for most in (3, 2, 2))
    padding = [chain.random.randint(0, 2) for _ in range(2)]
    is_nhwc, is_view = chain.random.random() < 0.5, chain.random.random() < 0.5
    image = array.transpose(0, 3, 1, 2) if is_nhwc else array
    result = windows(image, kernel, stride, padding, dilation)
    if result is None or result.size > 4 * draw.MAX_ELEMENTS:
        return None
    request = accel.Im2col(is_nhwc, is_view, accel.integers(kernel), accel.integers(stride),
                           accel.integers(padding), accel.integers(dilation))
    chain.define("im2col", accel.ctypes.byref(request),
                 shown=(is_nhwc, is_view, kernel, stride, padding, dilation))
    if is_view:
        return result
    return result.reshape(int(numpy.prod(result.shape[:3])), -1)


def gather(chain, array):
    axis = chain.random.randrange(array.ndim)
    if not array.shape[axis] or array.ndim > 5 or array.size > draw.MAX_ELEMENTS:
        return None
    shape = draw.random_shape(chain.random, chain.random.randint(1, 2), 12)
    indices = draw.draw_indices(chain.random, array.shape[axis], shape)
    chain.define("gather", accel.U32(axis), chain.add_input(indices).encode(), shown=axis)
    return numpy.take(array, indices.astype("i8"), axis)


def take_along(chain, array):
    axis = chain.random.randrange(array.ndim)
    if not array.size or array.size > draw.MAX_ELEMENTS // 4:
        return None
    shape = list(array.shape)
    shape[axis] = chain.random.randint(1, 4)
    indices = draw.draw_indices(chain.random, array.shape[axis], shape)
    chain.define("take_along", accel.U32(axis), chain.add_input(indices).encode(), shown=axis)
    return numpy.take_along_axis(array, indices.astype("i8"), axis)


def scatter(chain, array):
    axis = chain.random.randrange(array.ndim)
    if not array.size or array.size > draw.MAX_ELEMENTS:
        return None
    count = array.shape[axis]
    extent = count + chain.random.randint(0, 3)
    indices = numpy.array(chain.random.sample(range(extent), count), "i8")
    value = draw.random_array(chain.random, array.dtype, ())
    chain.define("scatter", accel.U32(axis), chain.add_input(indices).encode(), accel.I64(extent),
                 accel.bits(value, array.dtype), shown=(axis, extent, value))
    shape = list(array.shape)
    shape[axis] = extent
    result = numpy.full(shape, value, array.dtype)
    result[(slice(None),) * axis + (indices,)] = array
    return result


def concat(chain, array):
    axis = chain.random.randrange(array.ndim)
    shape = list(array.shape)
    shape[axis] = chain.random.choice(draw.EXTENTS[:8])
    # an array of no elements may be beside a large one
    if array.size > draw.MAX_ELEMENTS // 2 or numpy.prod(shape) > 4 * draw.MAX_ELEMENTS:
        return None
    other = draw.random_array(chain.random, array.dtype, shape)
    parts = [(chain.name, array), (chain.add_input(other), other)]
    chain.random.shuffle(parts)
    result = chain.new_name()
    chain.tell(f"{result} = concat({[name for name, _ in parts]}, {axis})")
    chain.function.join("concat", result, [name for name, _ in parts], axis)
    chain.name = result
    return numpy.concatenate([part for _, part in parts], axis)


def stack(chain, array):
    if array.size > draw.MAX_ELEMENTS // 2 or array.ndim > 5:
        return None
    axis = chain.random.randint(0, array.ndim)
    result = chain.new_name()
    chain.tell(f"{result} = stack({chain.name}, {chain.name}, {axis})")
    chain.function.join("stack", result, [chain.name, chain.name], axis)
    chain.name = result
    return numpy.stack([array, array], axis)


def split(chain, array):
    axis = chain.random.randrange(array.ndim)
    extent = array.shape[axis]
    if extent < 2:
        return None
    first = chain.random.randint(1, extent - 1)
    results = [chain.new_name(), chain.new_name()]
    chain.tell(f"{results} = split({chain.name}, {axis}, {first})")
    chain.function.split(results, chain.name, axis, [first, extent - first])
    taken = chain.random.randrange(2)
    chain.name = results[taken]
    return numpy.split(array, [first], axis)[taken]


def pixel_shuffle(chain, array):
    factors = [r for r in (2, 3) if array.ndim == 4 and array.shape[1] % (r * r) == 0]
    if not factors or not array.size:
        return None
    r = chain.random.choice(factors)
    n, c, h, w = array.shape
    chain.define("pixel_shuffle", accel.I64(r), shown=r)
    return array.reshape(n, c // (r * r), r, r, h, w).transpose(0, 1, 4, 2, 5, 3) \
        .reshape(n, c // (r * r), h * r, w * r)


def space_to_depth(chain, array):
    factors = [r for r in (2, 3, 4) if array.ndim == 4 and array.shape[2] % r == 0 and
               array.shape[3] % r == 0]
    if not factors or not array.size:
        return None
    r = chain.random.choice(factors)
    n, c, h, w = array.shape
    chain.define("space_to_depth", accel.I64(r), shown=r)
    return array.reshape(n, c, h // r, r, w // r, r).transpose(0, 1, 3, 5, 2, 4) \
        .reshape(n, c * r * r, h // r, w // r)


TRANSFORMS = (permute, permute, reshape, slice_text, pad, pack, pack, unpack, reflect, broadcast,
              repeat, tile, im2col, im2col, gather, take_along, scatter, concat, stack, split,
              pixel_shuffle, space_to_depth)
