// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "base/shared_calls.hpp"

// A fence in every running thread of the process, at the cost of whoever asks for it: the system
// call membarrier(2), in its private expedited form. It interrupts the cpus on which threads of the
// process run. A thread that does not run passes a fence when it is switched.
//
// It is 7 µs long beside one running thread, and 0.1 µs where no other thread runs.

namespace hierbar {

// The kernel's numbers. Some systems' headers are older than their kernels.
enum class Membarrier : int {
  kQuery = 0,
  kPrivateExpedited = 1 << 3,
  kRegisterPrivateExpedited = 1 << 4,
};

// The kernel's answer; below 0 where it has no such call, or where a filter refuses it.
inline long membarrier(Membarrier command) noexcept {
#if defined(SYS_membarrier)
  return syscall(SYS_membarrier, static_cast<int>(command), 0, 0);
#else
  static_cast<void>(command);
  errno = ENOSYS;
  return -1;
#endif
}

// Calls once. A child of fork() may have to register for itself.
inline bool call_membarrier() noexcept {
  if (membarrier(Membarrier::kPrivateExpedited) == 0) return true;
  return errno == EPERM && membarrier(Membarrier::kRegisterPrivateExpedited) == 0 &&
         membarrier(Membarrier::kPrivateExpedited) == 0;
}

// Registers this process. Returns whether fence_threads() works here. To be called early: where
// other threads run already, it can take some ms.
inline bool can_fence_threads() noexcept {
  constexpr long kNeeded = static_cast<long>(Membarrier::kPrivateExpedited) |
                           static_cast<long>(Membarrier::kRegisterPrivateExpedited);
  const long commands = membarrier(Membarrier::kQuery);
  return commands >= 0 && (commands & kNeeded) == kNeeded &&
         membarrier(Membarrier::kRegisterPrivateExpedited) == 0 && call_membarrier();
}

inline SharedCalls thread_fences;

// Lets every other thread of the process pass a full fence between two of its instructions, while
// the call runs. Threads that call at the same time share the system call (SharedCalls). False: the
// system has begun to refuse it, as a sandbox does that is entered late. The caller then must not
// rely on the fence. It has been kept for a moment in which others may use the cpu.
inline bool fence_threads() noexcept {
  if (thread_fences.pass(call_membarrier, [] { sched_yield(); })) return true;
  const timespec moment{0, 50'000};
  nanosleep(&moment, nullptr);
  return false;
}

}  // namespace hierbar
