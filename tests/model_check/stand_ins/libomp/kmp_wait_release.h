// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kmp.h"
#include "verifier.hpp"

// Replaces libomp's kmp_wait_release.h: the flags for which threads wait. A wait ends in a load of
// the word without any order. A release is an atomic addition of 4.
template <bool kCancellable = false, bool kSleepable = true>
class kmp_flag_64 {
  volatile kmp_uint64 *word_;
  kmp_uint64 expected_ = 0;

 public:
  kmp_flag_64(volatile kmp_uint64 *word, kmp_info_t *) : word_(word) {}
  kmp_flag_64(volatile kmp_uint64 *word, kmp_uint64 expected) : word_(word), expected_(expected) {}
  kmp_flag_64(volatile kmp_uint64 *word, kmp_uint64 expected, std::atomic<bool> *)
      : word_(word), expected_(expected) {}

  virtual bool done_check() { return __atomic_load_n(word_, __ATOMIC_RELAXED) == expected_; }
  virtual bool done_check_val(kmp_uint64 value) { return value == expected_; }
  virtual bool notdone_check() { return !done_check(); }
  void suspend(int) {}
  void resume(int) {}

  void wait(kmp_info_t *, int) {
    hierbar::model::wait_until(
        [this] { return __atomic_load_n(word_, __ATOMIC_RELAXED) == expected_; });
  }
  void release() { __atomic_fetch_add(word_, KMP_BARRIER_STATE_BUMP, __ATOMIC_SEQ_CST); }
};

template <class Flag, bool kFinalSpin>
void __kmp_wait_template(kmp_info_t *, Flag *) {}
