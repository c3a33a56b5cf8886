#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether collectives give the same bits under every plan and binding: collectives_fuzz prints a
checksum over all floating-point results, which depends on its seed and the number of ranks only.

    checksums_test.py --mpi ompi --shim build/release/lib/libhierbar_mpi_ompi.so
        --program build/release/tests/mpi/ompi/collectives_fuzz
"""

import argparse
import re
import sys

import launcher
import run_mpi_test

RANKS = 5
CHECKSUM = re.compile(r"all were right; checksum ([0-9a-f]+)$", re.MULTILINE)
CALLS = "allreduce,bcast,reduce,allgather,alltoall,gather,scatter,reduce_scatter_block"
NAMES_IN_REPORTS = {"reduce_scatter_block": "reduce-scatter"}
# Two L3 caches, so that there are two leaders; ranks take turns on cpus 0 and 1.
TWO_DOMAINS = "HIERBAR_TOPOLOGY=l3:2 core:2 pu:1(indexes=0,2,1,3)"
BOUND = {
    "mpich": ["-bind-to", "user:0,1,0,1,0"],
    "ompi": ["--map-by", "core", "--bind-to", "core:overload-allowed"],
}


def checksum(arguments, settings, options, seed):
    command = [arguments.program, "--served", CALLS, "--rounds", "16", "--seed", str(seed)]
    settings = ["HIERBAR_MPI=collectives", "HIERBAR_VERBOSE=1", *settings]
    line = launcher.launch_command(
        arguments, RANKS, [*settings, f"LD_PRELOAD={arguments.shim}"], options, command
    )
    status, output, errors = launcher.run_to_end(
        line, launcher.launch_environment(arguments), arguments.timeout
    )
    found = CHECKSUM.search(output)
    if status != 0 or not found:
        sys.exit(f"FAILED: {' '.join(settings)}: status {status}\n{output}{errors}")
    served = run_mpi_test.count_ways(errors)
    for call in CALLS.split(","):
        if served[f"{NAMES_IN_REPORTS.get(call, call)}s"] == 0:
            sys.exit(f"FAILED: {' '.join(settings)}: the engine served no {call}\n{errors}")
    return found.group(1)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    launcher.add_arguments(parser)
    parser.add_argument("--shim", required=True)
    parser.add_argument("--program", required=True, help="collectives_fuzz of the family")
    parser.add_argument("--timeout", type=float, default=60, help="seconds of a run (default: 60)")
    arguments = parser.parse_args()
    bound = BOUND[arguments.mpi]
    plans = [([], []), ([], bound), ([TWO_DOMAINS], bound), (["HIERBAR_RELEASE=lines"], [])]
    checksums = [checksum(arguments, settings, options, 1) for settings, options in plans]
    if len(set(checksums)) != 1:
        sys.exit(f"FAILED: the checksums differ: {checksums}")
    if checksum(arguments, [], [], 2) == checksums[0]:
        sys.exit("FAILED: the checksum does not depend on the seed")


if __name__ == "__main__":
    main()
