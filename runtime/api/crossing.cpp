// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The functions that participants call in every episode, and the one that aborts them all.

#include <cstdint>

#include "api/episode.hpp"
#include "hierbar/hierbar.h"

static_assert(HIERBAR_BITS_MASK == hierbar::kPayloadMask);

namespace {

using hierbar::ApiMem;
using Crossing = hierbar::Barrier<ApiMem>::Crossing;

// Runs phase(mem) -> Crossing for one participant.
template <class Phase>
hierbar_status run(hierbar_barrier& barrier, std::uint32_t participant, std::uint32_t* all_bits,
                   Phase&& phase) noexcept {
  std::uint32_t bits = 0;
  const hierbar_status status = hierbar::run_episode(barrier, participant, [&](ApiMem& mem) {
    const Crossing crossing = phase(mem);
    bits = crossing.bits;
    return crossing.result;
  });
  if (status == HIERBAR_OK && all_bits != nullptr) *all_bits = bits;
  return status;
}

// Why a call that only the engine can serve is refused, or HIERBAR_OK.
hierbar_status engine_problem(const hierbar_barrier* barrier, std::uint32_t participant,
                              std::uint32_t bits) noexcept {
  if (!hierbar::is_participant(barrier, participant) || bits > HIERBAR_BITS_MASK)
    return HIERBAR_ERR_INVALID;
  return barrier->design.algorithm == hierbar::Algorithm::kHier ? HIERBAR_OK
                                                                : HIERBAR_ERR_UNSUPPORTED;
}

}  // namespace

hierbar_status hierbar_barrier_wait(hierbar_barrier* barrier, std::uint32_t participant) {
  if (!hierbar::is_participant(barrier, participant)) return HIERBAR_ERR_INVALID;
  return run(*barrier, participant, nullptr, [&](ApiMem& mem) {
    if (barrier->design.algorithm == hierbar::Algorithm::kHier)
      return barrier->engine.cross(mem, participant, 0);
    return Crossing{
        hierbar::cross(barrier->design.algorithm, barrier->plan, barrier->lines, mem, participant),
        0};
  });
}

hierbar_status hierbar_barrier_wait_bits(hierbar_barrier* barrier, std::uint32_t participant,
                                         std::uint32_t bits, std::uint32_t* all_bits) {
  if (const hierbar_status problem = engine_problem(barrier, participant, bits);
      problem != HIERBAR_OK)
    return problem;
  return run(*barrier, participant, all_bits,
             [&](ApiMem& mem) { return barrier->engine.cross(mem, participant, bits); });
}

hierbar_status hierbar_barrier_gather(hierbar_barrier* barrier, std::uint32_t participant,
                                      std::uint32_t bits, std::uint32_t* all_bits) {
  if (const hierbar_status problem = engine_problem(barrier, participant, bits);
      problem != HIERBAR_OK)
    return problem;
  return run(*barrier, participant, all_bits, [&](ApiMem& mem) {
    return barrier->engine.gather(mem, participant, bits, [](std::uint32_t) {});
  });
}

hierbar_status hierbar_barrier_release(hierbar_barrier* barrier, std::uint32_t participant,
                                       std::uint32_t bits, std::uint32_t* released_bits) {
  if (const hierbar_status problem = engine_problem(barrier, participant, bits);
      problem != HIERBAR_OK)
    return problem;
  return run(*barrier, participant, released_bits,
             [&](ApiMem& mem) { return barrier->engine.release(mem, participant, bits); });
}

hierbar_status hierbar_barrier_abort(hierbar_barrier* barrier) {
  if (barrier == nullptr) return HIERBAR_ERR_INVALID;
  hierbar::abort_all(*barrier);
  return HIERBAR_OK;
}
