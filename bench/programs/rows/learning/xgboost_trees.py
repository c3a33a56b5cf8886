# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Trees on small data, with histograms.
#
# /// row xgboost
# title = "XGBoost"
# wheels = ["xgboost==3.2.0"]
# command = ["{python}", "{file}"]
# time = 'seconds: ([0-9.]+)'
# tolerance = 1e-5
# ///
"""Boosted trees by XGBoost on 10,000 points."""

import time

import numpy
import xgboost


def main():
    points = numpy.random.default_rng(1).random((10000, 20))
    values = numpy.sin(points @ numpy.arange(20))
    data = xgboost.DMatrix(points, label=values)
    settings = {"tree_method": "hist", "max_depth": 6, "seed": 1}
    xgboost.train(settings, data, num_boost_round=5)  # bins the points
    start = time.perf_counter()
    model = xgboost.train(settings, data, num_boost_round=100)
    print(f"seconds: {time.perf_counter() - start:.6f}")
    print(f"sum: {float(model.predict(data).sum()):.3f}")


if __name__ == "__main__":
    main()
