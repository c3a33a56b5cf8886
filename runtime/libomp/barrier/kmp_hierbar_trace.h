// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_TRACE_H
#define KMP_HIERBAR_TRACE_H

// Stamps for a tool that asked for them; see trace/stamps.h.

#include "kmp.h"
#include "libomp/barrier/kmp_hierbar_team.h"

#include "barrier/trace_points.hpp"
#include "base/arch/counter.hpp"
#include "trace/stamps.h"

// Set by a tool before the first region.
extern bool __kmp_hierbar_traced;
extern hierbar::ClockSource __kmp_hierbar_trace_clock;

// What a tool has set, NULL at first; see hierbar_trace_interface.
struct kmp_hierbar_observer_t {
  void (*waiting)(void);
  hierbar_phases *(*begin)(uint32_t kind, void *task_data, const void *address);
  void (*end)(void);
};
extern kmp_hierbar_observer_t __kmp_hierbar_observer;

// The calling thread's. In static thread-local storage: every barrier of a traced program reads it,
// and would otherwise call the loader.
extern __thread hierbar_phases *__kmp_hierbar_next_phases [[gnu::tls_model("initial-exec")]];

// What a tool's lookup function returns for a name that is not OMPT's: a function, or NULL. Called
// by ompt-general.cpp.
void (*__kmp_hierbar_tool_lookup(const char *name))(void);

// Where to stamp the calling thread's barrier; NULL: nowhere.
static inline hierbar_phases *__kmp_hierbar_phases() {
  return __kmp_hierbar_traced ? __kmp_hierbar_next_phases : NULL;
}

// A trace for the engine that keeps nothing.
struct kmp_hierbar_untraced_t : hierbar::NoTrace {
  void served(const kmp_hierbar_team_t *) const {
  } // the stamps are the barrier's: nobody ran tasks between them
};

// The same that stamps.
class kmp_hierbar_traced_t : public hierbar::NoTrace {
  hierbar_phases *const phases;
  const hierbar::ClockSource clock;

public:
  static constexpr bool kUsesWaits = true;
  explicit kmp_hierbar_traced_t(hierbar_phases *phases)
      : phases(phases), clock(__kmp_hierbar_trace_clock) {}
  void gathered() const { phases->gathered = hierbar::read_clock(clock); }
  void waiting() const { __kmp_hierbar_observer.waiting(); }
  void released() const { phases->released = hierbar::read_clock(clock); }
  void served(const kmp_hierbar_team_t *hier) const { phases->shape = hier->serial; }
};

#endif // KMP_HIERBAR_TRACE_H
