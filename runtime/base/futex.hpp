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

// The system call futex(2), not of the private kind: `word` may be shared by processes. It has a
// file of its own because the model checker knows no system calls and puts a model in its place
// (tests/model_check/stand_ins).
inline void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
                  const timespec* limit) noexcept {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, limit, nullptr, 0);
}

}  // namespace hierbar
