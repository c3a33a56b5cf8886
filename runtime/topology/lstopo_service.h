/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HIERBAR_TOPOLOGY_LSTOPO_SERVICE_H
#define HIERBAR_TOPOLOGY_LSTOPO_SERVICE_H

/* What the OMPT tool asks of libhierbar.so, so that it does not bring hwloc into every program. Internal to the project, like
   plan_service.h. */

#include "../plan/plan_service.h" /* hierbar_cpus, hierbar_line_fn */

#ifdef __cplusplus
extern "C" {
#endif

/* Durations between threads on these cpus: MeasuredCpus of lstopo_heat.hpp. */
typedef struct hierbar_measured {
  hierbar_cpus cpus;
  const char *what;
  uint64_t sum_ns;
  uint64_t count;
} hierbar_measured;

/* write_heat_xml() of lstopo_heat.hpp for the machine that HIERBAR_TOPOLOGY names, else this one. Returns 0; or 1, and reports
   one line with what went wrong. */
int hierbar_write_heat(const char *path, const hierbar_measured *measured, uint32_t count, hierbar_line_fn report, void *context);

#ifdef __cplusplus
}
#endif

#endif
