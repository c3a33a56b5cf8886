// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Target constructs of programs that GCC compiled. There is no device: regions run on the host, as
// a task; mapped variables are the variables themselves, so that all constructs which only move
// data do nothing but keep the order of their dependences.

#include "libomp/gomp/kmp_gomp_target.h"

#include "kmp_io.h"
#include "libomp/gomp/kmp_gomp_entry.h"
#include "libomp/gomp/kmp_gomp_initial.h"
#include "libomp/gomp/kmp_gomp_ompt.h"

namespace {

// The kind of a map is in the lower 8 bits, the binary logarithm of the alignment above.
const unsigned map_firstprivate = 0xC;
unsigned map_kind(unsigned short kind) { return kind & 0xFF; }
size_t map_alignment(unsigned short kind) { return (size_t)1 << (kind >> 8); }

// Device numbers that compilers write.
const int device_default = -1;
const int device_host = -2;

// Arguments of a region: an identifier each, with the value above it or in the next word; 0 ends
// the list.
const intptr_t arg_device = 0x7F, arg_has_word = 0x80, arg_id = 0xFF00, arg_thread_limit = 0x200;
const int arg_value_shift = 16;

// A region as the compiler describes it.
struct region_t {
  void (*fn)(void *);
  size_t num_maps;
  void **host_addrs;
  const size_t *sizes;
  const unsigned short *kinds; // NULL: nothing is firstprivate
  unsigned thread_limit;       // 0: not limited

  // An optional argument of Fortran's that is absent has no address, and nothing to copy.
  bool is_firstprivate(size_t map) const {
    return kinds && map_kind(kinds[map]) == map_firstprivate && host_addrs[map];
  }
  size_t packed_size() const;
};

// A region with all that it needs in one block: this, the addresses, and the firstprivate
// variables.
struct packed_region_t {
  void (*fn)(void *);
  unsigned thread_limit;
  void *addrs[];
};

size_t region_t::packed_size() const {
  size_t size = sizeof(packed_region_t) + num_maps * sizeof(void *);
  for (size_t map = 0; map < num_maps; ++map)
    if (is_firstprivate(map))
      size += sizes[map] + map_alignment(kinds[map]);
  return size;
}

void pack(void *to, void *from) {
  const region_t *region = (const region_t *)from;
  packed_region_t *packed = (packed_region_t *)to;
  packed->fn = region->fn;
  packed->thread_limit = region->thread_limit;
  uintptr_t next = (uintptr_t)(packed->addrs + region->num_maps);
  for (size_t map = 0; map < region->num_maps; ++map) {
    packed->addrs[map] = region->host_addrs[map];
    if (!region->is_firstprivate(map))
      continue;
    const size_t alignment = map_alignment(region->kinds[map]);
    next = (next + alignment - 1) / alignment * alignment;
    packed->addrs[map] = memcpy((void *)next, region->host_addrs[map], region->sizes[map]);
    next += region->sizes[map];
  }
}

void run_packed(void *block) {
  packed_region_t *packed = (packed_region_t *)block;
  __kmp_gomp_run_as_initial_thread(packed->fn, packed->addrs, packed->thread_limit);
}

void run_at_once(void *data) {
  const region_t *region = (const region_t *)data;
  void *block = KMP_ALLOCA(region->packed_size());
  pack(block, data);
  run_packed(block);
}

unsigned find_thread_limit(void **args) {
  for (; args && *args; ++args) {
    const intptr_t word = (intptr_t)*args;
    const intptr_t value = word & arg_has_word ? (intptr_t)*++args : word >> arg_value_shift;
    if ((word & arg_device) == 0 && (word & arg_id) == arg_thread_limit && value > 0)
      return (unsigned)KMP_MIN(value, (intptr_t)INT_MAX);
  }
  return 0;
}

// OMP_TARGET_OFFLOAD=mandatory allows the host where the program names it, and as the default
// device: without another device, it has that one's number.
void check_host_is_allowed(int device) {
  if (device == device_default)
    device = __kmp_entry_thread()->th.th_current_task->td_icvs.default_device;
  if (__kmpc_get_target_offload() != tgt_mandatory || device == device_host ||
      device == KMP_EXPAND_NAME(omp_get_initial_device)())
    return;
  __kmp_printf("OMP: Error: OMP_TARGET_OFFLOAD=\"mandatory\", but there is no device for a target "
               "region; with \"default\" or "
               "\"disabled\" it runs on the host\n");
  __kmp_abort_process();
}

// Other tasks see the order that the clause asks for, although nothing is moved.
void keep_order(unsigned flags, void **depend) {
  if (!depend)
    return;
  if (flags & KMP_GOMP_TARGET_NOWAIT)
    KMP_EXPAND_NAME(GOMP_taskwait_depend_nowait)(depend);
  else
    KMP_EXPAND_NAME(GOMP_taskwait_depend)(depend);
}

} // namespace

