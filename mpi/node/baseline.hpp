// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "barrier/algorithm_names.hpp"
#include "plan/plan.h"

namespace hierbar::mpi {

class BarrierBlock;
struct Waiting;
struct WaitDuties;

// The baselines among the ranks of a node, for comparison (HIERBAR_ALGORITHM). They wait as the
// engine does (RankHost): every rank that waits makes progress, and sleeps after a while. They are
// compiled apart from the engine.

// The memory of a baseline: the same number of bytes for each slot of the plan.
std::size_t baseline_bytes(Algorithm algorithm, const hierbar_plan& plan) noexcept;

// One crossing of the block's baseline, as participant `me`.
void cross_baseline(const BarrierBlock& block, std::uint32_t me, const Waiting& waiting, const WaitDuties& duties) noexcept;

}  // namespace hierbar::mpi
