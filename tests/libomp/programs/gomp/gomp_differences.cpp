// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Where programs that GCC compiled could rely on what only GCC's library does: what is the same
// here, and what they are told of.

// BUILD: gcc
// TEST: realloc_within_a_pool realloc_between_pools realloc_in_the_fallback
// TEST: limit_of_nested_regions
//   CHECK: --expect "thread_limit.3. limits each parallel region"
// TEST: limit_of_one_region
//   CHECK: --reject "thread_limit.3. limits each parallel region"
// TEST: hard_pause
//   CHECK: --expect "may survive a hard pause"
// TEST no_warnings: hard_pause
//   ENV: KMP_WARNINGS=off
//   CHECK: --reject "may survive a hard pause"
// TEST: nestable_lock_of_another_task
//   CHECK: --expect "nests, because another task of the same thread holds the lock"
// TEST no_warnings: nestable_lock_of_another_task
//   ENV: KMP_WARNINGS=off
//   CHECK: --reject "nests, because another task of the same thread holds the lock"

#include <omp.h>

#include <cstring>

#include "tests/libomp/programs/check.hpp"

namespace {

// The old block does not count while it is reallocated; else no block of more than half the pool
// could be.
void realloc_within_a_pool() {
  const omp_alloctrait_t traits[] = {{omp_atk_pool_size, 4096},
                                     {omp_atk_fallback, omp_atv_null_fb}};
  const omp_allocator_handle_t pool = omp_init_allocator(omp_default_mem_space, 2, traits);
  const int size = 3000, larger = 3500;
  for (int round = 0; round < 100; ++round) {
    void* block = omp_alloc(size, pool);
    CHECK(block != nullptr);
    std::memset(block, round, size);
    block = omp_realloc(block, larger, pool, pool);
    CHECK(block != nullptr);
    CHECK(omp_realloc(block, 8192, pool, pool) == nullptr);
    CHECK(omp_alloc(size, pool) == nullptr);  // the block counts again
    for (int i = 0; i < size; ++i) CHECK_EQUAL(static_cast<char*>(block)[i], round);
    block = omp_realloc(block, 100, pool, pool);
    CHECK(block != nullptr);
    omp_free(block, pool);
  }
  omp_destroy_allocator(pool);
}

// The new block comes from another pool, so lending the old one's room gives it none.
void realloc_between_pools() {
  const omp_alloctrait_t traits[] = {{omp_atk_pool_size, 4096},
                                     {omp_atk_fallback, omp_atv_null_fb}};
  const omp_allocator_handle_t pool = omp_init_allocator(omp_default_mem_space, 2, traits);
  const omp_allocator_handle_t other = omp_init_allocator(omp_default_mem_space, 2, traits);
  for (int round = 0; round < 100; ++round) {
    void* block = omp_realloc(nullptr, 3000, pool, omp_null_allocator);
    CHECK(block != nullptr);
    block = omp_realloc(block, 3000, other, pool);
    CHECK(block != nullptr);
    void* const second = omp_alloc(3000, pool);  // the pool is empty again
    CHECK(second != nullptr);
    CHECK(omp_realloc(block, 3000, pool, other) == nullptr);
    block = omp_realloc(block, 3000, omp_default_mem_alloc, other);
    CHECK(block != nullptr);
    omp_free(block, omp_default_mem_alloc);
    omp_free(second, pool);
  }
  omp_destroy_allocator(pool);
  omp_destroy_allocator(other);
}

// The block lives in the pool to which the asked one, too small, falls back.
void realloc_in_the_fallback() {
  const omp_alloctrait_t large_traits[] = {{omp_atk_pool_size, 4096},
                                           {omp_atk_fallback, omp_atv_null_fb}};
  const omp_allocator_handle_t large = omp_init_allocator(omp_default_mem_space, 2, large_traits);
  const omp_alloctrait_t small_traits[] = {{omp_atk_pool_size, 512},
                                           {omp_atk_fallback, omp_atv_allocator_fb},
                                           {omp_atk_fb_data, static_cast<omp_uintptr_t>(large)}};
  const omp_allocator_handle_t small = omp_init_allocator(omp_default_mem_space, 3, small_traits);
  for (int round = 0; round < 100; ++round) {
    void* block = omp_alloc(3000, small);
    CHECK(block != nullptr);
    block = omp_realloc(block, 3500, small, small);
    CHECK(block != nullptr);
    CHECK(omp_realloc(block, 8192, small, small) == nullptr);
    omp_free(block, small);
  }
  omp_destroy_allocator(small);
  omp_destroy_allocator(large);
}

void open_team_with_limit(int nested_threads) {
#pragma omp target
  {
    omp_set_max_active_levels(3);
#pragma omp teams num_teams(1) thread_limit(3)
    for (int round = 0; round < 10; ++round) {
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(nested_threads)
      CHECK(omp_get_num_threads() <= 3);
    }
  }
}

void limit_of_nested_regions() { open_team_with_limit(2); }

// Two levels of which one is active.
void limit_of_one_region() { open_team_with_limit(1); }

void hard_pause() {
#pragma omp parallel num_threads(2)
  CHECK_EQUAL(omp_get_num_threads(), 2);
  for (int round = 0; round < 3; ++round) {
    CHECK_EQUAL(omp_pause_resource_all(omp_pause_hard), 0);
#pragma omp parallel num_threads(2)
    CHECK_EQUAL(omp_get_num_threads(), 2);
  }
}

// GCC's library would wait here, for ever.
void nestable_lock_of_another_task() {
  omp_nest_lock_t lock;
  omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(2)
  {
    omp_set_nest_lock(&lock);
#pragma omp task if (0) shared(lock)
    {
      omp_set_nest_lock(&lock);
      omp_unset_nest_lock(&lock);
    }
    omp_unset_nest_lock(&lock);
  }
  omp_destroy_nest_lock(&lock);
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"realloc_within_a_pool", realloc_within_a_pool},
                             {"realloc_between_pools", realloc_between_pools},
                             {"realloc_in_the_fallback", realloc_in_the_fallback},
                             {"limit_of_nested_regions", limit_of_nested_regions},
                             {"limit_of_one_region", limit_of_one_region},
                             {"hard_pause", hard_pause},
                             {"nestable_lock_of_another_task", nestable_lock_of_another_task}});
}
