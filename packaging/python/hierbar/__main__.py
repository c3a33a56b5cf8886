# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m hierbar COMMAND [OPTION...] [--] [PROGRAM [ARGUMENT...]]: runs `hierbar`."""

import os
import sys

from hierbar.command_line import command_line


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "hierbar")
    os.execv(program, [program, *command_line(sys.argv[1:])])


if __name__ == "__main__":
    main()
