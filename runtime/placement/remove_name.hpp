// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace hierbar {

// Removes the name `path` of an open file of this user, unless it has become another file's.
//
// unlink() cannot tell whose name it removes, so the name is changed first, to one that nobody else
// knows, and then looked at. Who loses its name in error gets it back at once. If that name has
// been taken in this moment by a third file, it stays without: who has the file open goes on, and a
// meeting whose ranks do not find each other ends at its deadline.
//
// A process that is killed in between leaves a name that begins with `path`, for a sweep.
void remove_name(const std::string& path, int descriptor);

}  // namespace hierbar
