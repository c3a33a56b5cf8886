# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# k-means: each iteration is one parallel region over chunks of the points.
#
# /// row scikit_learn
# title = "scikit-learn"
# wheels = ["scikit-learn==1.9.1"]
# command = ["{python}", "{file}"]
# time = 'seconds: ([0-9.]+)'
# tolerance = 1e-6
# # Its matrix products are those of numpy's OpenBLAS, which has threads of its own.
# environment = { OPENBLAS_NUM_THREADS = "1" }
# ///
"""k-means by scikit-learn, from fixed first centres, and boosted trees."""

import time

import numpy
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingRegressor


def main():
    points = numpy.random.default_rng(1).random((20000, 16))
    values = points @ numpy.arange(16)
    start = time.perf_counter()
    clusters = KMeans(32, init=points[:32], n_init=1, max_iter=300, tol=0).fit(points)
    trees = HistGradientBoostingRegressor(max_iter=100, random_state=1).fit(points, values)
    print(f"seconds: {time.perf_counter() - start:.6f}")
    print(f"inertia: {clusters.inertia_:.6f}")
    print(f"score: {trees.score(points, values):.9f}")


if __name__ == "__main__":
    main()
