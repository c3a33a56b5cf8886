# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What bench/model predicts for a machine that a file of the bench bundle describes.

barrier_model reads hwloc's XML and a matrix of latencies. Both are written here from the file, for
the cpus that were allowed there, numbered from 0 along the machine's tree."""

import json
import pathlib
import subprocess
import tempfile
import xml.etree.ElementTree as xml

# hwloc's types of the labels of `hierbar topo --json`, outermost first. A unit without a label is a
# group. NUMA nodes are memory, which stands beside the tree.
TYPES = (
    ("package", "Package"),
    ("die", "Die"),
    ("l3", "L3Cache"),
    ("cluster", "Group"),
    ("l2", "L2Cache"),
    ("core", "Core"),
)
CACHE_DEPTHS = {"L3Cache": "3", "L2Cache": "2"}
LIMIT_S = 300
# More than any machine has. A number behind it in a file of others would only take memory.
MOST_CPUS = 1 << 16

# A figure of the benchmark by its construct and configuration, and the model's: command, row,
# quantity.
PREDICTED = {
    ("barrier", "hier"): ("compare", "hier", "period"),
    ("isolated", "hier"): ("compare", "hier", "isolated"),
    ("parallel", "hier"): ("region", "lean", "period"),
    **{
        ("parallel", name): ("region", name, "period")
        for name in ("hyper", "linear", "tree", "dist")
    },
}


class ModelError(Exception):
    """Why there is no prediction."""


def cpus_of(text):
    """The kernel's list format: "0-3,8"."""
    cpus = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        if int(last or first) >= MOST_CPUS:
            raise ValueError(f"there is no cpu {last or first}")
        cpus += range(int(first), int(last or first) + 1)
    return cpus


def bitmap(bits):
    """As hwloc writes it: words of 32 bits, the highest first."""
    words = [bits >> shift & 0xFFFFFFFF for shift in range(0, max(bits.bit_length(), 1), 32)]
    return ",".join(f"0x{word:08x}" for word in reversed(words))


def bits_of(text):
    """The reverse of bitmap()."""
    return int("".join(word.removeprefix("0x") for word in text.split(",")), 16)


class Tree:
    """The allowed part of a machine's tree. `numbers` has the new number of each cpu."""

    def __init__(self, topology):
        self.units = topology["units"]
        self.allowed = set(cpus_of(topology["allowed"]))
        self.children = {i: [] for i in range(len(self.units))}
        for i, unit in enumerate(self.units):
            if unit["parent"] is not None:
                if unit["parent"] >= i:
                    raise ValueError(f"unit {i} is not behind its parent")
                self.children[unit["parent"]].append(i)
        self.numbers = {}
        for i, unit in enumerate(self.units):
            if not self.children[i]:  # a core; units are in the order of the tree
                for cpu in sorted(self.cpus(unit)):
                    self.numbers[cpu] = len(self.numbers)
        self.num_nodes = self.num_objects = 0

    def cpus(self, unit):
        return self.allowed.intersection(cpus_of(unit["cpus"]))

    def xml(self):
        """hwloc's XML."""
        root = xml.Element("topology", version="2.0")
        self.add(root, "Machine", self.cpus(self.units[0]), os_index="0")
        self.fill(root[0], 0)
        if self.num_nodes == 0:
            self.add_node(root[0], self.cpus(self.units[0]))
        self.finish(root[0])
        sets = {f"allowed_{name}": root[0].get(name) for name in ("cpuset", "nodeset")}
        root[0].attrib.update(sets)
        return xml.tostring(root, encoding="unicode")

    def add(self, parent, kind, cpus, **attributes):
        bits = bitmap(sum(1 << self.numbers[cpu] for cpu in cpus))
        self.num_objects += 1
        more = {"gp_index": str(self.num_objects), "cpuset": bits, "complete_cpuset": bits}
        if kind in CACHE_DEPTHS:
            more |= {
                "depth": CACHE_DEPTHS[kind],
                "cache_size": "0",
                "cache_linesize": "64",
                "cache_associativity": "0",
                "cache_type": "0",
            }
        return xml.SubElement(parent, "object", type=kind, **more, **attributes)

    def add_node(self, parent, cpus):
        self.add(parent, "NUMANode", cpus, os_index=str(self.num_nodes))
        self.num_nodes += 1

    def fill(self, place, index):
        """Adds what a unit is, one object in the other, and what is in it."""
        unit = self.units[index]
        cpus = self.cpus(unit)
        kinds = [kind for label, kind in TYPES if label in unit["labels"]]
        if not kinds and index and "numa" not in unit["labels"]:
            kinds = ["Group"]
        for position, kind in enumerate(kinds):
            number = {} if kind in CACHE_DEPTHS else {"os_index": str(index)}
            place = self.add(place, kind, cpus, **number)
            if position == 0 and "numa" in unit["labels"]:
                self.add_node(place, cpus)
        if not kinds and "numa" in unit["labels"]:
            if index:
                place = self.add(place, "Group", cpus)
            self.add_node(place, cpus)
        for child in self.children[index]:
            if self.cpus(self.units[child]):
                self.fill(place, child)
        if not self.children[index]:
            for cpu in sorted(cpus):
                self.add(place, "PU", {cpu}, os_index=str(self.numbers[cpu]))

    def finish(self, element):
        """Every object names the NUMA nodes of its cpus."""
        nodes = [one for one in element.iter("object") if one.get("type") == "NUMANode"]
        for one in element.iter("object"):
            cpus = bits_of(one.get("cpuset"))
            here = sum(
                1 << int(node.get("os_index"))
                for node in nodes
                if bits_of(node.get("cpuset")) & cpus
                and (one.get("type") != "NUMANode" or one is node)
            )
            one.attrib.update({"nodeset": bitmap(here), "complete_nodeset": bitmap(here)})


