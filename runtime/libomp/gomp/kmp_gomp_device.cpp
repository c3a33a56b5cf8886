// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// omp_target_*, and names of devices, where the host is the only one: its memory is everybody's.
// For programs linked with GCC's versions only; those that Clang compiled get these functions from
// libomptarget, which must not find them here.

#include <errno.h>
#include <string.h>

#include "kmp.h"
#include "libomp/gomp/kmp_gomp_entry.h"

namespace {

// GCC's omp_initial_device, omp_invalid_device and omp_default_device. The last one is the host
// where there is no other.
const int initial_device = -1, invalid_device = -4, default_device = -5;

bool is_host(int device) {
  return device == initial_device || device == default_device ||
         device == KMP_EXPAND_NAME(omp_get_initial_device)();
}

// GCC's omp_depend_t: an address and a kind of dependence.
struct depend_object_t {
  void *words[2];
};

// Copies need no time of a device's: they wait for what they depend on and then are made at once.
void wait_for(int num_objects, depend_object_t *objects) {
  if (num_objects <= 0)
    return;
  void **depend = (void **)KMP_ALLOCA((5 + num_objects) * sizeof(void *));
  depend[0] = depend[2] = depend[3] = depend[4] =
      NULL; // this form of the list, and no other kind than objects in it
  depend[1] = (void *)(uintptr_t)num_objects;
  for (int i = 0; i < num_objects; ++i)
    depend[5 + i] = &objects[i];
  KMP_EXPAND_NAME(GOMP_taskwait_depend)(depend);
}

// A copy of a box; the innermost dimension is the last one.
struct box_t {
  char *to;
  const char *from;
  size_t element_size;
  int num_dims;
  const size_t *volume, *to_offsets, *from_offsets, *to_dims, *from_dims;
};

// False: a size or an offset is not representable.
bool copy_box(const box_t &box) {
  size_t to_slice = box.element_size, from_slice = box.element_size, to_start, from_start, length;
  for (int dim = 1; dim < box.num_dims; ++dim)
    if (__builtin_mul_overflow(to_slice, box.to_dims[dim], &to_slice) ||
        __builtin_mul_overflow(from_slice, box.from_dims[dim], &from_slice))
      return false;
  if (__builtin_mul_overflow(to_slice, box.to_offsets[0], &to_start) ||
      __builtin_mul_overflow(from_slice, box.from_offsets[0], &from_start) ||
      __builtin_mul_overflow(box.element_size, box.volume[0], &length))
    return false;
  if (box.num_dims == 1) {
    memcpy(box.to + to_start, box.from + from_start, length);
    return true;
  }
  box_t inner = {box.to + to_start,    box.from + from_start, box.element_size,
                 box.num_dims - 1,     box.volume + 1,        box.to_offsets + 1,
                 box.from_offsets + 1, box.to_dims + 1,       box.from_dims + 1};
  for (size_t slice = 0; slice < box.volume[0];
       ++slice, inner.to += to_slice, inner.from += from_slice)
    if (!copy_box(inner))
      return false;
  return true;
}

const char host_uid[] = "OMP_INITIAL_DEVICE"; // OpenMP's name

} // namespace

