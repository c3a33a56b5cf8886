/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HIERBAR_PLACEMENT_PLACE_SERVICE_H
#define HIERBAR_PLACEMENT_PLACE_SERVICE_H

/* What libomp asks of libhierbar.so before it looks at the machine. Internal to the project, like plan_service.h. */

#include "../plan/plan_service.h" /* hierbar_cpus, hierbar_line_fn */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hierbar_place_request {
  hierbar_cpus mask;       /* the cpus that the process has now */
  hierbar_cpus first_mask; /* those that it was started with; num_words 0: not known */
  uint32_t num_threads;    /* the team size that was asked for by number; 0: none was */
  const char *objection;   /* why the host's own settings forbid other cpus, for people; NULL: they do not */
} hierbar_place_request;

/* This rank's share of the node, as HIERBAR_PLACE wants it: 1 with the share in the num_words words of `share`, as hierbar_cpus
   has it; 0 to leave everything as it is, with `share` and `team_size` untouched. The share is never empty and holds no cpu that
   the kernel does not allow. `*team_size` is how many threads a team gets of which nobody says how large it is; 0: as many as
   `mask` would have given it.

   `note` gets one line with the verdict and its reason, `warn` what is wrong with the settings, and that ranks did not come
   or could not meet. Either may be NULL.

   Waits for the node's other ranks, two seconds at most, and while one of them loads the machine. To be called once, before the
   host looks at the machine. */
int hierbar_place(const hierbar_place_request *request, hierbar_line_fn note, hierbar_line_fn warn, void *context,
                  uint64_t *share, uint32_t num_words, uint32_t *team_size);

#ifdef __cplusplus
}
#endif

#endif
