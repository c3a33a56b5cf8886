/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HIERBAR_PLAN_PLAN_SERVICE_H
#define HIERBAR_PLAN_PLAN_SERVICE_H

/* What an adapter asks of libhierbar.so. Internal to the project: an adapter is built together with
   the library, and refuses one with another HIERBAR_PLAN_ABI_VERSION. Everything is C, because
   libomp.so must not need libstdc++. */

#include "../include/hierbar/hierbar.h" /* hierbar_line_fn */
#include "plan/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A set of cpus by the operating system's numbers: bit i % 64 of bits[i / 64]. num_words 0: not
   bound, so the location is unknown. */
typedef struct hierbar_cpus {
  const uint64_t *bits;
  uint32_t num_words;
} hierbar_cpus;

/* Returns HIERBAR_PLAN_ABI_VERSION of the library. */
uint32_t hierbar_plan_abi_version(void);

/* Checks every HIERBAR_* setting on which plans depend, without reading the machine. Each bad one
   is reported once, with the variable, its value, what is allowed and what is used instead. Returns
   how many were bad. */
int hierbar_check_settings(hierbar_line_fn report, void *context);

/* Builds the plan of num_participants participants. cpus has num_participants entries, or is NULL
   if no location is known. The first call that needs the machine loads it; teams of up to four do
   not need it. Any thread may call this.

   On success *plan is set and 0 is returned; the caller frees it with hierbar_plan_destroy.
   Otherwise *plan is NULL, the reason is reported, and the errno value is returned:
     EINVAL  num_participants is 0 or above 2^20
     ENOMEM  out of memory
   A machine that cannot be read is no error: that is reported, and the plan follows the order of
   the participants. */
int hierbar_plan_create(uint32_t num_participants, const hierbar_cpus *cpus, hierbar_line_fn report,
                        void *context, const hierbar_plan **plan);
/* The same with the groups of paper P1, for the algorithm `topo`, whatever the number of
   participants. EINVAL also if the machine gives none: the last line reported is the reason. */
int hierbar_plan_create_groups(uint32_t num_participants, const hierbar_cpus *cpus,
                               hierbar_line_fn report, void *context, const hierbar_plan **plan);
void hierbar_plan_destroy(const hierbar_plan *plan);

/* What the groups of the plan have in common, as hierbar_unit (base/levels.h). units gets an entry
   for each participant: the unit of that participant and those from which it gathers. *exchange
   gets the unit of all leaders. cpus as for hierbar_plan_create. All are unknown if cpus is NULL,
   if the machine cannot be read or if memory is short. */
void hierbar_plan_units(const hierbar_plan *plan, const hierbar_cpus *cpus, uint8_t *units,
                        uint8_t *exchange);

/* Descriptions for people: the machine's tree, its active levels and the time to load it; a plan's
   groups and depth. */
void hierbar_describe_machine(hierbar_line_fn print, void *context);
void hierbar_describe_plan(const hierbar_plan *plan, hierbar_line_fn print, void *context);

#ifdef __cplusplus
}
#endif

#endif
