// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_TRACE_H
#define KMP_HIERBAR_TRACE_H

// Stamps for a tool that asked for them; see trace/stamps.h.

#include "kmp.h"
#include "kmp_hierbar_team.h"

#include "barrier/trace_points.hpp"
#include "trace/counter.hpp"
#include "trace/stamps.h"

// Set by a tool before the first region.
extern bool __kmp_hierbar_traced;
extern hierbar::ClockSource __kmp_hierbar_trace_clock;

// The calling thread's. In static thread-local storage: every barrier of a traced program asks, and would call the loader.
extern __thread hierbar_stamps __kmp_hierbar_stamps [[gnu::tls_model("initial-exec")]];

// What HIERBAR_PLACE came to; empty: nothing yet.
extern char __kmp_hierbar_placement[512];

// hierbar_trace_interface.units, for a team that has a plan.
uint32_t __kmp_hierbar_units(kmp_team_t *team, uint8_t *units);

// Whether the calling thread's barrier is to be stamped.
static inline bool __kmp_hierbar_stamps_wanted() { return __kmp_hierbar_traced && __kmp_hierbar_stamps.wanted != 0; }

// A trace for the engine that keeps nothing.
struct kmp_hierbar_untraced_t : hierbar::NoTrace {
  void served(const kmp_hierbar_team_t *) const {} // the stamps are the barrier's: nobody ran tasks between them
};

// The same that stamps.
class kmp_hierbar_traced_t {
  hierbar_stamps *const stamps;
  const hierbar::ClockSource clock;

public:
  kmp_hierbar_traced_t() : stamps(&__kmp_hierbar_stamps), clock(__kmp_hierbar_trace_clock) {}
  void arrived() const {
    stamps->gathered = stamps->released = 0;
    stamps->arrived = stamps->wanted > 1 ? stamps->wanted : hierbar::read_clock(clock);
  }
  void gathered() const { stamps->gathered = hierbar::read_clock(clock); }
  void released() const { stamps->released = hierbar::read_clock(clock); }
  void served(const kmp_hierbar_team_t *hier) const {
    stamps->shape = hier->instances[hier->current].serial;
    ++stamps->num_barriers;
  }
};

#endif // KMP_HIERBAR_TRACE_H
