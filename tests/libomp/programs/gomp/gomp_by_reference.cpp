// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What gfortran calls, under GCC's versions: arguments by reference, and integers of 8 bytes in the
// names with _8_. The program is linked with our library; gomp_fortran.f90 is the same as users
// have it, if there is a gfortran.

// The compiler's libgomp may be older than the versions that this program names.
// BUILD: gcc -L$library_dir
// TEST: integers_of_8_bytes
//   CHECK: --counter fast==40
// TEST: places
//   ENV: OMP_PLACES={0},{1}
//   CHECK: --counter fast==40
// TEST: pause_and_go_on
//   CHECK: --counter fast>=120 --counter reports==2

#include <omp.h>

#include <climits>
#include <cstdint>

#include "gomp_versioned.hpp"

extern "C" {
VERSIONED(void, omp_set_num_threads_8_, "OMP_1.0", const int64_t*);
VERSIONED(void, omp_set_dynamic_8_, "OMP_1.0", const int64_t*);
VERSIONED(void, omp_set_nested_8_, "OMP_1.0", const int64_t*);
VERSIONED(void, omp_set_schedule_8_, "OMP_3.0", const int32_t*, const int64_t*);
VERSIONED(void, omp_get_schedule_8_, "OMP_3.0", int32_t*, int64_t*);
VERSIONED(void, omp_set_max_active_levels_8_, "OMP_3.0", const int64_t*);
VERSIONED(int, omp_get_ancestor_thread_num_8_, "OMP_3.0", const int64_t*);
VERSIONED(int, omp_get_team_size_8_, "OMP_3.0", const int64_t*);
VERSIONED(void, omp_set_default_device_8_, "OMP_4.0", const int64_t*);
VERSIONED(int, omp_get_place_num_procs_, "OMP_4.5", const int32_t*);
VERSIONED(int, omp_get_place_num_procs_8_, "OMP_4.5", const int64_t*);
VERSIONED(void, omp_get_place_proc_ids_, "OMP_4.5", const int32_t*, int32_t*);
VERSIONED(void, omp_get_place_proc_ids_8_, "OMP_4.5", const int64_t*, int64_t*);
VERSIONED(void, omp_get_partition_place_nums_8_, "OMP_4.5", int64_t*);
VERSIONED(int, omp_pause_resource_, "OMP_5.0", const int32_t*, const int32_t*);
VERSIONED(int, omp_pause_resource_all_, "OMP_5.0", const int32_t*);
}

namespace {

using omp_test::cross_some_barriers;

// What -fdefault-integer-8 leads to.
void integers_of_8_bytes() {
  const int64_t zero = 0, one = 1, three = 3, huge = INT64_MAX, seven = 7;
  versioned_omp_set_num_threads_8_(&three);
  CHECK_EQUAL(omp_get_max_threads(), 3);
  versioned_omp_set_dynamic_8_(&one);
  CHECK_EQUAL(omp_get_dynamic(), 1);
  versioned_omp_set_dynamic_8_(&zero);
  CHECK_EQUAL(omp_get_dynamic(), 0);
  versioned_omp_set_nested_8_(&zero);
  CHECK_EQUAL(omp_get_max_active_levels(), 1);
  versioned_omp_set_max_active_levels_8_(&three);
  CHECK_EQUAL(omp_get_max_active_levels(), 3);
  const int32_t dynamic = omp_sched_dynamic;
  versioned_omp_set_schedule_8_(&dynamic, &seven);
  int32_t kind = 0;
  int64_t chunk = 0;
  versioned_omp_get_schedule_8_(&kind, &chunk);
  CHECK_EQUAL(kind, omp_sched_dynamic);
  CHECK_EQUAL(chunk, 7);
  versioned_omp_set_schedule_8_(&dynamic, &huge);
  versioned_omp_get_schedule_8_(&kind, &chunk);
  CHECK_EQUAL(chunk, INT_MAX);
  versioned_omp_set_default_device_8_(&one);
  CHECK_EQUAL(omp_get_default_device(), 1);
#pragma omp parallel num_threads(2)
  {
    const int outer = omp_get_thread_num();
#pragma omp parallel num_threads(3)
    {
      CHECK_EQUAL(versioned_omp_get_ancestor_thread_num_8_(&one), outer);
      CHECK_EQUAL(versioned_omp_get_team_size_8_(&one), 2);
    }
  }
  cross_some_barriers();
}

// With OMP_PLACES={0},{1}
void places() {
  const int32_t second = 1;
  const int64_t second_8 = 1;
  CHECK_EQUAL(omp_get_num_places(), 2);
  CHECK_EQUAL(versioned_omp_get_place_num_procs_(&second), 1);
  CHECK_EQUAL(versioned_omp_get_place_num_procs_8_(&second_8), 1);
  int32_t id = -1;
  versioned_omp_get_place_proc_ids_(&second, &id);
  CHECK_EQUAL(id, 1);
  int64_t id_8 = -1;
  versioned_omp_get_place_proc_ids_8_(&second_8, &id_8);
  CHECK_EQUAL(id_8, 1);
  int64_t places[2] = {-1, -1};
  versioned_omp_get_partition_place_nums_8_(places);
  CHECK_EQUAL(places[0], 0);
  CHECK_EQUAL(places[1], 1);
  cross_some_barriers();
}

void pause_and_go_on() {
  const int32_t soft = omp_pause_soft, hard = omp_pause_hard, host = omp_get_initial_device();
  cross_some_barriers();
  CHECK_EQUAL(versioned_omp_pause_resource_(&soft, &host), 0);
  cross_some_barriers();
  CHECK_EQUAL(versioned_omp_pause_resource_all_(&hard), 0);
  cross_some_barriers();
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"integers_of_8_bytes", integers_of_8_bytes},
                             {"places", places},
                             {"pause_and_go_on", pause_and_go_on}});
}
