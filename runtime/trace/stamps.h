/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HIERBAR_TRACE_STAMPS_H
#define HIERBAR_TRACE_STAMPS_H

/* What our libomp offers to a tool about the phases of its barriers, beyond OMPT. A tool asks for
   it by this name:

       hierbar_trace_entry entry = (hierbar_trace_entry)lookup("ompx_hierbar_trace");
       const hierbar_trace_interface *trace = entry == NULL ? NULL : entry(HIERBAR_TRACE_VERSION);

   Other runtimes return NULL for the name, and so does ours without KMP_BARRIER=hier. Our entry
   returns NULL for any version but its own. */

#include <stdint.h>

#include "base/levels.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HIERBAR_TRACE_ENTRY "ompx_hierbar_trace"
#define HIERBAR_TRACE_VERSION 4u

/* When one thread went through the phases of a barrier, in ticks of the chosen clock. The tool
   stamps `arrived` and sets the other members to 0. The runtime writes those if the barrier is one
   exchange, a reduction or the end of a region. Other barriers, and barriers in which a task ran,
   leave `shape` 0; `released` has no meaning then. */
typedef struct hierbar_phases {
  uint64_t arrived; /* the thread came to the barrier */
  /* All of the thread's subtree has come. 0 for a thread that gathers from nobody. */
  uint64_t gathered;
  /* The thread knows that all have come: a leader from the exchange, any other thread from its
     parent. The end of a region releases nobody, so it is 0 there for all but the primary. */
  uint64_t released;
  uint64_t shape; /* serial number of the barrier's tree, never 0; the same for the whole team */
} hierbar_phases;

typedef struct hierbar_trace_interface {
  uint32_t version; /* HIERBAR_TRACE_VERSION */

  /* From this call on, libomp stamps the barriers for which the tool gives it a place. `clock` is a
     hierbar::ClockSource. In a stamped barrier, a thread calls `waiting` after it has reported its
     arrival, if it must wait for others. Work in there costs nothing as long as it takes no longer
     than the others' line transfers (100 ns). Must be called before the first parallel region, and
     so must observe(). */
  void (*enable)(uint32_t clock, void (*waiting)(void));

  /* From this call on, libomp reports barriers that are one exchange by these two functions and not
     by sync_region and sync_region_wait. It also leaves the thread's state and the task's frame as
     they are (ompt_get_state, ompt_get_task_info). That saves about 60 ns. It is for a tool that
     needs no more of these barriers. begin() gets the kind, the task's data and the address, as
     sync_region does. It returns where to stamp, or NULL for nowhere; after NULL, end() is not
     called. */
  void (*observe)(hierbar_phases *(*begin)(uint32_t kind, void *task_data, const void *address),
                  void (*end)(void));

  /* For all other barriers: returns the address of a pointer of the calling thread. The tool stores
     there where libomp shall stamp the thread's next barrier. It is NULL at first, for nowhere. The
     address is valid as long as the thread lives. */
  hierbar_phases **(*next_phases)(void);

  /* The tree of the calling thread's team. Returns its serial number, or 0 if the team has no tree
     or more than `capacity` threads. parents[i] becomes the thread that gathers from thread i and
     releases it; for a leader, i itself. Only the primary may call it, inside a region. */
  uint64_t (*shape)(uint32_t *parents, uint32_t capacity);

  /* What the groups of that tree share. units[i] becomes a hierbar_unit for thread i and the
     threads that it gathers from; unknown if there are none. Returns the unit of all leaders. If
     shape() would return 0, it returns unknown and writes nothing. Only the primary may call it,
     inside a region, and once for each tree: it may have to read the machine, which takes some
     20 ms. */
  uint32_t (*units)(uint8_t *units, uint32_t capacity);

  /* placement() returns what HIERBAR_PLACE led to: a line whose first word is made for scripts, or
     NULL if nothing has been decided yet. library_version() returns the version of libhierbar.so
     that libomp loaded. */
  const char *(*placement)(void);
  const char *(*library_version)(void);
} hierbar_trace_interface;

typedef const hierbar_trace_interface *(*hierbar_trace_entry)(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif
