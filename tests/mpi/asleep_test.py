#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stops random ranks for a while, again and again, and looks whether the program still ends as it
should.

    asleep_test.py --shim build/release/lib/libhierbar_mpi.so --times 10 PROGRAM

PROGRAM watches its barriers (barriers oracle). At least one stop must fall into them.
"""

import argparse
import os
import random
import signal
import sys
import time

import kill_test

NUM_ROUNDS = 5000
ASLEEP_S = 0.05


def stop_for_a_while(rank):
    """Returns whether the rank was there."""
    try:
        os.kill(rank, signal.SIGSTOP)
        time.sleep(ASLEEP_S)
        os.kill(rank, signal.SIGCONT)
    except ProcessLookupError:
        return False
    return True


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kill_test.add_arguments(parser)
    arguments = parser.parse_args()
    generator = random.Random(arguments.seed)
    process = kill_test.start(arguments, ["oracle", str(NUM_ROUNDS)])
    program = os.path.basename(arguments.program)
    if not kill_test.wait_until(
        lambda: len(kill_test.ranks_of(process, program)) == kill_test.RANKS
    ):
        print("FAILED: the ranks do not appear")
        process.terminate()
        return 1
    ranks = kill_test.ranks_of(process, program)
    num_stops = 0
    while num_stops < arguments.times and process.poll() is None:
        time.sleep(generator.uniform(0, 0.05))
        num_stops += stop_for_a_while(generator.choice(ranks))
    if not kill_test.wait_until(lambda: process.poll() is not None):
        print(f"FAILED: the program hangs after {num_stops} stops")
        process.terminate()
        return 1
    print(f"{num_stops} stops, the program returned {process.returncode}")
    return 0 if process.returncode == 0 and num_stops > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
