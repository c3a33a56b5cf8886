# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs of fuzz targets that are text, many in one file: corpus/<target>.txt. replay.cpp reads it too.

    == name of an input
    its lines

A backslash at the end of a line joins it with the next one, or says that the input has no newline
there. \\\\ is a backslash, \\xNN any other byte.
"""

import re

HEAD = b"== "
SPECIAL = re.compile(rb"\\|[^\n\t\x20-\x7e]|^=(?== )", re.MULTILINE)


def escaped(found):
    return b"\\\\" if found[0] == b"\\" else b"\\x%02x" % found[0][0]


def pack(inputs):
    """The text of a file with these inputs: a dictionary of names and bytes."""
    text = b""
    for name, content in sorted(inputs.items()):
        text += HEAD + name.encode() + b"\n" + SPECIAL.sub(escaped, content)
        if content and not content.endswith(b"\n"):
            text += b"\\\n"
    return text


def unpack(text):
    """The inputs of a file, by name."""
    inputs, name = {}, None
    for line in text.splitlines(keepends=True):
        if line.startswith(HEAD):
            name = line[len(HEAD) :].strip().decode()
            inputs[name] = b""
        elif name is not None:
            inputs[name] += unescaped(line)
    return inputs


def unescaped(line):
    def byte(found):
        if found[1] == b"\n":
            return b""
        return b"\\" if found[1] == b"\\" else bytes([int(found[1][1:], 16)])

    return re.sub(rb"\\(\n|\\|x[0-9a-f]{2})", byte, line)
