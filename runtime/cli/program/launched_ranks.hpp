// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>

#include "base/environment.hpp"
#include "cli/program/program.hpp"

namespace hierbar {

// How many ranks a command of MPICH's launcher starts on this node: the sum of its -n and -np.
// Nothing if it does not say, or if the ranks may be on other nodes as well, since the command or
// the environment names hosts or this is a batch job.
std::optional<std::uint32_t> ranks_on_this_node(const Program& command, const Environment& environment);

}  // namespace hierbar
