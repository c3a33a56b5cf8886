// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A little of everything, for settings under which only the results matter, whatever barrier they
// lead to. Prints "right". The tests are by environment variable: libomp's own ones keep their
// meaning, ours do what they say, and bad ones do no harm.

// BUILD: clang
// BUILD: gcc
// BY: clang
// NAME: settings
// ARGS: -
// CHECK: --expect-some ^right$
//
// Waiting, places, teams.
// TEST: passive
//   ENV: OMP_WAIT_POLICY=passive
//   CHECK: $used
// TEST: active
//   ENV: OMP_WAIT_POLICY=active
//   CHECK: $used
// TEST: blocktime_{}
//   EACH: 0 1 infinite
//   ENV: KMP_BLOCKTIME={}
//   CHECK: $used
// TEST trees: blocktime_{}
//   EACH: 0 1 infinite
//   ENV: KMP_BLOCKTIME={} $trees
//   CHECK: $used
// TEST: {}
//   EACH: turnaround throughput
//   ENV: KMP_LIBRARY={}
//   CHECK: $used
// TEST: serial
//   ENV: KMP_LIBRARY=serial
// TEST: no_yield
//   ENV: KMP_USE_YIELD=0
//   CHECK: $used
//   RUN: alone
// (Its waits give up no cpu, so beside others each takes time slices.)
// TEST: tasks_run_at_once
//   ENV: KMP_TASKING=0
//   CHECK: $no_exchange
// TEST: tasks_in_an_extra_barrier
//   ENV: KMP_TASKING=1
//   CHECK: --counter fast>=400
//   RUN: llvm>=22
// (Which warns and takes 2. libomp 19 crashes, with any barrier.)
// TEST: cancellation
//   ENV: OMP_CANCELLATION=true
//   CHECK: $no_exchange
// TEST: places_{}
//   EACH: cores threads sockets
//   ENV: OMP_PLACES={}
//   CHECK: $used
// TEST: places_listed
//   ENV: OMP_PLACES={0:1},{0:2} OMP_PROC_BIND=spread
//   CHECK: $used
// TEST: bound_to_the_primary
//   ENV: OMP_PLACES=cores OMP_PROC_BIND=primary
//   CHECK: $used
// TEST: bound_by_affinity
//   ENV: KMP_AFFINITY=compact
//   CHECK: $used
// TEST: hot_inner_teams
//   ENV: KMP_HOT_TEAMS_MAX_LEVEL=2
//   CHECK: $used
// TEST: thread_limit
//   ENV: OMP_THREAD_LIMIT=3
//   CHECK: --counter fast>=400
// TEST: lines
//   ENV: $lines
//   CHECK: $used
// TEST: levels
//   ENV: $trees HIERBAR_LEVELS=l3
//   CHECK: $used
//
// What is printed.
// TEST: verbose
//   CHECK: --expect "^OMP: hierbar: start: loading libhierbar.so"
//     --expect "^OMP: hierbar: episodes:" $used
// TEST: quiet
//   ENV: HIERBAR_VERBOSE=0
//   CHECK: --reject hierbar
// TEST: quiet_by_default
//   ENV: HIERBAR_VERBOSE
//   CHECK: --reject hierbar
// TEST: display_env
//   ENV: OMP_DISPLAY_ENV=verbose
//   CHECK: --expect "KMP_BARRIER='hier'$"
// TEST: kmp_settings
//   ENV: KMP_SETTINGS=1
//   CHECK: --expect-some "^ *KMP_BARRIER=hier$"
// TEST: display_env_unset
//   ENV: KMP_BARRIER OMP_DISPLAY_ENV=verbose
//   CHECK: --expect "KMP_BARRIER: value is not defined$"
//
// KMP_BARRIER.
// TEST: unset
//   ENV: KMP_BARRIER
//   CHECK: $not_used --reject Warning|hierbar
// TEST: empty
//   ENV: KMP_BARRIER=
//   CHECK: $not_used --reject Warning|hierbar
// TEST: upper_case
//   ENV: KMP_BARRIER=HIER
//   CHECK: $used
// TEST: pattern_{}
//   EACH: linear tree hyper hierarchical dist
//   ENV: KMP_BARRIER={} OMP_DISPLAY_ENV=verbose
//   CHECK: $not_used --reject Warning --expect "KMP_PLAIN_BARRIER_PATTERN='{},{}'"
//     --expect "KMP_REDUCTION_BARRIER_PATTERN='{},{}'"
// TEST: unknown_pattern
//   ENV: KMP_BARRIER=foo
//   CHECK: $not_used
//     --expect "Warning.*KMP_BARRIER.*foo.*hier.*linear.*dist.*using the default barrier"
// TEST: prefix_is_no_name
//   ENV: KMP_BARRIER=hie
//   CHECK: $not_used --expect Warning.*KMP_BARRIER
// TEST: warnings_off
//   ENV: KMP_BARRIER=foo KMP_WARNINGS=off
//   CHECK: $not_used --reject Warning|foo
// TEST: with_pattern_variable
//   ENV: KMP_PLAIN_BARRIER_PATTERN=tree,tree
//   CHECK: --counter fast>=400
//     --expect Warning.*KMP_PLAIN_BARRIER_PATTERN.*tree,tree.*KMP_BARRIER=hier
// TEST: with_all_pattern_variables
//   ENV: KMP_PLAIN_BARRIER_PATTERN=dist,dist KMP_FORKJOIN_BARRIER_PATTERN=dist,dist
//     KMP_REDUCTION_BARRIER_PATTERN=dist,dist
//   CHECK: --counter fast>=400 --expect Warning.*_BARRIER_PATTERN
// TEST: pattern_variable_alone
//   ENV: KMP_BARRIER KMP_PLAIN_BARRIER_PATTERN=hier,hier OMP_DISPLAY_ENV=verbose
//   CHECK: $not_used --reject Warning
//     --expect "KMP_PLAIN_BARRIER_PATTERN='hierarchical,hierarchical'"
//
// Bad values of our own variables: a warning that names variable and value, and the program runs
// on the barrier.
// TEST: bad_verbose
//   ENV: HIERBAR_VERBOSE=maybe
//   CHECK: $not_used --expect Warning.*HIERBAR_VERBOSE.*maybe
// TEST: bad_region
//   ENV: HIERBAR_REGION=maybe
//   CHECK: --counter fast>=400
//     --expect "Warning.*HIERBAR_REGION.*maybe.*on, off; using on"
// TEST HIERBAR_LEVELS_l9: bad
//   ENV: HIERBAR_LEVELS=l9
//   CHECK: --counter fast>=400 --expect Warning.*HIERBAR_LEVELS.*l9
// TEST HIERBAR_LEVELS_l9.not_verbose: bad
//   ENV: HIERBAR_LEVELS=l9 HIERBAR_VERBOSE
//   CHECK: --expect Warning.*HIERBAR_LEVELS.*l9
// TEST HIERBAR_LEVELS_l9.warnings_off: bad
//   ENV: HIERBAR_LEVELS=l9 KMP_WARNINGS=off
//   CHECK: --counter fast>=400 --reject Warning|HIERBAR_LEVELS
// TEST HIERBAR_RELEASE_x: bad
//   ENV: HIERBAR_RELEASE=x
//   CHECK: --counter fast>=400 --expect Warning.*HIERBAR_RELEASE.*x
// TEST HIERBAR_RELEASE_x.not_verbose: bad
//   ENV: HIERBAR_RELEASE=x HIERBAR_VERBOSE
//   CHECK: --expect Warning.*HIERBAR_RELEASE.*x
// TEST HIERBAR_RELEASE_x.warnings_off: bad
//   ENV: HIERBAR_RELEASE=x KMP_WARNINGS=off
//   CHECK: --counter fast>=400 --reject Warning|HIERBAR_RELEASE
// TEST HIERBAR_TOPOLOGY__nonexistent_xml: bad
//   ENV: HIERBAR_TOPOLOGY=/nonexistent.xml
//   CHECK: --counter fast>=400
//     --expect Warning.*HIERBAR_TOPOLOGY.*/nonexistent.xml
// TEST HIERBAR_TOPOLOGY__nonexistent_xml.not_verbose: bad
//   ENV: HIERBAR_TOPOLOGY=/nonexistent.xml HIERBAR_VERBOSE
//   CHECK: --expect Warning.*HIERBAR_TOPOLOGY.*/nonexistent.xml
// TEST HIERBAR_TOPOLOGY__nonexistent_xml.warnings_off: bad
//   ENV: HIERBAR_TOPOLOGY=/nonexistent.xml KMP_WARNINGS=off
//   CHECK: --counter fast>=400 --reject Warning|HIERBAR_TOPOLOGY
// TEST HIERBAR_TOPOLOGY_pack_zzz: bad
//   ENV: HIERBAR_TOPOLOGY=pack:zzz
//   CHECK: --counter fast>=400 --expect Warning.*HIERBAR_TOPOLOGY.*pack:zzz
// TEST HIERBAR_TOPOLOGY_pack_zzz.not_verbose: bad
//   ENV: HIERBAR_TOPOLOGY=pack:zzz HIERBAR_VERBOSE
//   CHECK: --expect Warning.*HIERBAR_TOPOLOGY.*pack:zzz
// TEST HIERBAR_TOPOLOGY_pack_zzz.warnings_off: bad
//   ENV: HIERBAR_TOPOLOGY=pack:zzz KMP_WARNINGS=off
//   CHECK: --counter fast>=400 --reject Warning|HIERBAR_TOPOLOGY
// TEST: algorithm_hier
//   ENV: HIERBAR_ALGORITHM=hier
//   CHECK: $used
// TEST: algorithm_other
//   ENV: HIERBAR_ALGORITHM=mcs
//   CHECK: --counter fast>=400
//     --expect "Warning.*HIERBAR_ALGORITHM.*mcs.*hier.*KMP_BARRIER=hier.*using hier"
// TEST not_used: algorithm_other
//   ENV: KMP_BARRIER=hyper HIERBAR_ALGORITHM=mcs
//   CHECK: $not_used --reject Warning|hierbar
// TEST: level_without_units
//   ENV: "HIERBAR_TOPOLOGY=core:2 pu:1" HIERBAR_LEVELS=package
//   CHECK: --counter fast>=400 --expect Warning.*HIERBAR_LEVELS.*package
// TEST not_verbose: level_without_units
//   ENV: "HIERBAR_TOPOLOGY=core:2 pu:1" HIERBAR_LEVELS=package HIERBAR_VERBOSE
//   CHECK: --expect Warning.*HIERBAR_LEVELS.*package
//
// libhierbar.so: missing, not a library, of another version.
// TEST: library_missing
//   CHECK: --beside none $refused
// TEST: library_is_text
//   CHECK: --beside $source_dir/programs/check.hpp $refused
// TEST: library_of_other_version
//   CHECK: --beside $program_dir/other_abi.so $refused
// TEST not_needed: library_missing
//   ENV: KMP_BARRIER=hyper
//   CHECK: --beside none $not_used --reject Warning|hierbar
//
// Compiled by GCC, and where a tool looks on.
// TEST (gcc): gcc
//   NAME: settings.gcc
//   CHECK: $used
// TEST: tool
//   NAME: tool.trees
//   ENV: OMP_TOOL_LIBRARIES=$program_dir/counting_tool.so $trees
//   CHECK: $used --expect "explicit barriers: ([0-9]+) begins, \\1 ends"
//     --expect "reductions: ([0-9]+) begins, \\1 ends"

