// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "waits/kmp_hierbar_contention.h"

#include "kmp_hierbar.h"
#include "waits/kmp_hierbar_patience.h"

#include <sched.h>

hierbar::Contention __kmp_hierbar_contention;

namespace {

// Of one thread.
struct yields_t {
  kmp_uint64 last;      // when it last yielded, or was about to, in units of KMP_NOW()
  int num_to_time;      // how many of its next yields are timed
  kmp_uint32 num_early; // calls while waits slept early
};

__thread yields_t yields [[gnu::tls_model("initial-exec")]];

// Enough to see whether the yield that took so long was one of many.
constexpr int num_timed_yields = 16;

// While waits sleep early, one of so many calls yields.
constexpr kmp_uint32 num_early_calls = 64;

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
//
// While waits sleep early, a yield costs a slice of whoever holds the cpu, and the sleep that is
// about to follow gives the cpu away as well. One yield in 64 is enough to see whether that is still
// so. A wait that may not sleep (for a lock or for tasks) yields after every 64 looks, some µs.
void __kmp_hierbar_yield() {
  ++__kmp_hierbar_patience.num_yields;
  const kmp_uint64 now = KMP_NOW();
  const bool is_early = KMP_OVERSUBSCRIBED && __kmp_hierbar_sleeps_early();
  if (is_early || now - yields.last >= long_time())
    yields.num_to_time = num_timed_yields;
  yields.last = now;
  if (is_early && ++yields.num_early % num_early_calls != 0)
    return;
  if (yields.num_to_time == 0) {
    sched_yield();
    return;
  }
  --yields.num_to_time;
  timed_yield();
}
