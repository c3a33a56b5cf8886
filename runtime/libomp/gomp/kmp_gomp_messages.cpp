// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What programs that GCC compiled say, or are told, in words that libomp does not have: variables
// without effect, differences from GCC's library, the `error` directive, and OpenACC.

#include "libomp/gomp/kmp_gomp_messages.h"

#include <atomic>
#include <stdio.h>
#include <string.h>

#include "base/trusted_variable.hpp"
#include "kmp_i18n.h"
#include "kmp_io.h"
#include "libomp/gomp/kmp_gomp_entry.h"
#include "libomp/gomp/kmp_gomp_initial.h"
#include "libomp/kmp_hierbar_library.h"
#if OMPT_SUPPORT
#include "ompt-specific.h"
#endif

// ---- variables that do nothing here ----

// A user who has set one for a program that GCC compiled is told once.

namespace {

struct variable_t {
  const char *name, *instead;
};

const variable_t variables[] = {
    {"GOMP_SPINCOUNT", "KMP_BLOCKTIME says how long a thread spins before it sleeps"},
    {"GOMP_RTEMS_THREAD_POOLS", "there are no thread pools to choose"},
    {"GOMP_DEBUG", "KMP_SETTINGS=1 and HIERBAR_VERBOSE=1 print settings and actions"},
};

} // namespace

static bool has_name_of_gcc() {
  const char *const name = "/libgomp.so.1";
  const char *const file = __kmp_hierbar_own_file();
  if (file == NULL)
    return false;
  const size_t length = strlen(file);
  return length >= strlen(name) && strcmp(file + length - strlen(name), name) == 0;
}

bool __kmp_gomp_is_loaded_for_gcc() {
  enum { not_asked, no, yes };
  static std::atomic<int> answer{not_asked}; // relaxed: each thread would find the same
  if (answer.load(std::memory_order_relaxed) == not_asked)
    answer.store(has_name_of_gcc() ? yes : no, std::memory_order_relaxed);
  return answer.load(std::memory_order_relaxed) == yes;
}

void __kmp_gomp_report_variables() {
  static bool reported = false; // settings are read under a lock
  if (reported || __kmp_generate_warnings == kmp_warnings_off || !__kmp_gomp_is_loaded_for_gcc())
    return;
  reported = true;
  for (const variable_t &variable : variables) {
    const char *value = hierbar::trusted_variable(variable.name);
    if (value && *value)
      __kmp_printf("OMP: Warning: %s=\"%s\" has no effect: this is LLVM's OpenMP runtime in place "
                   "of GCC's; %s\n",
                   variable.name, value, variable.instead);
  }
}

// ---- differences from GCC's library ----

// A program that GCC compiled is told of each once on which it may rely, others of none. GOMP.md
// lists them.

namespace {

// Whether the caller is to tell. Relaxed: nothing but the message depends on it. A flag, because
// RISC-V exchanges no single bytes, and an atomic<bool> would need libatomic there.
bool claim(std::atomic_flag *reported) {
  return __kmp_generate_warnings != kmp_warnings_off &&
         !reported->test_and_set(std::memory_order_relaxed);
}

} // namespace

void __kmp_gomp_report_hard_pause() {
  static std::atomic_flag reported = ATOMIC_FLAG_INIT;
  if (__kmp_gomp_is_loaded_for_gcc() && claim(&reported))
    __kmp_printf("OMP: Warning: threads and their threadprivate variables may survive a hard pause "
                 "of resources; GCC's library "
                 "would end the threads\n");
}

void __kmp_gomp_report_limit(kmp_info_t *thread, unsigned num_threads) {
  static std::atomic_flag reported = ATOMIC_FLAG_INIT;
  const kmp_team_t *team = thread->th.th_team;
  const kmp_internal_control_t &icvs = thread->th.th_current_task->td_icvs;
  const int num_asked = num_threads > 0 ? (int)num_threads : icvs.nproc;
  const bool is_nested = team->t.t_active_level > __kmp_gomp_base_active_level();
  if (is_nested && num_asked > 1 && icvs.max_active_levels > team->t.t_active_level &&
      claim(&reported))
    __kmp_printf("OMP: Warning: thread_limit(%d) limits each parallel region by itself; nested "
                 "regions together may have more threads than with GCC's library\n",
                 icvs.task_thread_limit);
}

// The library's name does not tell whose program it is: `hierbar run` preloads this one for all.
void __kmp_gomp_report_nesting(int gtid) {
  static std::atomic_flag reported = ATOMIC_FLAG_INIT;
  const bool is_of_gcc =
      __kmp_threads[gtid]->th.th_current_task->td_flags.native; // GOMP_task has made it
  if (is_of_gcc && claim(&reported))
    __kmp_printf("OMP: Warning: omp_set_nest_lock() in a task nests, because another task of the "
                 "same thread holds the lock; "
                 "GCC's library would wait for that task\n");
}

// ---- the `error` directive ----

// The `error` directive with at(execution): GCC's text, which scripts may look for, and its way to
// end the program. LLVM's ends it by abort().

// The length is that of a Fortran string without its end; -1: the message has one.
static void report(int severity, const char *message, size_t length, void *return_address) {
  if (!__kmp_init_serial)
    __kmp_serial_initialize(); // a tool may want to be told
  if (message == NULL)
    length = 0;
  else if (length == (size_t)-1)
    length = KMP_STRLEN(message);
#if OMPT_SUPPORT
  if (ompt_enabled.enabled && ompt_enabled.ompt_callback_error) {
    ompt_callbacks.ompt_callback(ompt_callback_error)(
        (ompt_severity_t)severity, message ? message : "", length, return_address);
  }
#endif
  // One call, so that the lines of several threads do not mix.
  fprintf(stderr, "\nlibgomp: %serror directive encountered%s%.*s\n",
          severity == severity_fatal ? "fatal error: " : "", message ? ": " : "",
          (int)KMP_MIN(length, (size_t)INT_MAX), message ? message : "");
}

extern "C" {

void KMP_EXPAND_NAME(GOMP_warning)(const char *message, size_t length) {
  report(severity_warning, message, length, __builtin_return_address(0));
}
KMP_VERSION_SYMBOL(GOMP_warning, 51, "GOMP_5.1");

// Does not return.
void KMP_EXPAND_NAME(GOMP_error)(const char *message, size_t length) {
  report(severity_fatal, message, length, __builtin_return_address(0));
  exit(EXIT_FAILURE);
}
KMP_VERSION_SYMBOL(GOMP_error, 51, "GOMP_5.1");

} // extern "C"

// ---- OpenACC ----

// OpenACC, which GCC has in the same library. It is not here, and each function says so when it is
// called. Without them a program with any OpenACC in it could not start, and the dynamic linker
// would not tell what to do.

static void refuse(const char *function) {
  __kmp_printf("OMP: Error: the program calls %s, which is OpenACC; this libgomp.so.1 has OpenMP "
               "only. Run the program with GCC's "
               "libgomp.so.1: remove this one's directory from LD_LIBRARY_PATH\n",
               function);
  __kmp_abort_process();
}

extern "C" {
#define KMP_GOMP_REFUSE(name, version)                                                             \
  void __kmp_gomp_##name(void) { refuse(#name); }                                                  \
  KMP_GOMP_EXPORT(name, version);
#include "kmp_gomp_openacc.inc" // sources.cmake makes it from gcc_functions.txt
} // extern "C"
