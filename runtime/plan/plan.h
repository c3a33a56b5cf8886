/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HIERBAR_PLAN_PLAN_H
#define HIERBAR_PLAN_PLAN_H

/* The plan: who waits for whom in one barrier. It is plain C data, because it crosses the boundary
   between libhierbar.so, which builds it, and the adapters (libomp, the MPI shim), which must not
   depend on a C++ library. It is never changed once it is built.

       leaders        0 <----------- exchange ----------> 4 <-------> 8
                     / \                                 / \         / \
       members      1   2                               5   6       9   10
                    |                                               |
                    3                                              11

   Every leader reads every other leader's arrival. Arrivals are gathered up and releases go down,
   both along the same forest.

   Participants are numbered 0 .. num_participants-1. The nodes form a forest; the roots of its
   trees are the leaders. Participant 0 is always a leader, so a gather to one root can end
   there. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HIERBAR_PLAN_ABI_VERSION 5u

/* How many cache lines one participant has in a barrier's memory. A power of two, so that a page
   holds whole slots. */
#define HIERBAR_LINES_PER_SLOT 4u

/* How a parent releases its children. */
enum hierbar_release_kind {
  HIERBAR_RELEASE_FLAGS = 0, /* writes one line per child; each child reads only its own */
  HIERBAR_RELEASE_LINES = 1  /* writes one line; all of its children read that one */
};

typedef struct hierbar_plan_node {
  uint32_t parent;       /* who waits for this participant; a leader's is its own index */
  uint32_t first_child;  /* position of its children in hierbar_plan.children */
  uint32_t num_children; /* 0 for a leaf */
  /* Where its lines are. Slots of one domain are adjacent. Slots of two NUMA nodes never share a
     page, except in plans of at most 4, which are made without reading the machine. */
  uint32_t slot;
  /* In plans with crews: the lowest index of those with whom it shares a core; all are leaders. */
  uint32_t crew;
  uint32_t crew_size; /* in plans with crews: how many they are, itself included */
} hierbar_plan_node;

typedef struct hierbar_plan {
  uint32_t abi_version; /* HIERBAR_PLAN_ABI_VERSION */
  uint32_t num_participants;
  uint32_t num_leaders;
  uint32_t num_slots;  /* > every slot; gaps are allowed */
  uint32_t release;    /* hierbar_release_kind */
  uint32_t line_bytes; /* distance of lines: a power of two, at least 64 */
  uint32_t depth;      /* line transfers on the longest path through one episode */
  uint32_t is_tuned;   /* 1: a profile of the machine has given its shape; for people only */
  /* Not 0: participants outnumber cpus, and all of them are leaders. A crossing may count them crew
     by crew, in place of the exchange. */
  uint32_t num_crews;
  const hierbar_plan_node *nodes; /* [num_participants] */
  /* Every participant that is no leader, once. Ascending within one parent; in plans for `topo`
     only within one level of one parent. */
  const uint32_t *children;
  const uint32_t *leaders; /* [num_leaders], ascending; leaders[0] == 0 */
} hierbar_plan;

#ifdef __cplusplus
}
#endif

#endif
