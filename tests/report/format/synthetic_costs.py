# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Costs of shared channels as `hierbar tune --network --contention` writes them, of a made-up node."""

MACHINE = "pack:2 l3:1 core:4 pu:1"
SIZES = [1024 << i for i in range(18)]  # up to 128 MiB, the most that a file has unless sizes are named
PAIRS = [1, 2, 4, 8]


def slowdown(channel, pairs):
    """An L3 cache slows nobody down, packages are shared fairly, and the network collapses."""
    return {"l3": 1, "package": pairs, "network": pairs * (1 if pairs == 1 else 1.5)}[channel]


def table(channel, start_us, bytes_per_us):
    times = ((size, pairs, (start_us + size / bytes_per_us) * slowdown(channel, pairs)) for size in SIZES for pairs in PAIRS)
    return {"channel": channel, "cells": [[size, pairs, 0.9 * us, us, 1.2 * us] for size, pairs, us in times]}


def costs(sample):
    """`sample` with these costs, for nodes like MACHINE."""
    sample["networks"][-1]["contention"] = {"machine": f"{MACHINE}, 8 cores", "single_copy": "cma", "tables": [
        table("l3", 1, 5000), table("package", 2, 3000), table("network", 100, 12.5)]}
    return sample
