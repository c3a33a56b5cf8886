# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyPI's LightGBM and scikit-learn in one process, then, with the argument `pool`, forked processes
that use OpenMP.

Prints results, how long they took, the cpus of the process, of a later thread and of a subprocess,
and which files of OpenMP runtimes are loaded.
"""

import multiprocessing
import os
import re
import subprocess
import sys
import threading
import time

import joblib  # noqa: F401  sets KMP_INIT_AT_FORK
import lightgbm
import numpy
from sklearn.ensemble import HistGradientBoostingRegressor

RUNTIME = re.compile(r"/lib(gomp|omp|iomp5)[-.][^/]*$")
random = numpy.random.RandomState(0)
samples = random.rand(3000, 10)
values = samples[:, 0] * 3 + samples[:, 1] ** 2


def fit(rounds):
    model = HistGradientBoostingRegressor(max_iter=rounds, random_state=0).fit(samples, values)
    return f"{model.predict(samples).sum():.8f}"


def print_cpus():
    of_thread = []
    thread = threading.Thread(target=lambda: of_thread.append(len(os.sched_getaffinity(0))))
    thread.start()
    thread.join()
    of_subprocess = int(subprocess.run(["nproc"], stdout=subprocess.PIPE, check=True).stdout)
    print(
        f"cpus process {len(os.sched_getaffinity(0))} thread {of_thread[0]} subprocess {of_subprocess}"
    )


def main():
    begin = time.monotonic()
    settings = {"verbose": -1, "deterministic": True, "num_leaves": 15, "seed": 1}
    model = lightgbm.train(settings, lightgbm.Dataset(samples, values), 20)
    print(f"lightgbm {model.predict(samples).sum():.8f}")
    print(f"scikit-learn {fit(10)}")
    print(f"seconds {time.monotonic() - begin:.3f}")
    print_cpus()
    with open("/proc/self/maps", encoding="utf-8") as maps:
        files = {line.split()[-1] for line in maps}
    print("runtimes", *sorted(file for file in files if RUNTIME.search(file)), flush=True)
    if sys.argv[1:] == ["pool"]:
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print("pool", *pool.map(fit, [5, 5]))


main()
