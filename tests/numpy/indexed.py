# SPDX-License-Identifier: MIT
"""Steps of a chain that are definitions as text: gather, scatter, and choices by conditions."""

import numpy

import draw
from chain import axis_names


def load(chain, indices):
    return f"{chain.name}[{','.join(indices)}]"


def gather_text(chain, array):
    """An axis by a tensor of indices, times a step and with an offset; the axes in any order."""
    random = chain.random
    if not array.size or array.ndim > 4 or array.size > draw.MAX_ELEMENTS:
        return None
    axis, step, offset = random.randrange(array.ndim), random.choice((1, 1, 2)), \
        random.choice((0, 0, 1))
    extent = (array.shape[axis] - offset - 1) // step + 1
    if extent < 1:
        return None
    rows = draw.draw_indices(random, extent, [random.randint(1, 6)
                                         for _ in range(random.randint(1, 2))])
    names = axis_names(array.ndim)
    looked_up = [f"r{k}" for k in range(rows.ndim)]
    index = f"{chain.add_input(rows)}[{','.join(looked_up)}]"
    index = f"{step}*{index}" if step > 1 else index
    names[axis] = f"{index} + {offset}" if offset else index
    axes = looked_up + [name for k, name in enumerate(names) if k != axis]
    order = random.sample(range(len(axes)), len(axes))
    chain.write([axes[k] for k in order], load(chain, names))
    taken = numpy.take(array, rows.astype("i8") * step + offset, axis)
    front = range(axis, axis + rows.ndim)
    return numpy.moveaxis(taken, front, range(rows.ndim)).transpose(order)


def scatter_text(chain, array):
    """Elements go where their axis's indices say, and 0 is elsewhere."""
    random = chain.random
    if not array.size or not array.ndim or array.size > draw.MAX_ELEMENTS:
        return None
    axis = random.randrange(array.ndim)
    extent = array.shape[axis] + random.randint(0, 3)
    rows = numpy.array(random.sample(range(extent), array.shape[axis]), "i4")
    names = axis_names(array.ndim)
    axes = list(names)
    axes[axis] = f"{chain.add_input(rows)}[{names[axis]}]<{extent}"
    chain.write(axes, load(chain, names))
    shape = list(array.shape)
    shape[axis] = extent
    result = numpy.zeros(shape, array.dtype)
    result[(slice(None),) * axis + (rows,)] = array
    return result


def padding_text(chain, array):
    """A load where a condition holds, and a number elsewhere."""
    random = chain.random
    if not draw.is_computed(array) or not array.size or array.size > draw.MAX_ELEMENTS:
        return None
    axis = random.randrange(array.ndim)
    before, after, number = random.randint(0, 3), random.randint(0, 3), random.randint(0, 100)
    names = axis_names(array.ndim)
    index = f"i{axis}-{before}"
    indices = list(names)
    indices[axis] = index
    axes = list(names)
    axes[axis] = f"i{axis}<{before + array.shape[axis] + after}"
    chain.write(axes, f"select(0 <= {index} and {index} < {array.shape[axis]}, "
                      f"{load(chain, indices)}, {number})")
    margins = [(0, 0)] * array.ndim
    margins[axis] = (before, after)
    return numpy.pad(array, margins, constant_values=number)


def choice(chain, array):
    """The element itself or another, as a condition over axes says."""
    random = chain.random
    if not array.size or array.ndim < 1 or array.size > draw.MAX_ELEMENTS:
        return None
    axis, other = (random.randrange(array.ndim) for _ in range(2))
    limit, grid = random.randint(0, array.shape[axis]), numpy.indices(array.shape, sparse=True)
    text, holds = random.choice((
        (f"i{axis} < {limit}", grid[axis] < limit),
        (f"i{axis} % 2 == 0", grid[axis] % 2 == 0),
        (f"i{axis} + i{other} <= {limit}", grid[axis] + grid[other] <= limit),
        (f"i{axis} == i{other} or i{axis} > {limit}",
         (grid[axis] == grid[other]) | (grid[axis] > limit)),
    ))
    names = axis_names(array.ndim)
    turned = list(names)
    turned[axis] = f"{array.shape[axis] - 1} - {names[axis]}"
    chain.write(names, f"select({text}, {load(chain, names)}, {load(chain, turned)})")
    return numpy.where(holds, array, numpy.flip(array, axis))


TRANSFORMS = (gather_text, scatter_text, padding_text, choice)
