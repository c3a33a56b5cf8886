// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/node/barrier_block.hpp"

#include "barrier/algorithm.hpp"
#include "mpi/node/rank_host.hpp"

namespace hierbar::mpi {

std::size_t baseline_bytes(Algorithm algorithm, const hierbar_plan& plan) noexcept {
  return barrier_size_bytes<RankMem>(algorithm, plan);
}

void cross_baseline(const BarrierBlock& block, std::uint32_t me, const Waiting& waiting,
                    const WaitDuties& duties) noexcept {
  RankHost host(block, me, waiting, duties);
  RankMem mem(host);
  // RankHost::wait() never aborts.
  static_cast<void>(cross(block.algorithm(), block.plan(), block.baseline_memory(), mem, me));
}

}  // namespace hierbar::mpi
