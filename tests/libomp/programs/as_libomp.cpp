// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Programs that Clang compiled find libomp's behaviour where that differs from GCC's library, and
// are not told of that library.

// BUILD: clang
// TEST stock_pattern: nestable_lock_of_another_task realloc_within_a_pool
//   ENV: KMP_BARRIER
//   CHECK: --reject GCC
// TEST: nestable_lock_of_another_task
//   CHECK: --reject GCC
// TEST preloaded: nestable_lock_of_another_task
//   ENV: LD_PRELOAD=$tests_library_dir/libgomp.so.1
//   CHECK: --reject GCC
// TEST stock_pattern: predefined_allocators
//   ENV: KMP_BARRIER
//   CHECK: --expect-some "Allocator omp_const_mem_alloc is not available, will use default"
//     --expect-some "Allocator omp_thread_mem_alloc is"
// TEST stock_pattern: default_allocator
//   ENV: KMP_BARRIER OMP_ALLOCATOR=omp_const_mem_alloc
//   CHECK: --expect-some "Allocator omp_const_mem_alloc is not available, will use default"

#include <omp.h>

#include <cstring>

#include "tests/libomp/programs/check.hpp"

namespace {

void nestable_lock_of_another_task() {
  omp_nest_lock_t lock;
  omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(2)
  {
    omp_set_nest_lock(&lock);
#pragma omp task if (0)
    {
      omp_set_nest_lock(&lock);
      omp_unset_nest_lock(&lock);
    }
    omp_unset_nest_lock(&lock);
  }
  omp_destroy_nest_lock(&lock);
}

// Of these the unmodified library says that it uses the default one, and returns no memory.
void predefined_allocators() {
  for (const omp_allocator_handle_t allocator :
       {omp_const_mem_alloc, omp_low_lat_mem_alloc, omp_cgroup_mem_alloc, omp_pteam_mem_alloc,
        omp_thread_mem_alloc}) {
    void* const memory = omp_alloc(100, allocator);
    CHECK(memory != nullptr);
    std::memset(memory, 1, 100);
    omp_free(memory, allocator);
  }
}

void default_allocator() { CHECK_EQUAL(omp_get_default_allocator(), omp_default_mem_alloc); }

void realloc_within_a_pool() {
  omp_alloctrait_t traits[] = {{omp_atk_pool_size, 4096}, {omp_atk_fallback, omp_atv_null_fb}};
  const omp_allocator_handle_t pool = omp_init_allocator(omp_default_mem_space, 2, traits);
  void* const block = omp_alloc(3000, pool);
  CHECK(block != nullptr);
  CHECK(omp_realloc(block, 3500, pool, pool) == nullptr);  // no room for both
  omp_free(block, pool);
  omp_destroy_allocator(pool);
}

}  // namespace

int main(int argc, char** argv) {
  return omp_test::run_case(argc, argv,
                            {{"nestable_lock_of_another_task", nestable_lock_of_another_task},
                             {"predefined_allocators", predefined_allocators},
                             {"default_allocator", default_allocator},
                             {"realloc_within_a_pool", realloc_within_a_pool}});
}
