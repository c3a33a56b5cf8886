// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Replaces runtime/base/membarrier.hpp, which makes a system call: the barriers of the
// drivers with real hosts fence where they write. ModelMem has a fence of its own.
namespace hierbar {

class SharedCalls;

inline bool can_fence_threads() noexcept { return false; }
inline bool fence_threads() noexcept { return false; }
inline bool fence_processes(SharedCalls&) noexcept { return false; }

}  // namespace hierbar
