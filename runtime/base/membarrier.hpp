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
//
// The global form does the same for the threads of all processes that have registered for it.
namespace hierbar {

// The kernel's numbers. Some systems' headers are older than their kernels.
enum class Membarrier : int {
  kQuery = 0,
  kGlobalExpedited = 1 << 1,
  kRegisterGlobalExpedited = 1 << 2,
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

// The same for all registered processes. The caller need not be one of them.
inline bool call_global_membarrier() noexcept {
  return membarrier(Membarrier::kGlobalExpedited) == 0;
}

// Registers this process. Returns whether the kernel knows both commands, and lets it call.
inline bool register_for_fences(Membarrier command, Membarrier registration) noexcept {
  const long needed = static_cast<long>(command) | static_cast<long>(registration);
  const long commands = membarrier(Membarrier::kQuery);
  return commands >= 0 && (commands & needed) == needed && membarrier(registration) == 0 &&
         membarrier(command) == 0;
}

// Returns whether fence_threads() works in this process. To be called early: where other threads
// run already, it can take some ms.
inline bool can_fence_threads() noexcept {
  return register_for_fences(Membarrier::kPrivateExpedited, Membarrier::kRegisterPrivateExpedited);
}

// Returns whether fence_processes() works in this process, and reaches its threads from others. To
// be called early, as can_fence_threads(). The registration ends with exec().
inline bool can_fence_processes() noexcept {
  return register_for_fences(Membarrier::kGlobalExpedited, Membarrier::kRegisterGlobalExpedited);
}

inline SharedCalls thread_fences;

// Lets the others pass a full fence between two of their instructions, while call() runs. Those who
// fence at the same time share the call by `calls`. False: the system has begun to refuse it, as a
// sandbox does that is entered late. The caller then must not rely on the fence. It has been kept
// for a moment in which others may use the cpu.
template <class Call>
bool fence_others(SharedCalls& calls, Call&& call) noexcept {
  if (calls.pass(call, [] { sched_yield(); })) return true;
  const timespec moment{0, 50'000};
  nanosleep(&moment, nullptr);
  return false;
}

// The others are all other threads of this process.
inline bool fence_threads() noexcept { return fence_others(thread_fences, call_membarrier); }

// The others are all threads of the processes that have registered. `calls` is in memory that those
// share who fence for the same purpose.
inline bool fence_processes(SharedCalls& calls) noexcept {
  return fence_others(calls, call_global_membarrier);
}

}  // namespace hierbar
