// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Allocators and their memory under the version names that GCC 9 to 12 gave their functions, as
// gomp_versions.cpp does it for others.

// The compiler's libgomp may be older than the versions that this program names.
// BUILD: gcc -L$library_dir
// TEST: omp_5_0_1 omp_5_0_2
//   CHECK: --counter fast==40

#include <omp.h>

#include <cstdint>
#include <cstring>

#include "gomp_versioned.hpp"

extern "C" {
VERSIONED(uintptr_t, omp_init_allocator, "OMP_5.0.1", uintptr_t, int, const omp_alloctrait_t*);
VERSIONED(uintptr_t, omp_init_allocator_, "OMP_5.0.1", const uintptr_t*, const int32_t*,
          const omp_alloctrait_t*);
VERSIONED(uintptr_t, omp_init_allocator_8_, "OMP_5.0.1", const uintptr_t*, const int64_t*,
          const omp_alloctrait_t*);
VERSIONED(void, omp_destroy_allocator, "OMP_5.0.1", uintptr_t);
VERSIONED(void, omp_destroy_allocator_, "OMP_5.0.1", const uintptr_t*);
VERSIONED(void, omp_set_default_allocator, "OMP_5.0.1", uintptr_t);
VERSIONED(void, omp_set_default_allocator_, "OMP_5.0.1", const uintptr_t*);
VERSIONED(uintptr_t, omp_get_default_allocator, "OMP_5.0.1", void);
VERSIONED(uintptr_t, omp_get_default_allocator_, "OMP_5.0.1", void);
VERSIONED(void*, omp_alloc, "OMP_5.0.1", size_t, uintptr_t);
VERSIONED(void, omp_free, "OMP_5.0.1", void*, uintptr_t);

VERSIONED(void*, omp_aligned_alloc, "OMP_5.0.2", size_t, size_t, uintptr_t);
VERSIONED(void*, omp_calloc, "OMP_5.0.2", size_t, size_t, uintptr_t);
VERSIONED(void*, omp_aligned_calloc, "OMP_5.0.2", size_t, size_t, size_t, uintptr_t);
VERSIONED(void*, omp_realloc, "OMP_5.0.2", void*, size_t, uintptr_t, uintptr_t);
}

namespace {

using omp_test::cross_some_barriers;

void use(void* memory, size_t size) {
  CHECK(memory != nullptr);
  std::memset(memory, 1, size);
}

void omp_5_0_1() {
  const omp_alloctrait_t traits[] = {{omp_atk_alignment, 256}, {omp_atk_pool_size, 4096}};
  const uintptr_t space = omp_default_mem_space;
  const int32_t two = 2;
  const int64_t long_two = 2;
  const uintptr_t allocators[] = {versioned_omp_init_allocator(space, 2, traits),
                                  versioned_omp_init_allocator_(&space, &two, traits),
                                  versioned_omp_init_allocator_8_(&space, &long_two, traits)};
  const uintptr_t initial = versioned_omp_get_default_allocator();
  CHECK_EQUAL(initial, omp_default_mem_alloc);
  for (const uintptr_t& allocator : allocators) {
    CHECK(allocator != omp_null_allocator);
    if (allocator == allocators[0]) {
      versioned_omp_set_default_allocator(allocator);
    } else {
      versioned_omp_set_default_allocator_(&allocator);
    }
    CHECK(versioned_omp_get_default_allocator() == allocator);
    CHECK(versioned_omp_get_default_allocator_() == allocator);
    void* const memory = versioned_omp_alloc(1000, omp_null_allocator);
    use(memory, 1000);
    CHECK_EQUAL(reinterpret_cast<uintptr_t>(memory) % 256, 0);
    versioned_omp_free(memory, omp_null_allocator);
    versioned_omp_set_default_allocator(initial);
    if (allocator == allocators[0]) {
      versioned_omp_destroy_allocator(allocator);
    } else {
      versioned_omp_destroy_allocator_(&allocator);
    }
  }
  cross_some_barriers();
}

void omp_5_0_2() {
  void* memory = versioned_omp_aligned_alloc(512, 100, omp_default_mem_alloc);
  use(memory, 100);
  CHECK_EQUAL(reinterpret_cast<uintptr_t>(memory) % 512, 0);
  memory = versioned_omp_realloc(memory, 10000, omp_default_mem_alloc, omp_default_mem_alloc);
  CHECK_EQUAL(static_cast<char*>(memory)[99], 1);
  use(memory, 10000);
  versioned_omp_free(memory, omp_default_mem_alloc);
  char* const zeros = static_cast<char*>(versioned_omp_calloc(10, 100, omp_default_mem_alloc));
  char* const aligned =
      static_cast<char*>(versioned_omp_aligned_calloc(128, 10, 100, omp_default_mem_alloc));
  CHECK_EQUAL(reinterpret_cast<uintptr_t>(aligned) % 128, 0);
  for (int i = 0; i < 1000; ++i) CHECK_EQUAL(zeros[i] + aligned[i], 0);
  versioned_omp_free(zeros, omp_default_mem_alloc);
  versioned_omp_free(aligned, omp_null_allocator);
  cross_some_barriers();
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv, {{"omp_5_0_1", omp_5_0_1}, {"omp_5_0_2", omp_5_0_2}});
}
