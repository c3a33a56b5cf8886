/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HIERBAR_TOPOLOGY_HWLOC_FUNCTIONS_H
#define HIERBAR_TOPOLOGY_HWLOC_FUNCTIONS_H

/* What libhierbar.so takes from hwloc. It does not need hwloc itself, because most programs have
   small teams only, whose plans need no machine (docs/design/libomp.md#d0165). It opens
   libhierbar_hwloc.so, which needs hwloc like any library and has this table. */

#include <hwloc.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HIERBAR_HWLOC_FUNCTIONS(EACH) \
  EACH(bitmap_alloc)                  \
  EACH(bitmap_first)                  \
  EACH(bitmap_free)                   \
  EACH(bitmap_isincluded)             \
  EACH(bitmap_iszero)                 \
  EACH(bitmap_last)                   \
  EACH(bitmap_next)                   \
  EACH(bitmap_set)                    \
  EACH(free_xmlbuffer)                \
  EACH(get_depth_type)                \
  EACH(get_obj_by_depth)              \
  EACH(get_type_depth)                \
  EACH(obj_add_info)                  \
  EACH(obj_type_is_cache)             \
  EACH(topology_destroy)              \
  EACH(topology_export_xmlbuffer)     \
  EACH(topology_get_allowed_cpuset)   \
  EACH(topology_get_depth)            \
  EACH(topology_init)                 \
  EACH(topology_insert_misc_object)   \
  EACH(topology_load)                 \
  EACH(topology_set_all_types_filter) \
  EACH(topology_set_components)       \
  EACH(topology_set_flags)            \
  EACH(topology_set_synthetic)        \
  EACH(topology_set_type_filter)      \
  EACH(topology_set_xml)

/* To be raised when the functions or their order change. */
#define HIERBAR_HWLOC_VERSION 1u

typedef struct hierbar_hwloc {
  uint32_t version;    /* HIERBAR_HWLOC_VERSION of the file that has the table */
  uint32_t size_bytes; /* of this struct */
#define HIERBAR_HWLOC_FUNCTION(name) __typeof__(hwloc_##name) *name;
  HIERBAR_HWLOC_FUNCTIONS(HIERBAR_HWLOC_FUNCTION)
#undef HIERBAR_HWLOC_FUNCTION
} hierbar_hwloc;

extern const hierbar_hwloc hierbar_hwloc_functions;

#ifdef __cplusplus
}
#endif

#endif
