// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/hwloc_opened.hpp"

#include <dlfcn.h>

#include <atomic>

#include "base/library_beside.hpp"
#include "topology/hwloc_functions.h"

namespace hierbar {
namespace {

constexpr const char* kLibrary = "libhierbar_hwloc.so.0";

std::atomic<const hierbar_hwloc*> opened{nullptr};

// Relaxed: the caller has been through open_hwloc(), and so through (F1) or (F2).
const hierbar_hwloc& functions() { return *opened.load(std::memory_order_relaxed); }

}  // namespace

std::string open_hwloc() {
  // (hwloc_opened.F2) load-acquire; pairs with (F1): the loader has filled the table.
  if (opened.load(std::memory_order_acquire) != nullptr) return "";
  void* const library = open_library_beside(file_with(&opened), kLibrary, kLibrary);
  if (library == nullptr) return dlerror();
  const auto* found = static_cast<const hierbar_hwloc*>(dlsym(library, "hierbar_hwloc_functions"));
  if (found == nullptr || found->version != HIERBAR_HWLOC_VERSION ||
      found->size_bytes != sizeof(hierbar_hwloc))
    return std::string(kLibrary) + " and libhierbar.so have different versions";
  opened.store(found, std::memory_order_release);  // (hwloc_opened.F1) pairs with (F2)
  return "";
}

}  // namespace hierbar

// hwloc's functions, as the rest of this folder calls them. libhierbar.so shows none of them.
hwloc_bitmap_t hwloc_bitmap_alloc() { return hierbar::functions().bitmap_alloc(); }
int hwloc_bitmap_first(hwloc_const_bitmap_t bitmap) {
  return hierbar::functions().bitmap_first(bitmap);
}
void hwloc_bitmap_free(hwloc_bitmap_t bitmap) { hierbar::functions().bitmap_free(bitmap); }
int hwloc_bitmap_isincluded(hwloc_const_bitmap_t sub_bitmap, hwloc_const_bitmap_t super_bitmap) {
  return hierbar::functions().bitmap_isincluded(sub_bitmap, super_bitmap);
}
int hwloc_bitmap_iszero(hwloc_const_bitmap_t bitmap) {
  return hierbar::functions().bitmap_iszero(bitmap);
}
int hwloc_bitmap_last(hwloc_const_bitmap_t bitmap) {
  return hierbar::functions().bitmap_last(bitmap);
}
int hwloc_bitmap_next(hwloc_const_bitmap_t bitmap, int prev) {
  return hierbar::functions().bitmap_next(bitmap, prev);
}
int hwloc_bitmap_set(hwloc_bitmap_t bitmap, unsigned id) {
  return hierbar::functions().bitmap_set(bitmap, id);
}
void hwloc_free_xmlbuffer(hwloc_topology_t topology, char* xmlbuffer) {
  hierbar::functions().free_xmlbuffer(topology, xmlbuffer);
}
hwloc_obj_type_t hwloc_get_depth_type(hwloc_topology_t topology, int depth) {
  return hierbar::functions().get_depth_type(topology, depth);
}
hwloc_obj_t hwloc_get_obj_by_depth(hwloc_topology_t topology, int depth, unsigned idx) {
  return hierbar::functions().get_obj_by_depth(topology, depth, idx);
}
int hwloc_get_type_depth(hwloc_topology_t topology, hwloc_obj_type_t type) {
  return hierbar::functions().get_type_depth(topology, type);
}
int hwloc_obj_add_info(hwloc_obj_t obj, const char* name, const char* value) {
  return hierbar::functions().obj_add_info(obj, name, value);
}
int hwloc_obj_type_is_cache(hwloc_obj_type_t type) {
  return hierbar::functions().obj_type_is_cache(type);
}
void hwloc_topology_destroy(hwloc_topology_t topology) {
  hierbar::functions().topology_destroy(topology);
}
int hwloc_topology_export_xmlbuffer(hwloc_topology_t topology, char** xmlbuffer, int* buflen,
                                    unsigned long flags) {
  return hierbar::functions().topology_export_xmlbuffer(topology, xmlbuffer, buflen, flags);
}
hwloc_const_cpuset_t hwloc_topology_get_allowed_cpuset(hwloc_topology_t topology) {
  return hierbar::functions().topology_get_allowed_cpuset(topology);
}
int hwloc_topology_get_depth(hwloc_topology_t topology) {
  return hierbar::functions().topology_get_depth(topology);
}
int hwloc_topology_init(hwloc_topology_t* topologyp) {
  return hierbar::functions().topology_init(topologyp);
}
hwloc_obj_t hwloc_topology_insert_misc_object(hwloc_topology_t topology, hwloc_obj_t parent,
                                              const char* name) {
  return hierbar::functions().topology_insert_misc_object(topology, parent, name);
}
int hwloc_topology_load(hwloc_topology_t topology) {
  return hierbar::functions().topology_load(topology);
}
int hwloc_topology_set_all_types_filter(hwloc_topology_t topology,
                                        enum hwloc_type_filter_e filter) {
  return hierbar::functions().topology_set_all_types_filter(topology, filter);
}
int hwloc_topology_set_components(hwloc_topology_t topology, unsigned long flags,
                                  const char* name) {
  return hierbar::functions().topology_set_components(topology, flags, name);
}
int hwloc_topology_set_flags(hwloc_topology_t topology, unsigned long flags) {
  return hierbar::functions().topology_set_flags(topology, flags);
}
int hwloc_topology_set_synthetic(hwloc_topology_t topology, const char* description) {
  return hierbar::functions().topology_set_synthetic(topology, description);
}
int hwloc_topology_set_type_filter(hwloc_topology_t topology, hwloc_obj_type_t type,
                                   enum hwloc_type_filter_e filter) {
  return hierbar::functions().topology_set_type_filter(topology, type, filter);
}
int hwloc_topology_set_xml(hwloc_topology_t topology, const char* xmlpath) {
  return hierbar::functions().topology_set_xml(topology, xmlpath);
}
