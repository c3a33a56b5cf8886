/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HIERBAR_TRACE_STAMPS_H
#define HIERBAR_TRACE_STAMPS_H

/* What our libomp tells a tool about the phases of its barriers, beyond OMPT. A tool asks for it by the name below:

       hierbar_trace_entry entry = (hierbar_trace_entry)lookup("ompx_hierbar_trace");
       const hierbar_trace_interface *trace = entry == NULL ? NULL : entry(HIERBAR_TRACE_VERSION);

   Other runtimes return NULL for the name, ours for any other version than its own. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HIERBAR_TRACE_ENTRY "ompx_hierbar_trace"
#define HIERBAR_TRACE_VERSION 4u

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

/* When one thread went through the phases of a barrier, in ticks of the clock that was chosen. The tool stamps the arrival and
   sets the rest to 0, the runtime writes the rest when the barrier is one exchange, a reduction or the end of a region. A barrier
   that goes another way, or runs tasks, leaves `shape` 0; `released` does not count then. */
typedef struct hierbar_phases {
  uint64_t arrived;  /* came to the barrier */
  uint64_t gathered; /* all of its subtree has come; stays 0 for a thread that gathers from nobody */
  uint64_t released; /* knows that all have come: a leader from the exchange, the others from their parents. Stays 0 for all but
                        the primary at the end of a region, which releases nobody */
  uint64_t shape;    /* serial number of the tree it ran on, never 0; the same for the whole team */
} hierbar_phases;

typedef struct hierbar_trace_interface {
  uint32_t version; /* what was asked for */

  /* From now on barriers are stamped that are asked for; clock is a hierbar::ClockSource. `waiting` is called by a thread in a
     stamped barrier that has told the others of its arrival and has to wait for them. What it does there costs nothing while it
     takes no longer than the others' way (100 ns). Call it before the first parallel region, and so observe(). */
  void (*enable)(uint32_t clock, void (*waiting)(void));

  /* Barriers that are one exchange are told to these two from now on, in place of sync_region and sync_region_wait, and leave the
     thread's state and the task's frame as they are (ompt_get_state, ompt_get_task_info): that saves some 60 ns. begin() has the
     kind, the task's data and the address as sync_region has them and returns where to stamp, or NULL: nowhere, and then end() is
     not called either. For a tool that needs no more than that of these barriers. */
  void (*observe)(hierbar_phases *(*begin)(uint32_t kind, void *task_data, const void *address), void (*end)(void));

  /* For all other barriers: where the calling thread is to find where to stamp its next one. Holds NULL at first: nowhere. Valid
     as long as the thread lives. */
  hierbar_phases **(*next_phases)(void);

  /* The tree of the calling thread's team: the serial number, or 0 when it has none or more than `capacity` threads. parents[i]
     is the thread that gathers from thread i and releases it, i itself for a leader. For the primary, inside a region. */
  uint64_t (*shape)(uint32_t *parents, uint32_t capacity);

  /* What the groups of that tree have in common: units[i] becomes a hierbar_unit for thread i and those that it gathers from,
     unknown when there are none. Returns that of all leaders; unknown, and writes nothing, when shape() would return 0. For the
     primary, inside a region, once for each tree: it may have to read the machine, which takes some 20 ms. */
  uint32_t (*units)(uint8_t *units, uint32_t capacity);

  /* What HIERBAR_PLACE came to, a line that begins with a word for scripts, or NULL when nothing has been decided yet; and the
     version of this project that the runtime was built with. */
  const char *(*placement)(void);
  const char *(*library_version)(void);
} hierbar_trace_interface;

typedef const hierbar_trace_interface *(*hierbar_trace_entry)(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif
