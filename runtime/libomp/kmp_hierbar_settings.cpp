// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// KMP_BARRIER, HIERBAR_VERBOSE and libhierbar.so: read once, while libomp is initialised and holds
// its lock.

#include "kmp_hierbar.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/trusted_variable.hpp"
#include "kmp_environment.h"
#include "kmp_gomp.h"
#include "kmp_hierbar_team.h"
#include "kmp_i18n.h"
#include "kmp_io.h"
#include "kmp_settings.h"
#include "kmp_str.h"
#include "region/kmp_hierbar_region.h"
#include "waits/kmp_hierbar_waits.h"

bool __kmp_hierbar_enabled = false;
bool __kmp_hierbar_verbose = false;
int __kmp_hierbar_pauses_per_look = 1;
bool __kmp_hierbar_sleepers_fence = false;
kmp_hierbar_library_t __kmp_hierbar_library;

// What KMP_BARRIER asks for; bp_last_bar + 1 when it is not set.
static const int not_requested = bp_last_bar + 1;
static int requested_pattern = not_requested;

void __kmp_hierbar_note(void *context, const char *line) { __kmp_printf("OMP: hierbar: %s\n", line); }

void __kmp_hierbar_warn(void *context, const char *line) {
  if (__kmp_generate_warnings != kmp_warnings_off)
    __kmp_printf("OMP: Warning: hierbar: %s\n", line);
}

void __kmp_hierbar_warn_bad_value(char const *name, char const *value, char const *allowed, char const *instead) {
  kmp_str_buf_t text;
  __kmp_str_buf_init(&text);
  __kmp_str_buf_print(&text, "%s=\"%s\" is not one of %s; %s", name, value, allowed, instead);
  __kmp_hierbar_warn(NULL, text.str);
  __kmp_str_buf_free(&text);
}

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
  __kmp_hierbar_warn_bad_value(name, value, "hier, linear, tree, hyper, hierarchical, dist", "using the default barrier");
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

// libhierbar.so lies beside this library, whatever name the program found this one by. Otherwise
// the loader's own path decides. No variable has a say in either where the environment is
// untrusted: the loader then ignores LD_LIBRARY_PATH, for this library as for that one.
static void *open_library() {
  Dl_info self;
  char path[PATH_MAX];
  // Local, so that the program's own libraries are not disturbed. Never unloaded: plans live in it.
  const int mode = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
  if (dladdr((void *)&open_library, &self) != 0 && realpath(self.dli_fname, path) != NULL) {
    char *slash = strrchr(path, '/');
    static const char file[] = "libhierbar.so";
    if (slash != NULL && (size_t)(slash + 1 - path) + sizeof(file) <= sizeof(path)) {
      memcpy(slash + 1, file, sizeof(file));
      if (void *library = dlopen(path, mode))
        return library;
      if (access(path, F_OK) == 0)
        return NULL; // it is there and cannot be used: say that, do not hide it behind another one
    }
  }
  return dlopen("libhierbar.so.0", mode);
}

template <class Function> static bool bind(void *library, char const *symbol, Function *function) {
  *function = (Function)dlsym(library, symbol);
  return *function != NULL;
}

bool __kmp_hierbar_load_library() {
  if (__kmp_hierbar_library.plan_create != NULL)
    return true;
  kmp_hierbar_library_t found;
  uint32_t (*abi_version)(void);
  char const *problem = NULL;
  void *library = open_library();
  if (library == NULL) {
    problem = dlerror();
  } else if (!bind(library, "hierbar_plan_abi_version", &abi_version) || abi_version() != HIERBAR_PLAN_ABI_VERSION ||
             !bind(library, "hierbar_check_settings", &found.check_settings) ||
             !bind(library, "hierbar_plan_create", &found.plan_create) ||
             !bind(library, "hierbar_plan_destroy", &found.plan_destroy) ||
             !bind(library, "hierbar_plan_units", &found.plan_units) ||
             !bind(library, "hierbar_describe_machine", &found.describe_machine) ||
             !bind(library, "hierbar_describe_plan", &found.describe_plan) || !bind(library, "hierbar_place", &found.place) ||
             !bind(library, "hierbar_cpu_quota", &found.cpu_quota) || !bind(library, "hierbar_version", &found.version)) {
    problem = "libhierbar.so is of another version than this libomp.so";
  }
  if (problem == NULL) {
    __kmp_hierbar_library = found;
    return true;
  }
  kmp_str_buf_t text;
  __kmp_str_buf_init(&text);
  __kmp_str_buf_print(&text, "KMP_BARRIER=hier needs libhierbar.so beside libomp.so (%s); using the default barrier", problem);
  __kmp_hierbar_warn(NULL, text.str);
  __kmp_str_buf_free(&text);
  return false;
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
    __kmp_str_buf_print(&text, "%s=\"%s\" is ignored because KMP_BARRIER=%s is set, which holds for all barriers",
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
  __kmp_hierbar_warn_bad_value("HIERBAR_ALGORITHM", value, "hier, which is all that KMP_BARRIER=hier runs", "using hier");
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
                       "KMP_INIT_AT_FORK=\"FALSE\" is not obeyed under KMP_BARRIER=hier, because a process that is forked "
                       "after a parallel region would hang in its own first one; KMP_INIT_AT_FORK=TRUE prevents this message");
  }
  is_first = false;
}

void __kmp_hierbar_settings_done() {
  __kmp_hierbar_settings_changed();
  // kmp_set_defaults() comes here too, while teams may be at work: their barrier stays what it is.
  if (TCR_4(__kmp_init_parallel))
    return;
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
    __kmp_hierbar_pauses_per_look = hierbar::measure_pauses_per_look();
    __kmp_hierbar_sleepers_fence = hierbar::can_fence_threads();
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
