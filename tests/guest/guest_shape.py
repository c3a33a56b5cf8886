# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shape of a virtual machine, and QEMU's options for it."""

import argparse
import dataclasses

# Every cpu is a thread of QEMU. With more of them a boot takes minutes where there is no KVM.
MAX_CPUS = 64


@dataclasses.dataclass(frozen=True)
class Shape:
    """Each count is for one unit of the line above it."""

    packages: int
    numa: int
    l3: int
    cores: int
    threads: int

    @property
    def num_nodes(self):
        return self.packages * self.numa

    @property
    def num_cpus(self):
        return self.num_nodes * self.l3 * self.cores * self.threads

    def __str__(self):
        return (f"{self.packages} packages x {self.numa} NUMA nodes x {self.l3} L3 x {self.cores} cores x {self.threads} threads: "
                f"{self.num_cpus} cpus")


def parse(text):
    """Parses PACKAGESxNUMAxL3xCORES[xTHREADS], for argparse."""
    words = text.split("x")
    if len(words) not in (4, 5) or not all(word.isdigit() and int(word) > 0 for word in words):
        raise argparse.ArgumentTypeError(f"'{text}': must be PACKAGESxNUMAxL3xCORES[xTHREADS], such as 2x2x1x4; "
                                         "each a positive number, per unit of the one before")
    shape = Shape(*map(int, words + ["1"] * (5 - len(words))))
    if shape.num_cpus > MAX_CPUS:
        raise argparse.ArgumentTypeError(f"'{text}': has {shape.num_cpus} cpus; at most {MAX_CPUS} are allowed")
    return shape


def qemu_options(shape, memory_mib):
    """QEMU's options. QEMU numbers cpus in the order of the tree, and gives each die one L3."""
    dies = shape.numa * shape.l3
    options = ["-smp", f"{shape.num_cpus},sockets={shape.packages},dies={dies},cores={shape.cores},threads={shape.threads}",
               "-m", f"{memory_mib}M"]
    cpus_per_node = shape.num_cpus // shape.num_nodes
    # The last node gets the remainder.
    part_mib = memory_mib // shape.num_nodes
    for node in range(shape.num_nodes):
        size_mib = part_mib if node + 1 < shape.num_nodes else memory_mib - part_mib * node
        first = node * cpus_per_node
        options += ["-object", f"memory-backend-ram,id=memory{node},size={size_mib}M",
                    "-numa", f"node,nodeid={node},cpus={first}-{first + cpus_per_node - 1},memdev=memory{node}"]
    for node in range(shape.num_nodes):
        for other in range(shape.num_nodes):
            if node != other:
                distance = 12 if node // shape.numa == other // shape.numa else 32
                options += ["-numa", f"dist,src={node},dst={other},val={distance}"]
    return options
