// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Functions under the version names that GCC 14 to 17 gave them, as gomp_versions.cpp does it for
// older ones. Constructs by GCC 17's entry points are in gomp_constructs.cpp.

// The compiler's libgomp may be older than the versions that this program names.
// BUILD: gcc -L$library_dir
// TEST: gomp_5_1_2 gomp_5_1_3 gomp_6_0 gomp_6_0_1 omp_6_0 omp_6_1
//   CHECK: --counter fast==40
// TEST: fork_beside_a_look
// TEST: openacc
//   CHECK: --exit-code -6 --expect "the program calls acc_init, which is OpenACC"
// TEST: openacc_construct
//   CHECK: --exit-code -6 --expect "the program calls GOACC_init, which is OpenACC"

#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>

#include "gomp_versioned.hpp"

extern "C" {
VERSIONED(void, GOMP_add_alloc, "GOMP_5.1.2", void*);
VERSIONED(bool, GOMP_is_alloc, "GOMP_5.1.2", void*);
VERSIONED(void*, GOMP_target_map_indirect_ptr, "GOMP_5.1.2", void*);

VERSIONED(void, GOMP_interop, "GOMP_5.1.3", int, int, void***, const int*, const char**, int,
          void**, int, void***, unsigned, void**);
VERSIONED(int, omp_get_num_interop_properties, "GOMP_5.1.3", void*);
VERSIONED(intptr_t, omp_get_interop_int, "GOMP_5.1.3", void*, int, int*);
VERSIONED(void*, omp_get_interop_ptr, "GOMP_5.1.3", void*, int, int*);
VERSIONED(const char*, omp_get_interop_str, "GOMP_5.1.3", void*, int, int*);
VERSIONED(void, omp_get_interop_str_, "GOMP_5.1.3", const char**, size_t*, void*, int, int*);
VERSIONED(const char*, omp_get_interop_name, "GOMP_5.1.3", void*, int);
VERSIONED(void, omp_get_interop_name_, "GOMP_5.1.3", const char**, size_t*, void*, int);
VERSIONED(const char*, omp_get_interop_type_desc, "GOMP_5.1.3", void*, int);
VERSIONED(void, omp_get_interop_type_desc_, "GOMP_5.1.3", const char**, size_t*, void*, int);
VERSIONED(const char*, omp_get_interop_rc_desc, "GOMP_5.1.3", void*, int);
VERSIONED(void, omp_get_interop_rc_desc_, "GOMP_5.1.3", const char**, size_t*, void*, int);

VERSIONED(int, omp_get_device_from_uid, "GOMP_6.0", const char*);
VERSIONED(int, omp_get_device_from_uid_, "GOMP_6.0", const char*, size_t);
VERSIONED(const char*, omp_get_uid_from_device, "GOMP_6.0", int);
VERSIONED(void, omp_get_uid_from_device_, "GOMP_6.0", const char**, size_t*, int32_t);
VERSIONED(void, omp_get_uid_from_device_8_, "GOMP_6.0", const char**, size_t*, int64_t);

VERSIONED(void*, omp_target_memset, "GOMP_6.0.1", void*, int, size_t, int);
VERSIONED(void*, omp_target_memset_async, "GOMP_6.0.1", void*, int, size_t, int, int,
          omp_depend_t*);

VERSIONED(int, omp_control_tool, "OMP_6.0", int, int, void*);
VERSIONED(int, omp_control_tool_, "OMP_6.0", const int32_t*, const int32_t*);
VERSIONED(int, omp_control_tool_8_, "OMP_6.0", const int32_t*, const int64_t*);

VERSIONED(int, omp_get_num_threads_dim, "OMP_6.1", int);
VERSIONED(int, omp_get_thread_num_dim, "OMP_6.1", int);
VERSIONED(int, omp_get_thread_limit_dim, "OMP_6.1", int);
VERSIONED(int, omp_get_num_teams_dim, "OMP_6.1", int);
VERSIONED(int, omp_get_team_num_dim, "OMP_6.1", int);
VERSIONED(int, omp_get_supported_active_team_dims, "OMP_6.1", int, int);
VERSIONED(int, omp_get_supported_active_league_dims, "OMP_6.1", int, int);
VERSIONED(int, omp_get_supported_active_team_dims_, "OMP_6.1", const int*, const int*);
VERSIONED(int, omp_get_supported_active_league_dims_, "OMP_6.1", const int*, const int*);
VERSIONED(int, omp_get_supported_teams_dim, "OMP_6.1", int, int);
VERSIONED(int, omp_get_supported_threads_dim, "OMP_6.1", int, int);
VERSIONED(void, omp_get_device_distances, "OMP_6.1", int, const int*, int*);

VERSIONED(void, acc_init, "OACC_2.0", int);
VERSIONED(void, GOACC_init, "GOACC_2.5", void);
}

