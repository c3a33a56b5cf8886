/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HIERBAR_TOPOLOGY_LSTOPO_SERVICE_H
#define HIERBAR_TOPOLOGY_LSTOPO_SERVICE_H

/* What the OMPT tool asks of libhierbar.so. So the tool does not load hwloc into every program.
   Internal to the project, like plan_service.h. */

#include "service/plan_service.h" /* hierbar_cpus, hierbar_line_fn */

#ifdef __cplusplus
extern "C" {
#endif

/* Durations between threads on these cpus; see MeasuredCpus in lstopo_heat.hpp. */
typedef struct hierbar_measured {
  hierbar_cpus cpus;
  const char *what;
  uint64_t sum_ns;
  uint64_t count;
} hierbar_measured;

/* Calls write_heat_xml() of lstopo_heat.hpp for the machine that HIERBAR_TOPOLOGY names, else for
   this one. Returns 0 on success. Otherwise it returns 1 and reports one line with what went wrong;
   report must not be NULL. */
int hierbar_write_heat(const char *path, const hierbar_measured *measured, uint32_t count,
                       hierbar_line_fn report, void *context);

#ifdef __cplusplus
}
#endif

#endif
