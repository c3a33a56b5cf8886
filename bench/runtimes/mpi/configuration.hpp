// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/runtimes/configuration.hpp"
#include "bench/runtimes/mpi/options.hpp"

namespace hierbar::bench::mpi {

enum class Implementation : std::uint8_t { kMpich, kWheel, kOpenMpi };

struct KnownConfiguration {
  std::string_view name;
  Family family;
  Implementation implementation;
  bool preload;  // whether this project's shim for that library is preloaded
  std::string_view explains;
};

// The name of the library's own functions when a launch of `hier` measures them, in turns with
// ours.
inline constexpr std::string_view kInside = "mpich-inside";

inline constexpr std::array<KnownConfiguration, 8> kConfigurations{{
    {"hier", Family::kHier, Implementation::kMpich, true,
     "this project: LD_PRELOAD=libhierbar_mpi.so under MPICH"},
    {"mpich", Family::kMpich, Implementation::kMpich, false, "MPICH alone"},
    {"openmpi", Family::kOpenMpi, Implementation::kOpenMpi, false, "Open MPI's default"},
    {"openmpi-shm", Family::kOpenMpi, Implementation::kOpenMpi, false,
     "Open MPI, its shared-memory collectives preferred"},
    {"openmpi-hier", Family::kOther, Implementation::kOpenMpi, true,
     "this project: LD_PRELOAD=libhierbar_mpi_ompi.so under Open MPI"},
    {"wheel-hier", Family::kOther, Implementation::kWheel, true,
     "as hier, under the MPICH of --mpich-wheel"},
    {"wheel", Family::kOther, Implementation::kWheel, false, "that MPICH alone"},
    {"wheel-shm", Family::kOther, Implementation::kWheel, false,
     "the same, its shared-memory collectives (release_gather) asked for"},
}};

// Open MPI's own algorithms between nodes, as meetings are called: tuned:1 is the first value of
// coll_tuned_barrier_algorithm. They are paper P1's, and one for two ranks only.
inline constexpr std::string_view kTunedPrefix = "tuned:";
inline constexpr std::array<std::string_view, 6> kTunedAlgorithms{
    "linear", "double ring", "recursive doubling", "bruck", "two_proc", "tree"};

// --meetings all: the MPI library's barrier, the algorithms of the papers, the choice, and Open
// MPI's.
inline constexpr std::array<const char*, 18> kAllMeetings{
    "library",         "linear",           "double-ring",      "recursive-doubling",
    "dissemination:1", "dissemination:2",  "dissemination:3",  "tree:1",
    "tree:2",          "combining-tree:2", "combining-tree:4", "auto",
    "tuned:1",         "tuned:2",          "tuned:3",          "tuned:4",
    "tuned:5",         "tuned:6"};

// A directory that exists as long as this object. In it, the library of another MPICH has the name
// libmpich.so.12, with which Debian's MPICH links programs. Both libraries have the same ABI, but
// the wheel calls its one libmpi.so.12. The files beside the library are linked too, because it
// searches for its own libraries from where it was found.
class WheelLink {
 public:
  explicit WheelLink(const std::filesystem::path& wheel_dir);
  ~WheelLink();
  WheelLink(const WheelLink&) = delete;
  WheelLink& operator=(const WheelLink&) = delete;

  [[nodiscard]] const std::filesystem::path& dir() const { return dir_; }

 private:
  std::filesystem::path dir_;
};

struct MpiConfiguration : Configuration {
  Implementation implementation = Implementation::kMpich;
  bool preload = false;
  std::filesystem::path launcher;
  std::vector<std::string> arguments;      // of the launcher
  std::shared_ptr<const WheelLink> wheel;  // of those that run another MPICH
};

// The configurations that `options` name, in the order of kConfigurations, and then one for each
// meeting, called "meet-" and its name. They are not yet identified.
[[nodiscard]] std::vector<MpiConfiguration> make_configurations(const MpiBenchOptions& options);
// The same, with HIERBAR_MPI=collectives where the shim is preloaded.
[[nodiscard]] std::vector<MpiConfiguration> make_configurations(
    const CollectiveBenchOptions& options);

// Launches the measured program once, to see which libraries it loads.
void identify(MpiConfiguration& configuration);

// The answer of one launch of the measured program.
struct Answer {
  using Figures = std::map<std::string, std::vector<double>>;  // ns, by quantity

  std::string version;    // the MPI library's name and version, on one line
  std::string file;       // the file of PMPI_Barrier
  std::string barrier;    // the file of MPI_Barrier; the same one if nothing was preloaded
  std::vector<int> cpus;  // the cpu of each rank
  Figures program;        // of MPI_Barrier
  Figures own;            // of PMPI_Barrier; empty if it was not asked for
};

// Finds the answer in a launcher's output. Nothing if there is none or it cannot be read.
[[nodiscard]] std::optional<Answer> parse_answer(const std::string& output);

// What is wrong with an answer of `configuration`: an unexpected library or barrier or, if the
// ranks are bound, two of them on one cpu. Empty if nothing is wrong.
[[nodiscard]] std::string mismatch(const MpiConfiguration& configuration, const Answer& answer,
                                   bool bound);

// The command that launches num_ranks ranks, each bound to a core, or none bound.
[[nodiscard]] std::vector<std::string> launch_command(
    const MpiConfiguration& configuration, int num_ranks, bool bound,
    const std::vector<std::string>& worker_arguments);

}  // namespace hierbar::bench::mpi
