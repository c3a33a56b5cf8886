# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Groups and sorts tables of R in many short parallel loops.
#
# /// row data_table
# title = "R data.table"
# debian = ["r-cran-data.table"]
# command = ["Rscript", "--vanilla", "{file}", "{threads}"]
# check = ["Rscript", "--vanilla", "-e", "library(data.table)"]
# time = 'seconds: ([0-9.]+)'
# tolerance = 1e-9
# ///
#
# data_table.R THREADS: groups, joins and sorts of a table with 200,000 rows.
suppressPackageStartupMessages(library(data.table))
setDTthreads(as.integer(commandArgs(trailingOnly = TRUE)[1]))
set.seed(1)
rows <- 200000
table <- data.table(group = sample(1000L, rows, TRUE), other = sample(rows), value = runif(rows))
total <- 0
start <- proc.time()[["elapsed"]]
for (step in 1:10) {
  groups <- table[, .(mean = mean(value), count = .N), by = group]
  setorder(table, other)
  total <- total + sum(groups$mean) + table$value[step]
  setorder(table, group)
}
cat(sprintf("seconds: %.3f\n", proc.time()[["elapsed"]] - start))
cat(sprintf("total: %.9f\n", total))
