// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace hierbar::mpi {

// Whether this process can let the ranks of its node pass a fence, and they can do so to this one
// (base/membarrier.hpp). A process registers when the shim is loaded. It has one thread
// then, as a rule: with more of them the kernel takes some ms.
bool can_fence_ranks() noexcept;

}  // namespace hierbar::mpi
