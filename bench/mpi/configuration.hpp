// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bench/common/child_process.hpp"
#include "bench/common/groups.hpp"
#include "bench/mpi/answer.hpp"
#include "bench/mpi/options.hpp"

namespace hierbar::bench::mpi {

enum class Implementation : std::uint8_t { kMpich, kWheel, kOpenMpi };

struct ConfigurationName {
  std::string_view name;
  Family family;
  Implementation implementation;
  bool preload;  // whether this project's shim for that library is preloaded
  std::string_view explains;
};

// The name of PMPI_Barrier when a launch of `hier` measures it, in turns with our barrier.
inline constexpr std::string_view kInside = "mpich-inside";

inline constexpr std::array<ConfigurationName, 8> kConfigurations{{
    {"hier", Family::kHier, Implementation::kMpich, true, "this project: LD_PRELOAD=libhierbar_mpi.so under MPICH"},
    {"mpich", Family::kMpich, Implementation::kMpich, false, "MPICH's own barrier"},
    {"openmpi", Family::kOpenMpi, Implementation::kOpenMpi, false, "Open MPI's default"},
    {"openmpi-shm", Family::kOpenMpi, Implementation::kOpenMpi, false, "Open MPI, its shared-memory collectives preferred"},
    {"openmpi-hier", Family::kOther, Implementation::kOpenMpi, true,
     "this project: LD_PRELOAD=libhierbar_mpi_ompi.so under Open MPI"},
    {"wheel-hier", Family::kOther, Implementation::kWheel, true, "as hier, under the MPICH of --mpich-wheel"},
    {"wheel", Family::kOther, Implementation::kWheel, false, "that MPICH's own barrier"},
    {"wheel-shm", Family::kOther, Implementation::kWheel, false,
     "the same, its shared-memory barrier (release_gather) asked for"},
}};

// Open MPI's own algorithms between nodes, as meetings are called: tuned:1 is the first value of
// coll_tuned_barrier_algorithm. They are paper P1's, and one for two ranks only.
inline constexpr std::string_view kTunedPrefix = "tuned:";
inline constexpr std::array<std::string_view, 6> kTunedAlgorithms{"linear", "double ring", "recursive doubling",
                                                                  "bruck",  "two_proc",    "tree"};

// --meetings all: the MPI library's barrier, the algorithms of the papers, the choice, and Open
// MPI's.
inline constexpr std::array<const char*, 18> kAllMeetings{
    "library",         "linear",           "double-ring",      "recursive-doubling",
    "dissemination:1", "dissemination:2",  "dissemination:3",  "tree:1",
    "tree:2",          "combining-tree:2", "combining-tree:4", "auto",
    "tuned:1",         "tuned:2",          "tuned:3",          "tuned:4",
    "tuned:5",         "tuned:6"};

// One way to launch the measured program.
struct Configuration {
  std::string name;
  std::string explains;
  Family family = Family::kOther;
  Implementation implementation = Implementation::kMpich;
  bool preload = false;
  std::filesystem::path launcher;
  std::filesystem::path worker;
  std::vector<std::string> arguments;  // of the launcher
  Variables variables;                 // of the ranks
  std::string unavailable;             // why it cannot be measured; empty if it can

  // Found out by identify().
  std::string version;
  std::string file;
};

// The configurations that `options` name, in the order of kConfigurations, and then one for each
// meeting, called "meet-" and its name. They are not yet identified. In
// the directory `wheel_link_dir` the wheel's library has the name that the measured program asks
// for.
[[nodiscard]] std::vector<Configuration> make_configurations(const MpiBenchOptions& options,
                                                             const std::filesystem::path& wheel_link_dir);

// Launches the configuration once, to see which libraries it loads.
void identify(Configuration& configuration);

// What is wrong with an answer of `configuration`: an unexpected library or barrier or, if the
// ranks are bound, two of them on one cpu. Empty if nothing is wrong.
[[nodiscard]] std::string mismatch(const Configuration& configuration, const Answer& answer, bool bound);

// The command that launches num_ranks ranks, each bound to a core, or none bound.
[[nodiscard]] std::vector<std::string> launch_command(const Configuration& configuration, int num_ranks, bool bound,
                                                      const std::vector<std::string>& worker_arguments);

}  // namespace hierbar::bench::mpi
