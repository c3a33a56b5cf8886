// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "libomp/barrier/kmp_hierbar_host.h"

#include "base/trusted_variable.hpp"
#include "libomp/barrier/kmp_hierbar_team.h"
#include "libomp/barrier/kmp_hierbar_waits.h"

int __kmp_hierbar_pauses_per_poll = 1;
bool __kmp_hierbar_sleepers_fence = false;

// When this library is loaded, most processes have one thread, and the kernel registers it at once.
// Beside other threads, as an MPI library has them, it takes 10 to 20 ms. Whether it has worked is
// asked in the first region.
__attribute__((constructor)) static void register_early() {
  if (hierbar::trusted_variable("KMP_BARRIER") != NULL)
    hierbar::membarrier(hierbar::Membarrier::kRegisterPrivateExpedited);
}

void __kmp_hierbar_measure_host() {
  __kmp_hierbar_pauses_per_poll = hierbar::measure_pauses_per_poll();
  __kmp_hierbar_sleepers_fence = hierbar::can_fence_threads();
}

void __kmp_hierbar_note_wait(kmp_hierbar_team_t *hier) {
  // Not engine.is_oversubscribed(): teams of up to four have no crews.
  const int num_cpus = __kmp_avail_proc ? __kmp_avail_proc : __kmp_xproc;
  if (hier->nproc > num_cpus && __kmp_hierbar_yielded_for_long(hier->nproc))
    hier->release_choice.came_late(KMP_NOW(), hier->counts.fast);
}
