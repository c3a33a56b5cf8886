# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Additive models of R, whose matrices are made by OpenMP's threads.
#
# /// row mgcv
# title = "R mgcv"
# debian = ["r-cran-mgcv"]
# command = ["Rscript", "--vanilla", "{file}", "{threads}"]
# check = ["Rscript", "--vanilla", "-e", "library(mgcv)"]
# time = 'seconds: ([0-9.]+)'
# tolerance = 1e-6
# ///
#
# mgcv.R THREADS: fits a model with four smooth terms to 20,000 points, with discretised covariates.
suppressPackageStartupMessages(library(mgcv))
threads <- as.integer(commandArgs(trailingOnly = TRUE)[1])
set.seed(1)
points <- suppressMessages(gamSim(1, n = 20000, dist = "normal", scale = 2, verbose = FALSE))
start <- proc.time()[["elapsed"]]
model <- bam(y ~ s(x0) + s(x1) + s(x2) + s(x3, k = 40), data = points, discrete = TRUE,
             nthreads = threads)
cat(sprintf("seconds: %.3f\n", proc.time()[["elapsed"]] - start))
cat(sprintf("deviance: %.6f\n", deviance(model)))
