// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_CRITICAL_H
#define KMP_HIERBAR_CRITICAL_H

// The fast path into and out of a critical section or a lock without contention: one
// read-modify-write each, as in GCC's library. libomp's own path checks for tools, ITT and the
// consistency check before and after it, and finds the lock's functions in a table.
//
// The patch calls these first; where they return false nothing has been done.

#include "kmp.h"
#include "kmp_lock.h"
#include "libomp/barrier/kmp_hierbar_waits.h"
#include "libomp/kmp_hierbar_front.h"

// Whether a lock that was found taken has become free. Otherwise the caller sleeps.
static inline bool __kmp_hierbar_awaits_lock(const volatile kmp_int32 *word, kmp_int32 free) {
  return __kmp_hierbar_enabled && __kmp_hierbar_poll_lock(word, free);
}

#if KMP_USE_FUTEX && KMP_USE_DYNAMIC_LOCK

// (L1) Acquire: pairs with the exchange (L2) of the thread that held the lock before, or with that
// of __kmp_release_futex_lock().
static inline bool __kmp_hierbar_take_lock(void *lock, int gtid) {
  volatile kmp_int32 *const word = (volatile kmp_int32 *)lock;
  return __kmp_hierbar_is_unwatched() &&
         KMP_COMPARE_AND_STORE_ACQ32(word, KMP_LOCK_FREE(futex),
                                     KMP_LOCK_BUSY((gtid + 1) << 1, futex)); // (L1)
}

// (L2) A full barrier; pairs with (L1). The tag of a lock never changes, so a plain read finds it.
static inline bool __kmp_hierbar_free_lock(void *lock) {
  volatile kmp_int32 *const word = (volatile kmp_int32 *)lock;
  const kmp_int32 held = *word;
  if (!__kmp_hierbar_is_unwatched() || KMP_EXTRACT_D_TAG(&held) != locktag_futex)
    return false;
  const kmp_int32 before = KMP_XCHG_FIXED32(word, KMP_LOCK_FREE(futex)); // (L2)
  if (UNLIKELY((KMP_LOCK_STRIP(before) & 1) != 0))
    __kmp_hierbar_wake_at_lock(word);
  return true;
}

// The same as __kmp_hierbar_take_lock() if the caller does not know the thread's number yet.
static inline bool __kmp_hierbar_take_lock(void *lock) {
  const int gtid = __kmp_hierbar_known_gtid();
  return gtid >= 0 && __kmp_hierbar_take_lock(lock, gtid);
}

#else

static inline bool __kmp_hierbar_take_lock(void *, int) { return false; }
static inline bool __kmp_hierbar_take_lock(void *) { return false; }
static inline bool __kmp_hierbar_free_lock(void *) { return false; }

#endif

#endif // KMP_HIERBAR_CRITICAL_H