namespace {

using omp_test::cross_some_barriers;

constexpr int kInitialDevice = -1, kInvalidDevice = -4, kDefaultDevice = -5;  // GCC 16's omp.h
constexpr int kNoValue = 1, kEmpty = -1, kOutOfRange = -2, kOther = -6;
constexpr int kFirstProperty = -9, kLastProperty = -1;

// Each thread registers memory of its own, many addresses on the same list of the table.
void gomp_5_1_2() {
#pragma omp parallel num_threads(4)
  {
    char* const mine = reinterpret_cast<char*>((omp_get_thread_num() + 1L) << 32);
    for (int i = 0; i < 100; ++i) versioned_GOMP_add_alloc(mine + i);
    CHECK(!versioned_GOMP_is_alloc(mine + 100));
    for (int i = 99; i >= 0; --i) CHECK(versioned_GOMP_is_alloc(mine + i));
    for (int i = 0; i < 100; ++i) CHECK(!versioned_GOMP_is_alloc(mine + i));
  }
  versioned_GOMP_add_alloc(nullptr);
  CHECK(!versioned_GOMP_is_alloc(nullptr));
  int here = 0;
  CHECK(versioned_GOMP_target_map_indirect_ptr(&here) == &here);
  cross_some_barriers();
}

// The process is forked while another thread looks for memory, in a list that is long. The child
// looks for some too.
void fork_beside_a_look() {
  char* const first = reinterpret_cast<char*>(1L << 32);
  constexpr int kCount = 3000, kDistance = 1 << 14;  // of entries in one list
  for (int i = 0; i < kCount; ++i) versioned_GOMP_add_alloc(first + i * kDistance);
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop.load()) CHECK(!versioned_GOMP_is_alloc(first + kCount * kDistance));
  });
  for (int round = 0; round < 100; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      const bool had_one = versioned_GOMP_is_alloc(first), has_one = versioned_GOMP_is_alloc(first);
      _exit(had_one && !has_one ? 0 : 1);
    }
    int status = -1;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
  }
  stop = true;
  other.join();
}

// Objects are none, and the construct waits for what it depends on.
void check_interop() {
  void* objects[2] = {&objects, &objects};
  void* old = &old;
  void** init[] = {&objects[0], &objects[1]};
  void** destroy[] = {&old};
  const int kinds[] = {1, 2};
#pragma omp parallel num_threads(4)
#pragma omp single
  {
    int stage = 0;
    char tag = 0;
#pragma omp task depend(out : tag) shared(stage)
    stage = 1;
    void* depend[] = {reinterpret_cast<void*>(1), reinterpret_cast<void*>(1), &tag};
    versioned_GOMP_interop(kInitialDevice, 2, init, kinds, nullptr, 1, objects, 1, destroy, 0,
                           depend);
    CHECK_EQUAL(stage, 1);
  }
  CHECK(objects[0] == nullptr && objects[1] == nullptr && old == nullptr);
}

