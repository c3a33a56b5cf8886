// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace hierbar {

// An environment: returns the value of a variable, or null when it is unset. Functions take it as a
// parameter, so that tests can show them environments of other launchers.
using Environment = std::function<const char*(const char* name)>;

// The environment of this process, read by trusted_variable(). A value is valid until somebody
// changes the environment.
Environment own_environment();

// The value of a variable; an empty string when it is unset.
std::string value_of(const Environment& environment, const char* name);

// "NAME=value NAME=value": those of these variables that are not empty.
std::string settings_in(const Environment& environment, std::initializer_list<const char*> names);

// An environment variable that users may set. `hierbar variables`, docs/reference/variables.md and
// the messages about misspelt names come from this list, which names every variable that our
// libraries and the command read (tests/docs/pages_test.py).
struct Variable {
  const char* name;
  const char* values;
  const char* unset;   // what holds without it
  const char* effect;  // one clause, without a full stop
  const char*
      reader;        // "OpenMP", "MPI", "OpenMP and MPI", "plans", "reports", "commands" or "build"
  const char* page;  // below docs
};

// Sorted by name, but for KMP_BARRIER, which is LLVM's.
inline constexpr Variable kVariables[] = {
    {"KMP_BARRIER", "hier, or LLVM's linear, tree, hyper, hierarchical, dist",
     "LLVM's own barriers", "which barrier OpenMP threads use", "OpenMP", "guide/openmp.md"},
    {"HIERBAR_ALGORITHM", "hier, or the name of a baseline", "hier",
     "which barrier the C API and the ranks of a node run, for comparisons", "MPI",
     "reference/algorithms.md"},
    {"HIERBAR_BIND", "always, share", "always",
     "share: KMP_AFFINITY binds threads only if the process has its own cpus; hierbar run sets it",
     "OpenMP", "guide/openmp.md"},
    {"HIERBAR_CMAKE_OPTIONS", "options of cmake", "none",
     "passed on to cmake by ./bootstrap and .ci/long", "build", "contribute/build.md"},
    {"HIERBAR_COUNT", "a file name", "nothing is counted",
     "where libhierbar_count.so writes how much each rank sends to each other rank", "MPI",
     "guide/advice.md"},
    {"HIERBAR_FAKE_NODES", "1 to 1024", "1",
     "pretends that a machine's ranks are on so many nodes, for tests", "MPI", "guide/mpi.md"},
    {"HIERBAR_INSTANCE", "0 to the number of instances less 1", "it is not set",
     "which of the copies of a program this one is; hierbar run --instances sets it", "commands",
     "guide/instances.md"},
    {"HIERBAR_INSTANCES", "1 to 4096", "it is not set",
     "how many copies of a program run side by side; hierbar run --instances sets it", "commands",
     "guide/instances.md"},
    {"HIERBAR_LEVELS", "auto, or a list of l2, cluster, l3, die, numa, package", "auto",
     "which levels of the machine make groups", "plans", "guide/openmp.md"},
    {"HIERBAR_MPI", "barrier, collectives, off; on is the default", "barrier",
     "collectives: MPI_Allreduce, MPI_Bcast, MPI_Reduce, MPI_Allgather, MPI_Alltoall, MPI_Gather, "
     "MPI_Scatter and MPI_Reduce_scatter_block of small data are served too; off: every call is "
     "the MPI library's own; the same in all ranks",
     "MPI", "guide/mpi.md"},
    {"HIERBAR_MPI_MEETING", "library, auto, or a schedule such as dissemination:3", "library",
     "how the leaders of several nodes meet", "MPI", "results/between-nodes.md"},
    {"HIERBAR_MPI_SET_UP_AT", "1 to 1000000", "8",
     "the barrier of a communicator in which it is set up; the same in all ranks", "MPI",
     "guide/mpi.md"},
    {"HIERBAR_NETWORK", "off, or a file name",
     "hierbar/network.json in $XDG_CONFIG_HOME or ~/.config", "what messages between nodes cost",
     "MPI", "results/between-nodes.md"},
    {"HIERBAR_OFFLINE", "1", "they are downloaded",
     "1: GCC's tests are taken from files that are already there", "build", "contribute/build.md"},
    {"HIERBAR_OMPT_CHAIN", "a library", "none",
     "another OMPT tool, which sees every event as if it were alone", "reports",
     "guide/barrier-costs.md"},
    {"HIERBAR_OUTPUT", "a file name without ending; %h host, %p process, %r rank, %j job",
     "text to stderr, files hierbar-%h-%p", "where reports go", "reports",
     "guide/barrier-costs.md"},
    {"HIERBAR_PLACE", "auto, check, off; pool=..., threads=..., quota=...", "auto",
     "whether ranks share out the node's cpus for their threads", "OpenMP", "guide/placement.md"},
    {"HIERBAR_PRIMARY", "bound, free", "bound",
     "free: the thread that begins a region is moved to its place, but not bound; hierbar run sets "
     "it",
     "OpenMP", "guide/openmp.md"},
    {"HIERBAR_PROFILE", "off, or a file name",
     "hierbar/profile.json in $XDG_CONFIG_HOME or ~/.config",
     "shapes of barriers that hierbar tune measured", "plans", "guide/openmp.md"},
    {"HIERBAR_REGION", "on, off", "on", "whether parallel regions that repeat take the fast path",
     "OpenMP", "results/regions.md"},
    {"HIERBAR_RELEASE", "auto, flags, lines", "auto",
     "how a leader releases its members: by a cache line each, or by one for all", "plans",
     "guide/openmp.md"},
    {"HIERBAR_REPORT", "none, or a list of text, json, csv, html, perfetto, lstopo",
     "text with the tool loaded, else none", "which reports of barriers' costs are written",
     "reports", "guide/barrier-costs.md"},
    {"HIERBAR_SAMPLE", "1 to 1000000", "1", "every n-th barrier is recorded", "reports",
     "guide/barrier-costs.md"},
    {"HIERBAR_SEGMENT_KIB", "4 to 1048576", "a size that follows the number of ranks",
     "the size of one piece of shared memory for communicators", "MPI", "guide/mpi.md"},
    {"HIERBAR_SERVED_FILE", "a file name", "nothing is written",
     "where processes count the barriers that were served; hierbar run sets it", "OpenMP and MPI",
     "guide/doctor.md"},
    {"HIERBAR_SESSIONS", "own, shared", "own",
     "shared: ranks that MPICH's launcher starts share a Unix session, for more ranks than cpus",
     "MPI", "guide/mpi.md"},
    {"HIERBAR_SOURCES", "a folder", "a cache in ~/.cache/hierbar",
     "where the build finds source archives", "build", "contribute/build.md"},
    {"HIERBAR_TIMEOUT_S", "0 to 1000000", "0: never",
     "a barrier that takes longer names the missing ranks", "MPI", "guide/mpi.md"},
    {"HIERBAR_TOPOLOGY", "an hwloc XML file, or a synthetic description", "this machine",
     "which machine plans are made for", "plans", "guide/openmp.md"},
    {"HIERBAR_TRACE_EVENTS", "1 to 10000000", "4096",
     "how many barriers and tasks each thread keeps for perfetto", "reports",
     "guide/barrier-costs.md"},
    {"HIERBAR_VERBOSE", "0, 1", "0",
     "1: prints what was loaded, the plan, and how barriers were served and why", "OpenMP and MPI",
     "guide/openmp.md"},
};

// The variable that somebody meant who wrote this name; null if the name is known, is no HIERBAR_
// name, or is like none of them: sites may have names of their own, such as HIERBAR_ROOT.
const Variable* misspelt_variable(std::string_view name);

// One message for each misspelt name in this process's environment.
std::vector<std::string> misspelt_variables();
// The same for a library; none under `hierbar run`, which has told them.
std::vector<std::string> untold_misspelt_variables();

}  // namespace hierbar
