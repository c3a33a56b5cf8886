// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace hierbar::mpi {

// libhierbar_ompt.so in this process, if the OpenMP runtime has loaded it.

bool is_ompt_tool_loaded();

// Returns its report so far, in JSON; an empty string if there is none. With `take` the tool
// forgets what it has returned.
std::string read_ompt_tool(bool take);

}  // namespace hierbar::mpi
