// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace hierbar {

// Removes the name `path` of an open file of this user, unless the name belongs to another file by
// now.
//
// unlink() cannot check whose name it removes. So the file is first renamed to a name that nobody
// else knows, and then checked. A file that has lost its name in error gets it back at once. If a
// third file has taken the name in that moment, the second one stays without a name. Processes that
// have it open go on. A meeting whose ranks do not find each other for this reason ends at its
// deadline.
//
// A process that is killed in between leaves a name that begins with `path`. sweep_meetings() finds
// it.
void remove_name(const std::string& path, int descriptor);

}  // namespace hierbar