extern "C" {

// ---- names of devices ----

const char *__kmp_gomp_omp_get_uid_from_device(int device) {
  return is_host(device) ? host_uid : NULL;
}
KMP_GOMP_EXPORT(omp_get_uid_from_device, "GOMP_6.0");

int __kmp_gomp_omp_get_device_from_uid(const char *uid) {
  return uid && strcmp(uid, host_uid) == 0 ? initial_device : invalid_device;
}
KMP_GOMP_EXPORT(omp_get_device_from_uid, "GOMP_6.0");

// What gfortran calls: a string has its length beside it, and no 0 at its end.
int __kmp_gomp_omp_get_device_from_uid_(const char *uid, size_t length) {
  return length == strlen(host_uid) && memcmp(uid, host_uid, length) == 0 ? initial_device
                                                                          : invalid_device;
}
KMP_GOMP_EXPORT(omp_get_device_from_uid_, "GOMP_6.0");

void __kmp_gomp_omp_get_uid_from_device_(const char **result, size_t *length, kmp_int32 device) {
  *result = __kmp_gomp_omp_get_uid_from_device(device);
  *length = *result ? strlen(*result) : 0;
}
KMP_GOMP_EXPORT(omp_get_uid_from_device_, "GOMP_6.0");

void __kmp_gomp_omp_get_uid_from_device_8_(const char **result, size_t *length, kmp_int64 device) {
  __kmp_gomp_omp_get_uid_from_device_(result, length, (kmp_int32)device);
}
KMP_GOMP_EXPORT(omp_get_uid_from_device_8_, "GOMP_6.0");

// ---- what a device can ----

// 0: nothing is nearer than the host to the host, and there is no other device. -1: no device.
void __kmp_gomp_omp_get_device_distances(int count, const int *devices, int *distances) {
  for (int i = 0; i < count; ++i)
    distances[i] = is_host(devices[i]) ? 0 : -1;
}
KMP_GOMP_EXPORT(omp_get_device_distances, "OMP_6.1");

// How many dimensions a team and a league may have: one, also where the device is none.
int __kmp_gomp_omp_get_supported_active_team_dims(int device, int native) { return 1; }
KMP_GOMP_EXPORT(omp_get_supported_active_team_dims, "OMP_6.1");

int __kmp_gomp_omp_get_supported_active_league_dims(int device, int native) { return 1; }
KMP_GOMP_EXPORT(omp_get_supported_active_league_dims, "OMP_6.1");

int __kmp_gomp_omp_get_supported_active_team_dims_(const int *device, const int *native) {
  return 1;
}
KMP_GOMP_EXPORT(omp_get_supported_active_team_dims_, "OMP_6.1");

int __kmp_gomp_omp_get_supported_active_league_dims_(const int *device, const int *native) {
  return 1;
}
KMP_GOMP_EXPORT(omp_get_supported_active_league_dims_, "OMP_6.1");

// How large a team and a league may be in a dimension. The limits of the settings do not count.
static int supported_size(int device, int dim) {
  if (!is_host(device))
    return -1;
  return dim == 0 ? INT_MAX : 1;
}

int __kmp_gomp_omp_get_supported_teams_dim(int device, int dim) {
  return supported_size(device, dim);
}
KMP_GOMP_EXPORT(omp_get_supported_teams_dim, "OMP_6.1");

int __kmp_gomp_omp_get_supported_threads_dim(int device, int dim) {
  return supported_size(device, dim);
}
KMP_GOMP_EXPORT(omp_get_supported_threads_dim, "OMP_6.1");

// ---- memory ----

void *__kmp_gomp_omp_target_alloc(size_t size, int device) {
  return is_host(device) ? malloc(size) : NULL;
}
KMP_GOMP_EXPORT(omp_target_alloc, "OMP_4.5");

void __kmp_gomp_omp_target_free(void *address, int device) {
  if (is_host(device))
    free(address);
}
KMP_GOMP_EXPORT(omp_target_free, "OMP_4.5");

int __kmp_gomp_omp_target_is_present(const void *address, int device) { return is_host(device); }
KMP_GOMP_EXPORT(omp_target_is_present, "OMP_4.5");

int __kmp_gomp_omp_target_is_accessible(const void *address, size_t size, int device) {
  return is_host(device);
}
KMP_GOMP_EXPORT(omp_target_is_accessible, "OMP_5.1.1");

void *__kmp_gomp_omp_get_mapped_ptr(const void *address, int device) {
  return is_host(device) ? (void *)address : NULL;
}
KMP_GOMP_EXPORT(omp_get_mapped_ptr, "OMP_5.1.1");

// The host's memory cannot be associated with the host's.
int __kmp_gomp_omp_target_associate_ptr(const void *host, const void *address, size_t size,
                                        size_t offset, int device) {
  return EINVAL;
}
KMP_GOMP_EXPORT(omp_target_associate_ptr, "OMP_4.5");

int __kmp_gomp_omp_target_disassociate_ptr(const void *host, int device) { return EINVAL; }
KMP_GOMP_EXPORT(omp_target_disassociate_ptr, "OMP_4.5");

int __kmp_gomp_omp_target_memcpy(void *to, const void *from, size_t length, size_t to_offset,
                                 size_t from_offset, int to_device, int from_device) {
  if (!is_host(to_device) || !is_host(from_device))
    return EINVAL;
  memcpy((char *)to + to_offset, (const char *)from + from_offset, length);
  return 0;
}
KMP_GOMP_EXPORT(omp_target_memcpy, "OMP_4.5");

// Without addresses: returns how many dimensions are possible.
int __kmp_gomp_omp_target_memcpy_rect(void *to, const void *from, size_t element_size, int num_dims,
                                      const size_t *volume, const size_t *to_offsets,
                                      const size_t *from_offsets, const size_t *to_dims,
                                      const size_t *from_dims, int to_device, int from_device) {
  if (!to && !from)
    return INT_MAX;
  if (!is_host(to_device) || !is_host(from_device) || element_size == 0 || num_dims < 1)
    return EINVAL;
  const box_t box = {(char *)to, (const char *)from, element_size, num_dims, volume,
                     to_offsets, from_offsets,       to_dims,      from_dims};
  return copy_box(box) ? 0 : EINVAL;
}
KMP_GOMP_EXPORT(omp_target_memcpy_rect, "OMP_4.5");

int __kmp_gomp_omp_target_memcpy_async(void *to, const void *from, size_t length, size_t to_offset,
                                       size_t from_offset, int to_device, int from_device,
                                       int num_objects, depend_object_t *objects) {
  wait_for(num_objects, objects);
  return __kmp_gomp_omp_target_memcpy(to, from, length, to_offset, from_offset, to_device,
                                      from_device);
}
KMP_GOMP_EXPORT(omp_target_memcpy_async, "OMP_5.1.1");

int __kmp_gomp_omp_target_memcpy_rect_async(void *to, const void *from, size_t element_size,
                                            int num_dims, const size_t *volume,
                                            const size_t *to_offsets, const size_t *from_offsets,
                                            const size_t *to_dims, const size_t *from_dims,
                                            int to_device, int from_device, int num_objects,
                                            depend_object_t *objects) {
  wait_for(num_objects, objects);
  return __kmp_gomp_omp_target_memcpy_rect(to, from, element_size, num_dims, volume, to_offsets,
                                           from_offsets, to_dims, from_dims, to_device,
                                           from_device);
}
KMP_GOMP_EXPORT(omp_target_memcpy_rect_async, "OMP_5.1.1");

// Has no result for an error: as GCC's, it takes a device that does not exist for the host.
void *__kmp_gomp_omp_target_memset(void *address, int value, size_t count, int device) {
  return count > 0 ? memset(address, value, count) : address;
}
KMP_GOMP_EXPORT(omp_target_memset, "GOMP_6.0.1");

void *__kmp_gomp_omp_target_memset_async(void *address, int value, size_t count, int device,
                                         int num_objects, depend_object_t *objects) {
  wait_for(num_objects, objects);
  return __kmp_gomp_omp_target_memset(address, value, count, device);
}
KMP_GOMP_EXPORT(omp_target_memset_async, "GOMP_6.0.1");

} // extern "C"

