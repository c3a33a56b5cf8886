/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HIERBAR_PLACEMENT_PLACE_SERVICE_H
#define HIERBAR_PLACEMENT_PLACE_SERVICE_H

/* What libomp asks of libhierbar.so before it reads the machine. Internal to the project, like
   plan_service.h. */

#include "service/plan_service.h" /* hierbar_cpus, hierbar_line_fn */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hierbar_place_request {
  /* The cpus that the process has now. */
  hierbar_cpus mask;
  /* The cpus with which it was started; num_words 0: not known. */
  hierbar_cpus first_mask;
  /* The team size that was asked for by number; 0: none was. */
  uint32_t num_threads;
  /* Why the host's own settings forbid other cpus, as a text for users; NULL: they do not. */
  const char *objection;
} hierbar_place_request;

enum {
  HIERBAR_PLACE_STAYS = 0, /* on the cpus that it has, which others may use as well */
  HIERBAR_PLACE_SHARE = 1, /* takes `share`, which is this process's alone */
  HIERBAR_PLACE_OWN = 2    /* stays on the cpus that it has, which are this process's alone */
};

/* Finds this rank's share of the node, as HIERBAR_PLACE asks for it. Returns one of these.

   HIERBAR_PLACE_SHARE comes with the share in the num_words words of `share`, in the form of
   hierbar_cpus. The share is never empty and has no cpu that the kernel does not allow. With the
   others `share` is unchanged.

   In all cases `*team_size` is the number of threads of teams whose size nobody has given; 0: as
   many as `mask` gives.

   `note` gets one line with the verdict and its reason. `warn` gets what is wrong with the
   settings, and that ranks did not come or could not meet. Either may be NULL.

   It waits for the node's other ranks: two seconds at most, and while one of them loads the
   machine. To be called once, before the host reads the machine. */
int hierbar_place(const hierbar_place_request *request, hierbar_line_fn note, hierbar_line_fn warn,
                  void *context, uint64_t *share, uint32_t num_words, uint32_t *team_size);

/* How many cpus' worth of time the control groups leave this process, rounded up; 0: as much as its
   cpus give. */
uint32_t hierbar_cpu_quota(void);

#ifdef __cplusplus
}
#endif

#endif
