// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "symbol/code_place.hpp"

namespace hierbar {

// Fills in `frames` and `symbol` of a place whose object and address are known, from the object's
// file and the file with its debug information, which is looked for where debuggers do: by build id
// in /usr/lib/debug, or by the name and checksum that the file gives. Nothing is asked of a
// network. Changes nothing if the file is not the one that was in memory, or if there is no
// libdw.so.1. The files stay open. Both functions are called by one thread at a time.
void read_debug_info(CodePlace& place);

void close_debug_files();

}  // namespace hierbar
