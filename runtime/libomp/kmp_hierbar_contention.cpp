// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kmp_hierbar_contention.h"

#include "kmp_hierbar.h"

#include <sched.h>

hierbar::Contention __kmp_hierbar_contention;

namespace {

// Of one thread.
struct yields_t {
  kmp_uint64 last; // when it last yielded, in units of KMP_NOW()
  int num_to_time; // how many of its next yields are timed
};

__thread yields_t yields [[gnu::tls_model("initial-exec")]];

// Enough to see whether the yield that took so long was one of many.
constexpr int num_timed_yields = 16;

static_assert(hierbar::Contention::kLong_ns == 1'000'000, "long_time() is a millisecond");

// A long yield, in units of KMP_NOW().
inline kmp_uint64 long_time() {
#if KMP_ARCH_X86 || KMP_ARCH_X86_64
  return __kmp_ticks_per_msec;
#else
  return hierbar::Contention::kLong_ns;
#endif
}

void timed_yield() {
  using hierbar::Contention;
  const kmp_int64 start_ns = Contention::monotonic_now();
  sched_yield();
  const kmp_int64 end_ns = Contention::monotonic_now();
  if (end_ns - start_ns >= Contention::kLong_ns)
    __kmp_hierbar_contention.add_long_yield(start_ns, end_ns);
}

} // namespace

bool __kmp_hierbar_yielded_for_long(int num_threads) {
  return yields.last != 0 && (KMP_NOW() - yields.last) * 100 >= long_time() * (10 + num_threads);
}

// Reading a clock before and after each yield makes barriers of 8 threads on 2 cpus 9 % slower. One
// reading shows whether a long yield can have lain between it and the thread's yield before. Only
// then are the next yields timed; the thread may as well have computed.
void __kmp_hierbar_yield() {
  const kmp_uint64 now = KMP_NOW();
  if (now - yields.last >= long_time())
    yields.num_to_time = num_timed_yields;
  yields.last = now;
  if (yields.num_to_time == 0) {
    sched_yield();
    return;
  }
  --yields.num_to_time;
  timed_yield();
}
