// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/node/fences.hpp"

#include "base/membarrier.hpp"

namespace hierbar::mpi {
namespace {

// Whether it has worked is asked later, where it matters.
[[gnu::constructor]] void register_early() noexcept {
  membarrier(Membarrier::kRegisterGlobalExpedited);
}

}  // namespace

// Once more, because a child of fork() may not be registered.
bool can_fence_ranks() noexcept { return can_fence_processes(); }

}  // namespace hierbar::mpi
