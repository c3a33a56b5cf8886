/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

   The interface between libhierbar.so and its adapters, as a C compiler sees it. */
#include "service/plan_service.h"

uint32_t leaders_counted_in_c(uint32_t num_participants);

uint32_t leaders_counted_in_c(uint32_t num_participants) {
  const hierbar_plan *plan;
  uint32_t num_leaders = 0;
  uint32_t i;
  if (hierbar_plan_create(num_participants, 0, 0, 0, &plan) != 0) return 0;
  for (i = 0; i < plan->num_participants; ++i) {
    if (plan->nodes[i].parent == i) ++num_leaders;
  }
  hierbar_plan_destroy(plan);
  return num_leaders;
}
