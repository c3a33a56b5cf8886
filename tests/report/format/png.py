# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the PNG files that browsers write: 8 bits, RGB or RGBA, not interlaced."""

import struct
import zlib


def paeth(left, up, corner):
    to_left, to_up, to_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
    if to_left <= to_up and to_left <= to_corner:
        return left
    return up if to_up <= to_corner else corner


def unfilter(kind, row, above, step):
    """Undoes a row's filter, in place."""
    if kind == 2:  # by far the most frequent
        row[:] = [(value + up) & 255 for value, up in zip(row, above)]
        return
    for i in range(len(row)):
        left, corner = (row[i - step], above[i - step]) if i >= step else (0, 0)
        if kind == 1:
            row[i] = (row[i] + left) & 255
        elif kind == 3:
            row[i] = (row[i] + (left + above[i]) // 2) & 255
        elif kind == 4:
            row[i] = (row[i] + paeth(left, above[i], corner)) & 255


class Image:
    def __init__(self, data):
        assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG file"
        chunks, packed, at = {}, b"", 8
        while at < len(data):
            length, name = struct.unpack_from(">I4s", data, at)
            body = data[at + 8 : at + 8 + length]
            if name == b"IDAT":
                packed += body
            chunks[name] = body
            at += 12 + length
        self.width, self.height, depth, colours, _, _, interlaced = struct.unpack(
            ">IIBBBBB", chunks[b"IHDR"]
        )
        assert depth == 8 and colours in (2, 6) and not interlaced, "a PNG file of another kind"
        self._step = 3 if colours == 2 else 4
        self._rows = self._unpack(zlib.decompress(packed))

    def _unpack(self, raw):
        length = self.width * self._step
        rows, above = [], bytearray(length)
        for y in range(self.height):
            at = y * (length + 1)
            row = bytearray(raw[at + 1 : at + 1 + length])
            if raw[at] != 0:
                unfilter(raw[at], row, above, self._step)
            rows.append(row)
            above = row
        return rows

    def pixel(self, x, y):
        at = int(x) * self._step
        return tuple(self._rows[int(y)][at : at + 3])

    def colours(self, left, top, right, bottom):
        """All colours in a box, for telling a blank one."""
        return {
            self.pixel(x, y)
            for y in range(int(top), int(bottom))
            for x in range(int(left), int(right))
        }
