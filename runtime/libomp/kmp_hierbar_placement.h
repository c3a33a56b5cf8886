// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_PLACEMENT_H
#define KMP_HIERBAR_PLACEMENT_H

// Which cpus the process takes, and where its threads go. Called by kmp_affinity.cpp and kmp.h.

#include "kmp.h"

// What HIERBAR_PLACE came to; empty: nothing yet.
extern char __kmp_hierbar_placement[512];

// Reads HIERBAR_PRIMARY and HIERBAR_BIND, when libomp knows its own settings.
void __kmp_hierbar_read_primary();

#if KMP_AFFINITY_SUPPORTED
// Replaces __kmp_affin_fullMask by this rank's share of the node, if there is one and nothing
// speaks against it. Under HIERBAR_BIND=share, without cpus of the process's own, `affinity`
// becomes that of KMP_AFFINITY=none.
void __kmp_hierbar_place(kmp_affinity_t &affinity);

// True if threads are not bound and nothing else asks which cpus are of one core. libomp would move
// the thread to each cpu to ask it, and wait there for whoever runs on it.
bool __kmp_hierbar_needs_no_topology(const kmp_affinity_t &affinity);

// Which place a new thread gets, in a list that begins anew at its end. `number` is LLVM's answer.
int __kmp_hierbar_place_number(int gtid, int number, int num_places);

// HIERBAR_PRIMARY=free, where it can be obeyed. Written while libomp is initialised.
extern bool __kmp_hierbar_primary_is_free;

// A thread that may begin a region, or asks for its place: gives it one, and moves it there if it
// runs elsewhere. A thread inside a region, or of somebody's team, stays where it is.
void __kmp_hierbar_bring_primary(int gtid);
#endif

#endif // KMP_HIERBAR_PLACEMENT_H
