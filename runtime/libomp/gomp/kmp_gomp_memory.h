// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_GOMP_MEMORY_H
#define KMP_GOMP_MEMORY_H

// Allocators. Called by kmp_alloc.cpp and kmp_settings.cpp.

#include "kmp.h"
#include "libomp/gomp/kmp_gomp_messages.h"

// The predefined allocators for constant, low-latency and threads' memory have no memory of their
// own here, and the default one serves, as with GCC's library. Other programs are warned of that,
// as by libomp, which then had no memory for them.
bool __kmp_gomp_stand_in(const char *allocator); // always true

// Whether OMP_ALLOCATOR sets such an allocator, which omp_get_default_allocator() then returns.
// libomp takes the default one.
bool __kmp_gomp_keep_allocator(omp_allocator_handle_t allocator);

// omp_realloc() of a block that came from a pool, of programs that GCC compiled. GCC's library asks
// the pool for the difference of both sizes only, where libomp asks for room for both blocks. So
// the old block does not count from the loan's begin to its end, while the new one is allocated, be
// it from the pool itself or because another allocator falls back to it. If another thread is given
// that room meanwhile, the pool holds so many bytes more than its size until blocks are freed.
class kmp_gomp_pool_loan_t {
public:
  // `block` is the old block's descriptor, or NULL. What a device's library allocates has no
  // descriptor.
  template <class Descriptor> explicit kmp_gomp_pool_loan_t(const Descriptor *block) {
    if (!block || !__kmp_gomp_is_loaded_for_gcc())
      return;
    kmp_allocator_t *const pool = block->allocator;
    if ((omp_allocator_handle_t)pool <= kmp_max_mem_alloc || pool->pool_size == 0)
      return;
    used_ = &pool->pool_used;
    size_ = block->size_a;
    KMP_TEST_THEN_ADD64((kmp_int64 *)used_, -(kmp_int64)size_);
  }

  void end() {
    if (used_)
      KMP_TEST_THEN_ADD64((kmp_int64 *)used_, (kmp_int64)size_);
  }

private:
  kmp_uint64 *used_ = NULL;
  size_t size_ = 0;
};

#endif // KMP_GOMP_MEMORY_H