// GCC before 5 knew no firstprivate variables and no clauses here.
void __kmp_gomp_target(int device, void (*fn)(void *), void **hostaddrs) {
  check_host_is_allowed(device);
  __kmp_gomp_run_as_initial_thread(fn, hostaddrs, 0);
}

extern "C" {

void KMP_EXPAND_NAME(GOMP_target_ext)(int device, void (*fn)(void *), size_t mapnum,
                                      void **hostaddrs, size_t *sizes, unsigned short *kinds,
                                      unsigned flags, void **depend, void **args) {
  OMPT_STORE_RETURN_ADDRESS(__kmp_entry_gtid());
  check_host_is_allowed(device);
  region_t region = {fn, mapnum, hostaddrs, sizes, kinds, find_thread_limit(args)};
  const unsigned task_flags = KMP_GOMP_TASK_TARGET | (depend ? KMP_GOMP_TASK_DEPEND : 0);
  if (flags & KMP_GOMP_TARGET_NOWAIT)
    KMP_EXPAND_NAME(GOMP_task)(run_packed, &region, pack, region.packed_size(),
                               alignof(packed_region_t), true, task_flags, depend, 0, NULL);
  else
    KMP_EXPAND_NAME(GOMP_task)(run_at_once, &region, NULL, 0, 0, false, task_flags, depend, 0,
                               NULL);
}
KMP_VERSION_SYMBOL(GOMP_target_ext, 45, "GOMP_4.5");

// The clauses use_device_ptr and use_device_addr ask for addresses on the device: they are the
// host's.
void KMP_EXPAND_NAME(GOMP_target_data_ext)(int device, size_t mapnum, void **hostaddrs,
                                           size_t *sizes, unsigned short *kinds) {}
KMP_VERSION_SYMBOL(GOMP_target_data_ext, 45, "GOMP_4.5");

void KMP_EXPAND_NAME(GOMP_target_update_ext)(int device, size_t mapnum, void **hostaddrs,
                                             size_t *sizes, unsigned short *kinds, unsigned flags,
                                             void **depend) {
  OMPT_STORE_RETURN_ADDRESS(__kmp_entry_gtid());
  keep_order(flags, depend);
}
KMP_VERSION_SYMBOL(GOMP_target_update_ext, 45, "GOMP_4.5");

void KMP_EXPAND_NAME(GOMP_target_enter_exit_data)(int device, size_t mapnum, void **hostaddrs,
                                                  size_t *sizes, unsigned short *kinds,
                                                  unsigned flags, void **depend) {
  OMPT_STORE_RETURN_ADDRESS(__kmp_entry_gtid());
  keep_order(flags, depend);
}
KMP_VERSION_SYMBOL(GOMP_target_enter_exit_data, 45, "GOMP_4.5");

// Constructors of programs with code for devices announce it. Nothing is kept, since there is no
// device.
void KMP_EXPAND_NAME(GOMP_offload_register)(const void *host_table, int target_type,
                                            const void *target_data) {}
KMP_VERSION_SYMBOL(GOMP_offload_register, 401, "GOMP_4.0.1");

void KMP_EXPAND_NAME(GOMP_offload_unregister)(const void *host_table, int target_type,
                                              const void *target_data) {}
KMP_VERSION_SYMBOL(GOMP_offload_unregister, 401, "GOMP_4.0.1");

void KMP_EXPAND_NAME(GOMP_offload_register_ver)(unsigned version, const void *host_table,
                                                int target_type, const void *target_data) {}
KMP_VERSION_SYMBOL(GOMP_offload_register_ver, 45, "GOMP_4.5");

void KMP_EXPAND_NAME(GOMP_offload_unregister_ver)(unsigned version, const void *host_table,
                                                  int target_type, const void *target_data) {}
KMP_VERSION_SYMBOL(GOMP_offload_unregister_ver, 45, "GOMP_4.5");

// A function's address on the device: the host's is the same.
void *__kmp_gomp_GOMP_target_map_indirect_ptr(void *address) { return address; }
KMP_GOMP_EXPORT(GOMP_target_map_indirect_ptr, "GOMP_5.1.2");

} // extern "C"
