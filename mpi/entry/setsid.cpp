// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPICH's launcher, Hydra, makes each rank a session before it becomes its program. Where the
// kernel schedules each session as a group, ranks that share a cpu are slow to yield to each other.
// With HIERBAR_SESSIONS=shared, where this library is loaded into Hydra's proxy, a rank is a
// process group in the proxy's session. The group is what Hydra sends its signals to, and has no
// terminal, because the proxy's session has none (docs/design/waiting.md#d0157).

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string_view>

#include "mpi/settings/settings.hpp"

namespace {

// Whether this is a process that Hydra's proxy has forked, and the proxy leads a session that Hydra
// has made for it.
bool is_child_of_proxy() {
  return std::string_view(program_invocation_short_name) == "hydra_pmi_proxy" &&
         getsid(0) == getppid();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) pid_t setsid() noexcept {
  if (hierbar::mpi::shares_session() && is_child_of_proxy() && setpgid(0, 0) == 0) return getpid();
  return static_cast<pid_t>(syscall(SYS_setsid));
}