def latency_matrix(tree, latencies):
    """CSV for barrier_model: one exclusive transfer, as it is calibrated to; None without figures.

    A class of pairs was sampled, so most fields are empty."""
    found = {}
    for one in (latencies or {}).get("classes", []):
        for pair in one["pairs"]:
            first, second = (tree.numbers.get(cpu) for cpu in pair["cpus"])
            if first is not None and second is not None:
                found[max(first, second), min(first, second)] = pair["cas_ns"]["median"]
    if not found:
        return None
    lines = []
    for row in range(max(row for row, _ in found) + 1):
        fields = [found.get((row, column)) for column in range(row)]
        lines.append(",".join("" if field is None else f"{field:.1f}" for field in fields))
    return "\n".join([",", *lines[1:]]) + "\n"


class Model:
    """Predictions of barrier_model, `program`, for one machine. `problems` has a line for each of
    its runs that gave none."""

    def __init__(self, program, results):
        self.program = program
        self.tree = Tree(results["machine"]["topology"])
        self.matrix = latency_matrix(self.tree, results["latencies"])
        self.known, self.problems = {}, []
        cores = [i for i, inside in self.tree.children.items() if not inside]
        self.num_cores = sum(bool(self.tree.cpus(self.tree.units[i])) for i in cores)

    def predict(self, construct, configuration, threads):
        """{"median_ns", "least_ns", "most_ns"} over the parameter sets; None where there is no
        prediction: of other constructs and runtimes, and of more threads than cores."""
        wanted = PREDICTED.get((construct, configuration))
        if wanted is None or threads > self.num_cores:
            return None
        command, row, quantity = wanted
        if (command, threads) not in self.known:
            try:
                self.known[command, threads] = self.run(command, threads)
            except ModelError as problem:
                self.known[command, threads] = []
                self.problems.append(f"{command}, {threads} threads: {problem}")
        return next(
            (
                {key: one[quantity][key] for key in ("median_ns", "least_ns", "most_ns")}
                for one in self.known[command, threads]
                if one["name"] == row
            ),
            None,
        )

    def run(self, command, threads):
        """The rows of one command."""
        count = "--participants" if command == "compare" else "--threads"
        with tempfile.TemporaryDirectory() as directory:
            topology = pathlib.Path(directory) / "machine.xml"
            topology.write_text(self.tree.xml(), encoding="utf-8")
            line = [self.program, command, "--topology", topology, count, str(threads), "--json"]
            if self.matrix:
                (topology.parent / "latencies.csv").write_text(self.matrix, encoding="utf-8")
                line[-1:-1] = ["--c2c", topology.parent / "latencies.csv"]
            try:
                done = subprocess.run(line, capture_output=True, text=True, timeout=LIMIT_S)
            except (OSError, subprocess.TimeoutExpired) as error:
                raise ModelError(str(error)) from error
        if done.returncode != 0:
            raise ModelError(done.stderr.strip())
        return json.loads(done.stdout)["rows"]