void check_property(int property, int expected_code) {
  int code = kNoValue;
  CHECK_EQUAL(versioned_omp_get_interop_int(nullptr, property, &code), 0);
  CHECK_EQUAL(code, expected_code);
  CHECK(versioned_omp_get_interop_ptr(nullptr, property, &(code = kNoValue)) == nullptr);
  CHECK_EQUAL(code, expected_code);
  CHECK(versioned_omp_get_interop_str(nullptr, property, &(code = kNoValue)) == nullptr);
  CHECK_EQUAL(code, expected_code);
  CHECK_EQUAL(versioned_omp_get_interop_int(nullptr, property, nullptr), 0);
  CHECK(versioned_omp_get_interop_type_desc(nullptr, property) == nullptr);
  CHECK_EQUAL(versioned_omp_get_interop_name(nullptr, property) != nullptr,
              expected_code == kEmpty);
  const char* text = "";
  size_t length = 1;
  versioned_omp_get_interop_str_(&text, &length, nullptr, property, nullptr);
  CHECK(text == nullptr && length == 0);
  versioned_omp_get_interop_type_desc_(&text, &(length = 1), nullptr, property);
  CHECK(text == nullptr && length == 0);
}

void gomp_5_1_3() {
  check_interop();
  CHECK_EQUAL(versioned_omp_get_num_interop_properties(nullptr), 0);
  for (int property = kFirstProperty; property <= kLastProperty; ++property)
    check_property(property, kEmpty);
  check_property(kFirstProperty - 1, kOutOfRange);
  check_property(kLastProperty + 1, kOutOfRange);
  CHECK(std::string("fr_id") == versioned_omp_get_interop_name(nullptr, -1));
  CHECK(std::string("targetsync") == versioned_omp_get_interop_name(nullptr, -9));
  const char* text = nullptr;
  size_t length = 0;
  versioned_omp_get_interop_name_(&text, &length, nullptr, -3);
  CHECK(std::string(text, length) == "vendor");
  for (int code = kOther - 1; code <= kNoValue + 1; ++code) {
    const char* const described = versioned_omp_get_interop_rc_desc(nullptr, code);
    CHECK_EQUAL(described != nullptr, code > kOther && code <= kNoValue);
    versioned_omp_get_interop_rc_desc_(&text, &length, nullptr, code);
    CHECK(text == described && length == (described ? std::strlen(described) : 0));
  }
  cross_some_barriers();
}

void gomp_6_0() {
  const std::string host = "OMP_INITIAL_DEVICE";
  for (int device : {kInitialDevice, kDefaultDevice, omp_get_initial_device()}) {
    CHECK(host == versioned_omp_get_uid_from_device(device));
    const char* text = nullptr;
    size_t length = 0;
    versioned_omp_get_uid_from_device_(&text, &length, device);
    CHECK(std::string(text, length) == host);
    versioned_omp_get_uid_from_device_8_(&text, &(length = 0), device);
    CHECK(std::string(text, length) == host);
  }
  CHECK(versioned_omp_get_uid_from_device(7) == nullptr);
  CHECK(versioned_omp_get_uid_from_device(kInvalidDevice) == nullptr);
  CHECK_EQUAL(versioned_omp_get_device_from_uid(host.c_str()), kInitialDevice);
  CHECK_EQUAL(versioned_omp_get_device_from_uid("OMP_DEV_0"), kInvalidDevice);
  CHECK_EQUAL(versioned_omp_get_device_from_uid(nullptr), kInvalidDevice);
  CHECK_EQUAL(versioned_omp_get_device_from_uid_((host + "behind it").c_str(), host.size()),
              kInitialDevice);
  CHECK_EQUAL(versioned_omp_get_device_from_uid_(host.c_str(), host.size() - 1), kInvalidDevice);
  cross_some_barriers();
}

void gomp_6_0_1() {
  unsigned char bytes[4] = {1, 2, 3, 4};
  CHECK(versioned_omp_target_memset(bytes, 7, 3, kInitialDevice) == bytes);
  CHECK(versioned_omp_target_memset(nullptr, 7, 0, kDefaultDevice) == nullptr);
  CHECK(bytes[0] == 7 && bytes[2] == 7 && bytes[3] == 4);
#pragma omp parallel num_threads(4)
#pragma omp single
  {
    omp_depend_t object;
#pragma omp depobj(object) depend(inout : bytes)
#pragma omp task depend(out : bytes) shared(bytes)
    bytes[0] = bytes[3] = 1;
    CHECK(versioned_omp_target_memset_async(bytes, 9, 2, omp_get_initial_device(), 1, &object) ==
          bytes);
#pragma omp taskwait
    CHECK(bytes[0] == 9 && bytes[1] == 9 && bytes[2] == 7 && bytes[3] == 1);
#pragma omp depobj(object) destroy
  }
  cross_some_barriers();
}

