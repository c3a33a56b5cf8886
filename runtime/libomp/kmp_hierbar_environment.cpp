// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Programs with more rights than their user. Some of libomp's variables name code to load or files
// to open, and libomp reads them by plain getenv(). In such a program they are removed from the
// environment when this library is loaded, as glibc's loader removes LD_PRELOAD and its kind.
//
// Removed, and not only overlooked by libomp, for two reasons. A program that gives up its caller's
// identity and starts another one would hand them on, and nothing shows that other program where
// they come from. And what the program itself sets later counts: it may choose a tool.
//
// The rest of libomp's variables still count. They choose numbers, places and algorithms, and
// programs with file capabilities are tuned by them as others are.

#include <stdlib.h>

#include "base/trusted_variable.hpp"

namespace {

// From LLVM 19.1.7 and 22.1.8: what leads to dlopen() or fopen(). Some are compiled only with
// options of libomp's build that ours does not use; these are marked.
const char *const harmful_variables[] = {
    "OMP_TOOL_LIBRARIES",        // loaded; ompt-general.cpp
    "INTEL_LIBITTNOTIFY32",      // loaded; thirdparty/ittnotify
    "INTEL_LIBITTNOTIFY64",      // loaded
    "OMP_TOOL_VERBOSE_INIT",     // written to; ompt-general.cpp
    "KMP_CPUINFO_FILE",          // read, and parts of it shown; kmp_affinity.cpp
    "KMP_SPECULATIVE_STATSFILE", // written to; with KMP_DEBUG_ADAPTIVE_LOCKS
    "KMP_STATS_FILE",            // written to; with LIBOMP_STATS
    "KMP_STATS_EVENTS_FILE",     // the same
    "KMP_STATS_PLOT_FILE",       // the same
    "KMP_TDG_DOT",               // makes files where the program is; with LIBOMP_OMPX_TASKGRAPH
    "LIBOMPTARGET_PROFILE",      // written to; with OMP_PROFILING_SUPPORT
};

__attribute__((constructor)) void remove_harmful_variables() {
  if (!hierbar::is_environment_untrusted())
    return;
  for (const char *name : harmful_variables)
    unsetenv(name);
}

} // namespace
