// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

namespace hierbar {

// A program for a 32-bit machine may have been compiled with times of 64 bits (_TIME_BITS=64), and
// then brings its limits to the call that was made for them. The older one would read such a limit
// as two numbers of 32 bits, of which the second is not the nanoseconds.
#if defined(SYS_futex_time64) && defined(SYS_futex)
inline constexpr long kFutexCall = sizeof(timespec::tv_sec) > sizeof(long) ? SYS_futex_time64
                                                                           : SYS_futex;
#elif defined(SYS_futex_time64)
inline constexpr long kFutexCall = SYS_futex_time64;
#else
inline constexpr long kFutexCall = SYS_futex;
#endif

// The system call futex(2), not of the private kind: `word` may be shared by processes. It has a
// file of its own because the model checker knows no system calls and puts a model in its place
// (tests/model_check/stand_ins).
inline void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
                  const timespec* limit) noexcept {
  syscall(kFutexCall, reinterpret_cast<std::uint32_t*>(&word), operation, value, limit, nullptr, 0);
}

}  // namespace hierbar