// There is no tool.
void omp_6_0() {
  const int32_t command = 1, modifier = 2;
  const int64_t modifier_8 = 2;
  CHECK_EQUAL(versioned_omp_control_tool(1, 2, nullptr), -2);
  CHECK_EQUAL(versioned_omp_control_tool_(&command, &modifier), -2);
  CHECK_EQUAL(versioned_omp_control_tool_8_(&command, &modifier_8), -2);
  cross_some_barriers();
}

// Dimension 0 is the only one that has more than one thread or team.
void check_dimensions() {
  for (int dim = 0; dim < 4; ++dim) {
    CHECK_EQUAL(versioned_omp_get_num_threads_dim(dim), dim == 0 ? omp_get_num_threads() : 1);
    CHECK_EQUAL(versioned_omp_get_thread_num_dim(dim), dim == 0 ? omp_get_thread_num() : 0);
    CHECK_EQUAL(versioned_omp_get_thread_limit_dim(dim), dim == 0 ? omp_get_thread_limit() : 1);
    CHECK_EQUAL(versioned_omp_get_num_teams_dim(dim), dim == 0 ? omp_get_num_teams() : 1);
    CHECK_EQUAL(versioned_omp_get_team_num_dim(dim), dim == 0 ? omp_get_team_num() : 0);
  }
}

void omp_6_1() {
  check_dimensions();
#pragma omp teams num_teams(3) thread_limit(2)
  check_dimensions();
#pragma omp parallel num_threads(4)
  check_dimensions();
  const int devices[] = {kInitialDevice, kDefaultDevice, omp_get_initial_device(), 7,
                         kInvalidDevice};
  int distances[] = {9, 9, 9, 9, 9, 9};
  versioned_omp_get_device_distances(5, devices, distances);
  versioned_omp_get_device_distances(0, nullptr, nullptr);
  for (int i = 0; i < 6; ++i) CHECK_EQUAL(distances[i], i < 3 ? 0 : i < 5 ? -1 : 9);
  for (int i = 0; i < 3; ++i) {
    for (const int native : {0, 1}) {
      CHECK_EQUAL(versioned_omp_get_supported_active_team_dims(devices[i], native), 1);
      CHECK_EQUAL(versioned_omp_get_supported_active_league_dims(devices[i], native), 1);
      CHECK_EQUAL(versioned_omp_get_supported_active_team_dims_(&devices[i], &native), 1);
      CHECK_EQUAL(versioned_omp_get_supported_active_league_dims_(&devices[i], &native), 1);
    }
    CHECK_EQUAL(versioned_omp_get_supported_teams_dim(devices[i], 0), INT32_MAX);
    CHECK_EQUAL(versioned_omp_get_supported_threads_dim(devices[i], 0), INT32_MAX);
    CHECK_EQUAL(versioned_omp_get_supported_teams_dim(devices[i], 1), 1);
    CHECK_EQUAL(versioned_omp_get_supported_threads_dim(devices[i], 2), 1);
  }
  CHECK_EQUAL(versioned_omp_get_supported_teams_dim(7, 0), -1);
  CHECK_EQUAL(versioned_omp_get_supported_threads_dim(7, 0), -1);
  cross_some_barriers();
}

void openacc() {
  cross_some_barriers();
  versioned_acc_init(0);
}

void openacc_construct() { versioned_GOACC_init(); }

}  // namespace

int main(int argc, char** argv) {
  omp_set_dynamic(0);
  return omp_test::run_case(argc, argv,
                            {{"gomp_5_1_2", gomp_5_1_2},
                             {"gomp_5_1_3", gomp_5_1_3},
                             {"gomp_6_0", gomp_6_0},
                             {"gomp_6_0_1", gomp_6_0_1},
                             {"omp_6_0", omp_6_0},
                             {"omp_6_1", omp_6_1},
                             {"openacc", openacc},
                             {"openacc_construct", openacc_construct},
                             {"fork_beside_a_look", fork_beside_a_look}});
}
