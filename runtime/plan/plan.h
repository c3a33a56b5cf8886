/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HIERBAR_PLAN_PLAN_H
#define HIERBAR_PLAN_PLAN_H

/* The plan: who waits for whom in one barrier. Plain C data, immutable once built, because it crosses the boundary between
   libhierbar.so, which builds it, and the adapters (libomp, the MPI shim), which must not depend on a C++ library.

       leaders        0 <----------- exchange ----------> 4 <-------> 8        every leader reads every leader
                     / \                                 / \         / \
       members      1   2                               5   6       9   10      gather up, release down, along one forest
                    |                                               |
                    3                                              11

   Participants are numbered 0 .. num_participants-1. The nodes form a forest; the roots of its trees are the leaders.
   Participant 0 is always a leader, so that a gather to one root can end there. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HIERBAR_PLAN_ABI_VERSION 3u

/* Coherence lines that one participant occupies in a barrier's memory. A power of two, so that a page holds whole slots. */
#define HIERBAR_LINES_PER_SLOT 4u

/* How a parent releases its children. */
enum hierbar_release_kind {
  HIERBAR_RELEASE_FLAGS = 0, /* writes one line per child; each child reads only its own */
  HIERBAR_RELEASE_LINES = 1  /* writes one line; all of its children read that one */
};

typedef struct hierbar_plan_node {
  uint32_t parent;       /* who waits for this participant; its own index when it is a leader */
  uint32_t first_child;  /* position of its children in hierbar_plan.children */
  uint32_t num_children; /* 0 for a leaf */
  uint32_t slot;         /* where its lines are stored: slots of one domain are adjacent,
                            slots of two NUMA nodes never share a page, except in
                            plans of at most 4, which are made without a look at the machine */
  uint32_t crew;         /* the lowest index of those with whom it shares a core, all of them leaders; of plans with crews */
  uint32_t crew_size;    /* how many they are, itself included; of plans with crews */
} hierbar_plan_node;

typedef struct hierbar_plan {
  uint32_t abi_version; /* HIERBAR_PLAN_ABI_VERSION */
  uint32_t num_participants;
  uint32_t num_leaders;
  uint32_t num_slots;             /* > every slot; gaps are allowed */
  uint32_t release;               /* hierbar_release_kind */
  uint32_t line_bytes;            /* spacing of lines: a power of two, at least 64 */
  uint32_t depth;                 /* line transfers on the longest path through one episode */
  uint32_t is_tuned;              /* 1: a profile of the machine has given its shape; for people only */
  uint32_t num_crews;             /* not 0: participants outnumber cpus, and all of them are leaders. They may count
                                     themselves in place of the exchange, crew by crew */
  const hierbar_plan_node *nodes; /* [num_participants] */
  const uint32_t *children;       /* every non-leader once; ascending within one parent */
  const uint32_t *leaders;        /* [num_leaders], ascending; leaders[0] == 0 */
} hierbar_plan;

#ifdef __cplusplus
}
#endif

#endif
