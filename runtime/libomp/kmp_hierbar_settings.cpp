// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// KMP_BARRIER and HIERBAR_VERBOSE: read once, while libomp is initialised and holds its lock. Then
// whoever has variables of its own reads them.

#include "libomp/kmp_hierbar_settings.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/trusted_variable.hpp"
#include "kmp_environment.h"
#include "kmp_i18n.h"
#include "kmp_settings.h"
#include "libomp/barrier/kmp_hierbar_host.h"
#include "libomp/barrier/kmp_hierbar_report.h"
#include "libomp/barrier/kmp_hierbar_waits.h"
#include "libomp/gomp/kmp_gomp_messages.h"
#include "libomp/kmp_hierbar_compat.h"
#include "libomp/kmp_hierbar_library.h"
#include "libomp/kmp_hierbar_placement.h"
#include "libomp/region/kmp_hierbar_region_record.h"

bool __kmp_hierbar_enabled = false;
bool __kmp_hierbar_unchecked = false;
bool __kmp_hierbar_verbose = false;

// What KMP_BARRIER asks for; bp_last_bar + 1 when it is not set.
static const int not_requested = bp_last_bar + 1;
static int requested_pattern = not_requested;

// KMP_BARRIER is read by LLVM like all KMP_ variables, in programs with more rights than their user
// too. It names no file, it only chooses among barriers, as KMP_PLAIN_BARRIER_PATTERN does.
// HIERBAR_ variables do not count in such programs (trusted_variable()).
void __kmp_stg_parse_hierbar(char const *name, char const *value, void *data) {
  if (value == NULL || *value == '\0')
    return;
  if (TCR_4(__kmp_init_parallel)) {
    KMP_WARNING(EnvParallelWarn, name);
    return;
  }
  // Whole names only. The *_BARRIER_PATTERN variables match by prefix, where "hier" means
  // "hierarchical".
  for (int pattern = bp_linear_bar; pattern <= bp_hierbar; ++pattern) {
    if (strcasecmp(value, __kmp_barrier_pattern_name[pattern]) == 0) {
      requested_pattern = pattern;
      return;
    }
  }
  __kmp_hierbar_warn_bad_value(name, value, "hier, linear, tree, hyper, hierarchical, dist",
                               "using the default barrier");
}

void __kmp_stg_print_hierbar(kmp_str_buf_t *buffer, char const *name, void *data) {
  if (requested_pattern == not_requested) {
    KMP_STR_BUF_PRINT_NAME;
    __kmp_str_buf_print(buffer, ": %s\n", KMP_I18N_STR(NotDefined));
    return;
  }
  KMP_STR_BUF_PRINT_NAME_EX(name);
  __kmp_str_buf_print(buffer, "%s'\n", __kmp_barrier_pattern_name[requested_pattern]);
}

static void read_verbose() {
  char const *value = hierbar::trusted_variable("HIERBAR_VERBOSE");
  if (value == NULL || *value == '\0' || strcmp(value, "0") == 0)
    __kmp_hierbar_verbose = false;
  else if (strcmp(value, "1") == 0)
    __kmp_hierbar_verbose = true;
  else
    __kmp_hierbar_warn_bad_value("HIERBAR_VERBOSE", value, "0, 1", "printing nothing");
}

// Lean regions (region/kmp_hierbar_region.h).
static bool are_regions_lean() {
  char const *value = hierbar::trusted_variable("HIERBAR_REGION");
  if (value == NULL || *value == '\0' || strcmp(value, "on") == 0)
    return true;
  if (strcmp(value, "off") == 0)
    return false;
  __kmp_hierbar_warn_bad_value("HIERBAR_REGION", value, "on, off", "using on");
  return true;
}