#include <omp.h>

#include <atomic>
#include <vector>

#include "tests/libomp/programs/check.hpp"

namespace {

void barriers(int num_threads) {
  std::vector<long> slots(num_threads);
  long* const slot = slots.data();
#pragma omp parallel num_threads(num_threads)
  {
    const int me = omp_get_thread_num();
    const int size = omp_get_num_threads();  // KMP_LIBRARY=serial makes it 1
    for (long crossing = 1; crossing <= 40; ++crossing) {
      slot[me] = crossing;
#pragma omp barrier
      for (int i = 0; i < size; ++i) CHECK_EQUAL(slot[i], crossing);
#pragma omp barrier
    }
  }
}

void loops_and_reductions(int num_threads) {
  long sum = 0, again = 0;
#pragma omp parallel num_threads(num_threads)
  for (int round = 1; round <= 10; ++round) {
#pragma omp for schedule(dynamic) reduction(+ : sum)
    for (int i = 0; i < 100; ++i) sum += i;
    CHECK_EQUAL(sum, 4950L * round);
#pragma omp single
    again += sum;
    CHECK_EQUAL(again, 4950L * round * (round + 1) / 2);
#pragma omp barrier
  }
}

void tasks(int num_threads) {
  std::atomic<int> done{0};
#pragma omp parallel num_threads(num_threads)
  for (int round = 1; round <= 10; ++round) {
#pragma omp single nowait
    for (int i = 0; i < 10; ++i) {
#pragma omp task shared(done)
      ++done;
    }
#pragma omp barrier
    CHECK_EQUAL(done.load(), 10 * round);
#pragma omp barrier
  }
}

void nested(int num_threads) {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(num_threads)
  {
    barriers(2);
#pragma omp barrier
  }
  omp_set_max_active_levels(1);
}

}  // namespace

int main() {
  omp_set_dynamic(0);
  for (int num_threads : {2, 4, 7, 3}) {
    barriers(num_threads);
    loops_and_reductions(num_threads);
    tasks(num_threads);
  }
  nested(3);
  std::puts("right");
}
