#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Each operation by itself against NumPy: every type, odd sizes and views of larger arrays.

    tests/numpy/test_operations.py [--device cpu|auto|PATH] [--count N]
"""

import argparse
import random

import accel
import chain
import check
import computes
import draw
import indexed
import tap
import transforms

ATTEMPTS = 200      # inputs that are drawn until one fits the operation


def run_once(device, transform, dtype, seed):
    """One input that fits; False if none was found."""
    chosen = random.Random(seed)
    for _ in range(ATTEMPTS):
        made = chain.Chain(chosen, draw.random_input(chosen, dtype))
        result = transform(made, made.array)
        if result is None:
            continue
        made.array = result
        try:
            check.run(made, device)
        except Exception as error:
            steps = "\n".join(made.told)
            raise AssertionError(f"seed {seed}:\n{steps}\n{error}") from error
        return True
    return False


def run_operation(device, transform, dtype, count):
    if not sum(run_once(device, transform, dtype, seed) for seed in range(count)):
        raise AssertionError("no input fits the operation")


def is_for(transform, dtype):
    dtype = accel.numpy.dtype(dtype)
    if transform is computes.quantize:
        return dtype == "f4"
    if transform is computes.dequantize:
        return f"{dtype.kind}{dtype.itemsize}" in computes.QUANTIZED
    return dtype.kind in "uif" or transform not in (*computes.TRANSFORMS, indexed.padding_text)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--count", type=int, default=12)
    return parser.parse_args()


def main():
    arguments = parse()
    device = accel.Device(arguments.device)
    operations = sorted(set(transforms.TRANSFORMS), key=lambda transform: transform.__name__)
    tap.run([(f"{transform.__name__} of {accel.dtype_name(dtype)}",
              lambda transform=transform, dtype=dtype:
              run_operation(device, transform, dtype, arguments.count))
             for transform in operations for dtype in draw.MOVED if is_for(transform, dtype)])


if __name__ == "__main__":
    main()
