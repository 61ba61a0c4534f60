# SPDX-License-Identifier: MIT
"""Compares what the library makes of a chain with what NumPy made of it."""

import numpy

import accel


def compare(found, expected, what):
    """All memory of an output, what is between and around its elements too."""
    # bit for bit, but for the bits of what is no number
    if numpy.array_equal(found, accel.as_bytes(expected)):
        return
    found = found.view(expected.dtype).reshape(expected.shape)
    for index in numpy.ndindex(expected.shape):
        if found[index].tobytes() != expected[index].tobytes() and not \
           (expected.dtype.kind == "f" and numpy.isnan(found[index]) and
                numpy.isnan(expected[index])):
            raise AssertionError(f"{what}: at {index} of memory is {found[index]}, expected "
                                 f"{expected[index]}")


def blank(stored):
    """The same before it is written: other elements, what is between them as it is."""
    junk = numpy.frombuffer(b"\xa5" * stored.array.itemsize, stored.array.dtype)[0]
    return stored.with_elements(junk)


def run(made, device):
    """Runs a chain fused and a pass at a time."""
    function = made.function
    made.finish()
    outputs = [blank(stored) for stored in function.outputs]
    for options in ({}, {"is_unfused": True}):
        found = function.plan(**options).run(device, function.inputs, outputs)
        for memory, output in zip(found, function.outputs):
            compare(memory, output.memory, "unfused" if options else "fused")