// ---- interoperability ----

// The `interop` construct and its queries. An interoperability object stands for a stream of a
// device, and there is no device. So each object is omp_interop_none, which is NULL. For programs
// linked with GCC's versions; Clang's get these from libomptarget.

namespace {

// Values of OpenMP's enumerations.
enum property_t { first_property = -9, last_property = -1 };
enum return_code_t {
  no_value = 1,
  success = 0,
  empty = -1,
  out_of_range = -2,
  wrong_type_string = -5
};

void set(int *code, int property) {
  if (code)
    *code = property < first_property || property > last_property ? out_of_range : empty;
}

// How gfortran gets a string as a result: its address and its length.
void give(const char *string, const char **result, size_t *length) {
  *result = string;
  *length = string ? strlen(string) : 0;
}

} // namespace

extern "C" {

// Each element of `init` and `destroy` is the address of an object.
void __kmp_gomp_GOMP_interop(int device, int num_init, void ***init, const int *target_or_sync,
                             const char **prefer_type, int num_use, void **use, int num_destroy,
                             void ***destroy, unsigned flags, void **depend) {
  for (int i = 0; i < num_destroy; ++i)
    *destroy[i] = NULL;
  for (int i = 0; i < num_init; ++i)
    *init[i] = NULL;
  // With nowait too: nothing runs that could go on meanwhile.
  if (depend)
    KMP_EXPAND_NAME(GOMP_taskwait_depend)(depend);
}
KMP_GOMP_EXPORT(GOMP_interop, "GOMP_5.1.3");

// ---- queries; gfortran calls those with a trailing underscore ----

// Counts only properties beyond those of the standard.
int __kmp_gomp_omp_get_num_interop_properties(void *object) { return 0; }
KMP_GOMP_EXPORT(omp_get_num_interop_properties, "GOMP_5.1.3");

intptr_t __kmp_gomp_omp_get_interop_int(void *object, int property, int *code) {
  set(code, property);
  return 0;
}
KMP_GOMP_EXPORT(omp_get_interop_int, "GOMP_5.1.3");

void *__kmp_gomp_omp_get_interop_ptr(void *object, int property, int *code) {
  set(code, property);
  return NULL;
}
KMP_GOMP_EXPORT(omp_get_interop_ptr, "GOMP_5.1.3");

const char *__kmp_gomp_omp_get_interop_str(void *object, int property, int *code) {
  set(code, property);
  return NULL;
}
KMP_GOMP_EXPORT(omp_get_interop_str, "GOMP_5.1.3");

void __kmp_gomp_omp_get_interop_str_(const char **result, size_t *length, void *object,
                                     int property, int *code) {
  give(__kmp_gomp_omp_get_interop_str(object, property, code), result, length);
}
KMP_GOMP_EXPORT(omp_get_interop_str_, "GOMP_5.1.3");

const char *__kmp_gomp_omp_get_interop_name(void *object, int property) {
  // OpenMP's names, from last_property down.
  static const char *const names[] = {"fr_id",       "fr_name",        "vendor",
                                      "vendor_name", "device_num",     "platform",
                                      "device",      "device_context", "targetsync"};
  return property < first_property || property > last_property ? NULL
                                                               : names[last_property - property];
}
KMP_GOMP_EXPORT(omp_get_interop_name, "GOMP_5.1.3");

void __kmp_gomp_omp_get_interop_name_(const char **result, size_t *length, void *object,
                                      int property) {
  give(__kmp_gomp_omp_get_interop_name(object, property), result, length);
}
KMP_GOMP_EXPORT(omp_get_interop_name_, "GOMP_5.1.3");

const char *__kmp_gomp_omp_get_interop_type_desc(void *object, int property) { return NULL; }
KMP_GOMP_EXPORT(omp_get_interop_type_desc, "GOMP_5.1.3");

void __kmp_gomp_omp_get_interop_type_desc_(const char **result, size_t *length, void *object,
                                           int property) {
  give(NULL, result, length);
}
KMP_GOMP_EXPORT(omp_get_interop_type_desc_, "GOMP_5.1.3");

const char *__kmp_gomp_omp_get_interop_rc_desc(void *object, int code) {
  // From no_value down.
  static const char *const texts[] = {"there is no such value",
                                      "success",
                                      "the interoperability object is omp_interop_none",
                                      "there is no property of this number",
                                      "the property is an integer: ask omp_get_interop_int",
                                      "the property is a pointer: ask omp_get_interop_ptr",
                                      "the property is a string: ask omp_get_interop_str"};
  return code < wrong_type_string || code > no_value ? NULL : texts[no_value - code];
}
KMP_GOMP_EXPORT(omp_get_interop_rc_desc, "GOMP_5.1.3");

void __kmp_gomp_omp_get_interop_rc_desc_(const char **result, size_t *length, void *object,
                                         int code) {
  give(__kmp_gomp_omp_get_interop_rc_desc(object, code), result, length);
}
KMP_GOMP_EXPORT(omp_get_interop_rc_desc_, "GOMP_5.1.3");

} // extern "C"
