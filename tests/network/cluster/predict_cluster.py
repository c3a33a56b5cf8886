#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""predict_cluster.py --hierbar HIERBAR --alltoall PROGRAM [OPTION]...: real all-to-alls of 8 ranks
on 1 to 8 nodes against what `hierbar predict --measured` says of them. Needs root, and leaves the
machine to itself for some minutes.

A cluster of namespaces, each node with 100 Mbit/s, is measured by `hierbar tune --between-nodes
--contention` on two of its nodes. The sizes of the all-to-alls are not among those of the tables.
It passes if the order of the splits is right where times differ by more than their quartiles
(Kendall's tau is 1), the mean error is at most 20 %, cf pairs take cf times as long as one within
5 %, and the split that is predicted to be the fastest is at most 5 % slower than the fastest. Exit
status: 0, 1, or 77 where there can be no cluster.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from cluster import Cluster, run_contained

RANKS = 8
SPLITS = {"1x8": 1, "2x4": 2, "4x2": 4, "8x1": 8}
SIZES = {"96K": 96 << 10, "384K": 384 << 10}  # held out
MEASURED = "64K,256K,1M"
# All messages are sent at once. Otherwise a receiver's go-ahead waits behind the data of other
# pairs, both directions of the network are no longer busy at the same time, and 4 pairs took up to
# 8 times as long as one.
EAGER = {
    f"btl_tcp_{limit}": str(2 << 20)
    for limit in ("eager_limit", "rndv_eager_limit", "max_send_size")
}


def open_mpi_settings(cluster):
    """Open MPI's parameters on this cluster."""
    return {
        "pml": "ob1",
        "btl": "self,vader,tcp",
        "btl_tcp_if_include": "net0",
        "oob_tcp_if_include": "net0",
        "plm_rsh_agent": cluster.enter,
        "plm_rsh_no_tree_spawn": "1",
        "mpi_yield_when_idle": "1",
        **EAGER,
    }


def open_mpi(cluster, num_nodes, per_node):
    hosts = ",".join(f"{address}:{per_node}" for address in cluster.addresses[:num_nodes])
    settings = [
        word
        for name, value in open_mpi_settings(cluster).items()
        for word in ("--mca", name, value)
    ]
    return [
        "mpiexec.openmpi",
        "--allow-run-as-root",
        *settings,
        "--oversubscribe",
        "--bind-to",
        "none",
        "--host",
        hosts,
        "-n",
        str(num_nodes * per_node),
    ]


def run(cluster, command, timeout, **options):
    status, output, _ = cluster.run(command, timeout, stdout=subprocess.PIPE, **options)
    if status != 0:
        sys.exit(f"{' '.join(command)}: {'no end' if status is None else status}")
    return output


def measure_costs(cluster, hierbar, profile):
    run(
        cluster,
        [
            hierbar,
            "tune",
            "--between-nodes",
            "--contention",
            "--oversubscribed",
            "--quiet",
            "--time-limit",
            "45",
            "--pairs",
            "4",
            "--sizes",
            MEASURED,
            "--output",
            profile,
            "--",
            *open_mpi(cluster, 2, RANKS // 2),
        ],
        300,
    )


def slowdowns(profile):
    """Of large messages between nodes, by pairs."""
    network = json.load(open(profile, encoding="utf-8"))["networks"][-1]
    tables = {table["channel"]: table["cells"] for table in network["contention"]["tables"]}
    largest = max(cell[0] for cell in tables["network"])
    row = {cell[1]: cell[3] for cell in tables["network"] if cell[0] == largest}
    return largest, {pairs: time / row[1] for pairs, time in sorted(row.items())}


def measure_splits(cluster, arguments, size, runs_file):
    """Writes the runs of all splits in turns, as `hierbar predict --measured` reads them, and
    returns their medians in microseconds."""
    runs = {split: [] for split in SPLITS}
    for _ in range(arguments.rounds):
        for split, nodes in SPLITS.items():
            seconds = run(
                cluster,
                [
                    *open_mpi(cluster, nodes, RANKS // nodes),
                    arguments.alltoall,
                    str(size),
                    str(arguments.repetitions),
                ],
                120,
            )
            runs[split] += [1e6 * float(line) for line in seconds.split()]
    with open(runs_file, "w", encoding="utf-8") as file:
        file.writelines(f"{split},{us:.0f}\n" for split, times in runs.items() for us in times)
    return {split: statistics.median(times) for split, times in runs.items()}


def predict(arguments, name, profile, runs_file):
    """What `hierbar predict` says of an all-to-all and of its runs; the text is shown."""
    command = [
        arguments.hierbar,
        "predict",
        "--traffic",
        f"alltoall:{name}",
        "-n",
        str(RANKS),
        "--per-node",
        str(RANKS),
        "--model",
        arguments.model,
        "--network",
        profile,
        "--measured",
        runs_file,
    ]
    outputs = [[], ["--json"]]
    if arguments.html:
        outputs.append(["--html", os.path.join(arguments.html, f"alltoall-{name}.html")])
    text, as_json, *_ = (
        subprocess.run(command + output, stdout=subprocess.PIPE, text=True, check=True).stdout
        for output in outputs
    )
    print(text)
    return json.loads(as_json)


def judge(name, prediction, measured):
    """The findings: a wrong order, or a first choice that was not a good one, on nodes of eight
    cores or of four."""
    failures = []
    tau = prediction["measured"]["kendall_tau"]
    if tau not in (None, 1):
        failures.append(f"{name}: tau {tau}")
    predicted = {
        one["split"]: one["time_us"]["median"]
        for one in prediction["splits"]
        if one["split"] in SPLITS
    }
    for cores in 8, 4:
        possible = [split for split, nodes in SPLITS.items() if RANKS // nodes <= cores]
        first = min(possible, key=predicted.get)
        regret = measured[first] / min(measured[split] for split in possible) - 1
        print(
            f"{name}, up to {cores} ranks on a node: {first} is predicted to be the fastest, and is {100 * regret:.1f} % slower than the "
            f"fastest; on the fewest nodes it takes {measured[possible[0]] / measured[first]:.2f} of its time, on the most "
            f"{measured[possible[-1]] / measured[first]:.2f}"
        )
        if regret > 0.05:
            failures.append(f"{name}: regret {100 * regret:.1f} %")
    return failures


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hierbar", required=True)
    parser.add_argument("--alltoall", required=True)
    parser.add_argument("--model", default="shared")
    parser.add_argument(
        "--profile", help="a file of costs of such a cluster, in place of measuring one"
    )
    parser.add_argument(
        "--rounds", type=int, default=2, help="in each of which every split runs once"
    )
    parser.add_argument("--repetitions", type=int, default=5, help="of the all-to-all in a run")
    parser.add_argument(
        "--html", metavar="DIRECTORY", help="keep the pages of `hierbar predict` there"
    )
    arguments = parser.parse_args()
    failures = []
    with tempfile.TemporaryDirectory() as directory, Cluster(
        RANKS, mbit=100, burst_kb=256
    ) as cluster:
        profile = arguments.profile or os.path.join(directory, "network.json")
        if not arguments.profile:
            measure_costs(cluster, arguments.hierbar, profile)
        largest, slow = slowdowns(profile)
        print(
            f"slowdown of {largest} bytes between nodes, by pairs: {', '.join(f'{k}: {v:.2f}' for k, v in slow.items())}"
        )
        failures += [
            f"slowdown {v:.2f} of {k} pairs"
            for k, v in slow.items()
            if not 0.95 * k <= v <= 1.05 * k
        ]
        errors = []
        for name, size in SIZES.items():
            runs_file = os.path.join(directory, f"{name}.csv")
            measured = measure_splits(cluster, arguments, size, runs_file)
            prediction = predict(arguments, name, profile, runs_file)
            errors.append(prediction["measured"]["mean_error"])
            failures += judge(name, prediction, measured)
        print(f"mean error {100 * statistics.mean(errors):.1f} %")
        failures += ["mean error above 20 %"] if statistics.mean(errors) > 0.2 else []
    print("ok" if not failures else "failed: " + "; ".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    run_contained(main)
