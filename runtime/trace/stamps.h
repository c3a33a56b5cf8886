/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HIERBAR_TRACE_STAMPS_H
#define HIERBAR_TRACE_STAMPS_H

/* What our libomp tells a tool about the phases of its barriers, beyond OMPT. A tool asks for it by the name below:

       hierbar_trace_entry entry = (hierbar_trace_entry)lookup("ompx_hierbar_trace");
       const hierbar_trace_interface *trace = entry == NULL ? NULL : entry(HIERBAR_TRACE_VERSION);

   Other runtimes return NULL for the name, ours for a version that it does not know; a tool may then ask for an earlier one. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HIERBAR_TRACE_ENTRY "ompx_hierbar_trace"
#define HIERBAR_TRACE_VERSION 3u

/* What threads may have in common, from the smallest. */
enum hierbar_unit {
  HIERBAR_UNIT_UNKNOWN = 0, /* somebody is not bound */
  HIERBAR_UNIT_CORE,
  HIERBAR_UNIT_L2,
  HIERBAR_UNIT_CLUSTER,
  HIERBAR_UNIT_L3,
  HIERBAR_UNIT_DIE,
  HIERBAR_UNIT_NUMA,
  HIERBAR_UNIT_PACKAGE,
  HIERBAR_UNIT_MACHINE,
  HIERBAR_NUM_UNITS
};

/* The calling thread's last barrier that was to be stamped, and was one exchange, a reduction or the end of a region. Times are
   ticks of the clock that was chosen. */
typedef struct hierbar_stamps {
  uint64_t num_barriers; /* how many the thread has been stamped in; unchanged: the last barrier went another way */
  uint64_t shape;        /* serial number of the tree it ran on, never 0; the same for the whole team */
  uint64_t arrived;      /* came to the barrier */
  uint64_t gathered;     /* all of its subtree has come; 0 for a thread that gathers from nobody */
  uint64_t released;     /* knows that all have come: a leader from the exchange, the others from their parents. 0 for
                            all but the primary at the end of a region, which releases nobody */

  /* Since version 2; before, every barrier is stamped. */
  uint64_t wanted; /* set by the tool, for the thread's next barrier: not 0 if it is to be stamped; 0 at first. Since version
                      3: above 1 it is the time of the arrival, which the tool has stamped already, and becomes `arrived` */
} hierbar_stamps;

typedef struct hierbar_trace_interface {
  uint32_t version; /* at least what was asked for; later versions only add at the end */

  /* From now on barriers are stamped that are wanted; clock is a hierbar::ClockSource. Call it before the first parallel region.
   */
  void (*enable)(uint32_t clock);

  /* The calling thread's stamps; valid and written in place as long as the thread lives. The tool writes `wanted` only. */
  hierbar_stamps *(*stamps)(void);

  /* The tree of the calling thread's team: the serial number, or 0 when it has none or more than `capacity` threads. parents[i]
     is the thread that gathers from thread i and releases it, i itself for a leader. For the primary, inside a region. */
  uint64_t (*shape)(uint32_t *parents, uint32_t capacity);

  /* Since version 2. What the groups of that tree have in common: units[i] becomes a hierbar_unit for thread i and those that it
     gathers from, unknown when there are none. Returns that of all leaders; unknown, and writes nothing, when shape() would
     return 0. For the primary, inside a region, once for each tree: it may have to read the machine, which takes some 20 ms. */
  uint32_t (*units)(uint8_t *units, uint32_t capacity);

  /* Since version 2. What HIERBAR_PLACE came to, a line that begins with a word for scripts, or NULL when nothing has been
     decided yet; and the version of this project that the runtime was built with. */
  const char *(*placement)(void);
  const char *(*library_version)(void);
} hierbar_trace_interface;

typedef const hierbar_trace_interface *(*hierbar_trace_entry)(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif
