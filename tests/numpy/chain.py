# SPDX-License-Identifier: MIT
"""Random chains of transforms, each step told to the library and done by NumPy.

A step takes the array so far and adds its definition to the function; it returns what NumPy makes
of it, or None where the step does not fit the array. No step draws from anything but the given
random.Random, so that a seed replays a chain.
"""

import numpy

import accel
import arrange
import draw


class Chain:
    """A function that grows step by step, and the arrays that its tensors must be equal to."""

    def __init__(self, random, array):
        self.random = random
        self.function = accel.Function()
        self.told = []                  # the steps, for a person
        self.count = 0
        self.array = array
        self.name = self.add_input(array)

    def new_name(self):
        self.count += 1
        return f"t{self.count - 1}"

    def tell(self, text):
        self.told.append(text if len(text) < 300 else text[:300] + "...")

    def add_input(self, array):
        """A tensor with these elements, as the array is or in a layout; its name."""
        name, arranged = self.new_name(), None
        if self.random.random() < 0.15:
            padding = draw.random_array(self.random, array.dtype, ())
            arranged = arrange.draw_arrangement(self.random, array, padding)
        if arranged:
            self.function.input_arranged(name, arranged)
        else:
            self.function.input_like(name, array)
        where = f"as {arranged.text}" if arranged else f"strides {array.strides}"
        elements = array.reshape(-1)[:20].tolist()
        self.tell(f"{name}: {array.dtype} {array.shape} {where}: {elements}")
        return name

    def step(self, transforms):
        """One more step, of those that fit."""
        while True:
            result = self.random.choice(transforms)(self, self.array)
            if result is None:
                continue
            assert result.size <= 16 * draw.MAX_ELEMENTS
            self.array = result
            return

    def define(self, operation, *arguments, by_map=False, shown=None):
        """The next tensor by an operation on the one before."""
        result = self.new_name()
        self.tell(f"{result} = {operation}({self.name}, {shown})")
        if by_map:
            self.function.map(operation, result, self.name, *arguments)
        else:
            self.function.operate(operation, result, self.name, *arguments)
        self.name = result

    def write(self, axes, value):
        """The next tensor by text: its axes, as they are written, and its value."""
        result = self.new_name()
        text = f"{result}[{','.join(axes)}] = {value}"
        self.tell(text)
        self.function.define(text)
        self.name = result

    def finish(self):
        """Asks for the last tensor: row-major, as a view of a larger array, or in a layout."""
        where = self.random.random()
        if where < 0.2:
            self.tell("to a view")
            self.function.output_like(self.name, self.within_larger())
        elif where < 0.4:
            self.finish_arranged()
        else:
            self.function.output(self.name, accel.Strided(numpy.ascontiguousarray(self.array)))

    def finish_arranged(self):
        padding = draw.random_array(self.random, self.array.dtype, ())
        arranged = arrange.draw_arrangement(self.random, self.array, padding)
        if not arranged:
            self.function.output(self.name, accel.Strided(numpy.ascontiguousarray(self.array)))
            return
        self.tell(f"as {arranged.text}, padding {padding}")
        self.function.output_arranged(self.name, arranged,
                                      accel.bits(padding, self.array.dtype))

    def within_larger(self):
        """The array as a view, with steps and margins, of memory with other elements."""
        random, array = self.random, self.array
        axes = random.sample(range(array.ndim), array.ndim)
        steps, margins = [random.choice((1, 1, 1, -1)) for _ in axes], [0 for _ in axes]
        if axes:
            steps[random.randrange(len(axes))] = random.choice((1, 2, -2))
            margins[random.randrange(len(axes))] = random.randint(0, 3)
        shape = [array.shape[axis] * abs(step) + 2 * margin
                 for axis, step, margin in zip(axes, steps, margins)]
        base = numpy.full(shape, draw.random_array(random, array.dtype, ()), array.dtype)
        index = tuple(slice(margin, extent - margin)
                      for extent, margin in zip(base.shape, margins))
        view = base[index][tuple(slice(None, None, step) for step in steps)]
        view = view.transpose(numpy.argsort(axes))
        view[...] = array
        return accel.Strided(view)


def axis_names(rank):
    return [f"i{axis}" for axis in range(rank)]