static void warn_about_pattern_variables() {
  for (int i = bs_plain_barrier; i < bs_last_barrier; i++) {
    char const *value = hierbar::trusted_variable(__kmp_barrier_pattern_env_name[i]);
    if (value == NULL || *value == '\0')
      continue;
    kmp_str_buf_t text;
    __kmp_str_buf_init(&text);
    __kmp_str_buf_print(
        &text, "%s=\"%s\" is ignored because KMP_BARRIER=%s is set, which holds for all barriers",
        __kmp_barrier_pattern_env_name[i], value, __kmp_barrier_pattern_name[requested_pattern]);
    __kmp_hierbar_warn(NULL, text.str);
    __kmp_str_buf_free(&text);
    return;
  }
}

// The variable is for the barriers of libhierbar.so's own interface. Here it could only be meant
// for us by mistake.
static void warn_about_algorithm() {
  char const *value = hierbar::trusted_variable("HIERBAR_ALGORITHM");
  if (value == NULL || *value == '\0' || strcasecmp(value, "hier") == 0)
    return;
  __kmp_hierbar_warn_bad_value("HIERBAR_ALGORITHM", value,
                               "hier, which is all that KMP_BARRIER=hier runs", "using hier");
}

// KMP_INIT_AT_FORK=FALSE leaves a child that is forked after a parallel region without a usable
// runtime: its first region waits for threads that it does not have. joblib and scikit-learn set it
// on import, against a crash of Intel's libomp of 2019, and their own children then hang.
static void keep_fork_handlers() {
  // A forked child comes here again. It has its parent's handlers, and registers none.
  static bool is_first = true;
  if (is_first && !__kmp_need_register_atfork) {
    __kmp_need_register_atfork = TRUE;
    __kmp_hierbar_warn(NULL,
                       "KMP_INIT_AT_FORK=\"FALSE\" is not obeyed under KMP_BARRIER=hier, because a "
                       "process that is forked after a parallel region would hang in its first own "
                       "region; KMP_INIT_AT_FORK=TRUE prevents this message");
  }
  is_first = false;
}

static void choose_barrier() {
  read_verbose();
  __kmp_gomp_report_variables();
  if (requested_pattern == not_requested)
    return;
  warn_about_pattern_variables();
  if (requested_pattern == bp_hierbar) {
    const kmp_uint64 start = __kmp_now_nsec();
    if (!__kmp_hierbar_load_library()) {
      requested_pattern = not_requested;
      __kmp_hierbar_enabled = false;
      return;
    }
    __kmp_hierbar_library.check_settings(__kmp_hierbar_warn, NULL);
    warn_about_algorithm();
    keep_fork_handlers();
    __kmp_hierbar_measure_host();
    __kmp_hierbar_enabled = true;
    __kmp_hierbar_lean_regions = are_regions_lean();
    __kmp_hierbar_read_waits();
    __kmp_hierbar_read_primary();
    __kmp_hierbar_start_report(__kmp_now_nsec() - start);
  }
  for (int i = bs_plain_barrier; i < bs_last_barrier; i++) {
    __kmp_barrier_gather_pattern[i] = (kmp_bar_pat_e)requested_pattern;
    __kmp_barrier_release_pattern[i] = (kmp_bar_pat_e)requested_pattern;
  }
}

void __kmp_hierbar_settings_done() {
  __kmp_hierbar_settings_changed();
  // kmp_set_defaults() comes here too, while teams may be at work: their barrier stays what it is.
  if (!TCR_4(__kmp_init_parallel))
    choose_barrier();
  __kmp_hierbar_unchecked = __kmp_hierbar_enabled && !__kmp_env_consistency_check;
}

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

namespace {

// From LLVM 19.1.7, 22.1.8 and 23.1.1: what leads to dlopen() or fopen(). Some are compiled only
// with options of libomp's build that ours does not use; these are marked.
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
    "KMP_TDG_DOT",               // makes files where the program is; with libomp's task graphs
    "LIBOMPTARGET_PROFILE",      // written to; with OMP_PROFILING_SUPPORT
};

__attribute__((constructor)) void remove_harmful_variables() {
  if (!hierbar::is_environment_untrusted())
    return;
  for (const char *name : harmful_variables)
    unsetenv(name);
}

} // namespace
