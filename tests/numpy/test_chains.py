#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Random chains of one to five transforms: fused, a pass at a time, and by NumPy.

    tests/numpy/test_chains.py [--count N] [--seed N] [--device cpu|auto|PATH]

A chain that is wrong is told step by step with its seed; --seed SEED --count 1 runs it again.
"""

import argparse
import multiprocessing
import os
import random
import traceback

import accel
import chain
import check
import draw
import tap
import transforms

PARTS = 10          # tests that the chains are counted in

device = None


def run_chain(seed):
    chosen = random.Random(seed)
    made = chain.Chain(chosen, draw.random_input(chosen, chosen.choice(draw.MOVED)))
    try:
        for _ in range(chosen.randint(1, 5)):
            made.step(transforms.TRANSFORMS)
        check.run(made, device)
    except Exception as error:
        steps = "\n".join(made.told)
        raise AssertionError(f"seed {seed}:\n{steps}\n{error}") from error


def run_seeds(seeds):
    """What went wrong first, as text, or None."""
    global device
    device = device or accel.Device(arguments.device)
    for seed in seeds:
        try:
            run_chain(seed)
        except Exception:
            return traceback.format_exc()
    return None


def run_part(pool, seeds):
    jobs = [seeds[k::os.cpu_count()] for k in range(os.cpu_count())]
    for failure in pool.map(run_seeds, jobs):
        if failure:
            raise AssertionError(failure)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    return parser.parse_args()


def main():
    seeds = range(arguments.seed, arguments.seed + arguments.count)
    parts = [seeds[k * len(seeds) // PARTS:(k + 1) * len(seeds) // PARTS] for k in range(PARTS)]
    # each process has the device for itself: nothing of it is shared by a fork
    with multiprocessing.Pool(os.cpu_count()) as pool:
        tap.run([(f"{len(part)} chains from seed {part[0]} agree with NumPy",
                  lambda part=part: run_part(pool, part)) for part in parts if part])


if __name__ == "__main__":
    arguments = parse()
    main()
