// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "barrier/real_mem.hpp"

namespace hierbar::mpi {

struct NobodyWaits {};
inline NobodyWaits nobody_waits;

// The memory of a team's words outside the engine. Its waits are loops of their own, so the host
// has nothing to do. CallerTurns and PlanChange are templates over it; the tests run them on
// simulated memory.
using TeamMem = RealMem<NobodyWaits>;
inline TeamMem team_mem() noexcept { return TeamMem(nobody_waits); }

}  // namespace hierbar::mpi
