# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Trees on small data: each split has some parallel regions.
#
# /// row lightgbm
# title = "LightGBM"
# wheels = ["lightgbm==4.7.0"]
# command = ["{python}", "{file}"]
# time = 'seconds: ([0-9.]+)'
# tolerance = 1e-6
# ///
"""Boosted trees by LightGBM on 10,000 points."""

import time

import lightgbm
import numpy


def main():
    points = numpy.random.default_rng(1).random((10000, 20))
    values = numpy.sin(points @ numpy.arange(20))
    data = lightgbm.Dataset(points, values)
    settings = {"objective": "regression", "verbosity": -1, "deterministic": True}
    settings |= {"force_row_wise": True, "seed": 1}
    lightgbm.train(settings, data, num_boost_round=5)  # bins the points
    start = time.perf_counter()
    model = lightgbm.train(settings, data, num_boost_round=100)
    print(f"seconds: {time.perf_counter() - start:.6f}")
    print(f"sum: {model.predict(points).sum():.6f}")


if __name__ == "__main__":
    main()
