# SPDX-License-Identifier: MIT
"""TAP for tests written in Python: functions of a module, in the order in which they stand."""

import sys
import traceback


def say(number, name, failure=None):
    if failure:
        print("".join(f"# {line}\n" for line in failure.rstrip().split("\n")), end="")
    print(f"{'not ok' if failure else 'ok'} {number} - {name}", flush=True)


def run(tests):
    """Runs pairs of a name and a function, each of which raises an exception to fail."""
    failed = 0
    print(f"1..{len(tests)}", flush=True)
    for number, (name, test) in enumerate(tests, 1):
        failure = None
        try:
            test()
        except Exception:
            failure = traceback.format_exc()
            failed += 1
        say(number, name, failure)
    sys.exit(1 if failed else 0)
