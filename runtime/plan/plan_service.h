/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HIERBAR_PLAN_PLAN_SERVICE_H
#define HIERBAR_PLAN_PLAN_SERVICE_H

/* What an adapter asks of libhierbar.so. Internal to the project: the adapters are built with the library and refuse another
   HIERBAR_PLAN_ABI_VERSION. Everything is C, because libomp.so must not need libstdc++. */

#include "../include/hierbar/hierbar.h" /* hierbar_line_fn */
#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A set of cpus by their operating-system numbers: bit i of bits[i / 64]. num_words 0: not bound, location unknown. */
typedef struct hierbar_cpus {
  const uint64_t *bits;
  uint32_t num_words;
} hierbar_cpus;

/* Returns HIERBAR_PLAN_ABI_VERSION of the library. */
uint32_t hierbar_plan_abi_version(void);

/* Checks every HIERBAR_* setting that plans depend on, without looking at the machine. Each bad one is reported once, with the
   variable, its value, what is allowed and what is used instead. Returns how many were bad. */
int hierbar_check_settings(hierbar_line_fn report, void *context);

/* Builds the plan of num_participants participants. cpus has num_participants entries, or is NULL when no location is known.
   Loads the machine at the first call of the process (thread-safe). On success *plan is set and 0 returned; the caller frees it
   with hierbar_plan_destroy. Otherwise *plan is NULL, the reason is reported, and the errno value is returned:
     EINVAL  num_participants is 0 or above 2^20
     ENOMEM  out of memory
   A machine that cannot be read is no error: it is reported and the plan is made in index order. */
int hierbar_plan_create(uint32_t num_participants, const hierbar_cpus *cpus, hierbar_line_fn report, void *context,
                        const hierbar_plan **plan);
void hierbar_plan_destroy(const hierbar_plan *plan);

/* What the groups of the plan have in common, as hierbar_unit (trace/stamps.h): units has an entry for each participant, for it
   and those that it gathers from; *exchange is that of all leaders. cpus as for hierbar_plan_create. All are unknown when the
   machine cannot be read or memory is short. */
void hierbar_plan_units(const hierbar_plan *plan, const hierbar_cpus *cpus, uint8_t *units, uint8_t *exchange);

/* Describe for people: the machine's tree with its active levels and what loading it cost; a plan's groups and depth. */
void hierbar_describe_machine(hierbar_line_fn print, void *context);
void hierbar_describe_plan(const hierbar_plan *plan, hierbar_line_fn print, void *context);

#ifdef __cplusplus
}
#endif

#endif
