// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace hierbar::mpi {

// Writes one line to the standard error output. It is one write(), so that lines of several ranks
// do not mix.
void say(const std::string& text);

}  // namespace hierbar::mpi
