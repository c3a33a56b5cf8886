#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""count_primes.py LIBRARY: for compare_programs.py. Counts the primes up to small limits with
libprimecount, whose libgomp.so.1 is whichever the loader finds, and prints how long a call takes.
Below 1e10 it uses one thread only."""

import ctypes
import statistics
import sys
import time

PRIMES = {"1e10": 455052511, "1e11": 4118054813, "1e12": 37607912018}
SECONDS = 0.1  # for each limit


def main():
    library = ctypes.CDLL(sys.argv[1])
    library.primecount_pi.argtypes = [ctypes.c_int64]
    library.primecount_pi.restype = ctypes.c_int64
    for limit, expected in PRIMES.items():
        library.primecount_pi(int(float(limit)))  # makes the team
        times = []
        while sum(times) < SECONDS:
            start = time.perf_counter()
            found = library.primecount_pi(int(float(limit)))
            times.append(time.perf_counter() - start)
            if found != expected:
                sys.exit(f"count_primes.py: {found} primes up to {limit}, not {expected}")
        print(f"up to {limit}: {statistics.median(times) * 1e6:.3f} us")


if __name__ == "__main__":
    main()
