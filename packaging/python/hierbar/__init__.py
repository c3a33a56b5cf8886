# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Barriers for OpenMP and MPI that follow the machine's tree: see `python -m hierbar --help`.

Importing this does nothing. `python -m hierbar run script.py` starts the script with hierbar's
runtime, which has to be loaded before any other one.
"""
