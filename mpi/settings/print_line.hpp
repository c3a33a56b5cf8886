// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

// Apart from the settings: the library in front of the shims speaks, and has none.

namespace hierbar::mpi {

// Writes one line to the standard error output. It is one write(), so that lines of several ranks
// do not mix.
void print_line(const std::string& text);

// Whether this process may print for the program. MPI cannot be asked, so the launcher's variables
// must tell.
bool is_first_process();

}  // namespace hierbar::mpi
