// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/variables.hpp"

namespace hierbar {

// How a launcher is told which cpus each rank of a node gets. placement/share/launcher_settings.hpp
// writes it.
struct BindingSetting {
  enum class Form : std::uint8_t {
    kCpus,       // the cpus of each rank
    kOneCpu,     // the same, and each rank must have one cpu only
    kMasks,      // a mask for each rank: 0xc
    kBareMasks,  // the same without 0x
    kPolicy,     // no cpus: the launcher chooses them, for ranks of equally many threads
    kMapBy,      // the same, by a rule of Open MPI for the pattern
    kRankfile    // a file of Open MPI
  };
  const char* name;     // of `hierbar place --settings`
  const char* meaning;  // for people
  Form form;
  const char* before = "";
  const char* between_cpus = "";
  const char* between_ranks = "";
  const char* after = "";
};

// How a line begins that starts a job, for a shell. cli/advice/launch_lines.hpp writes it.
struct JobLine {
  enum class Syntax : std::uint8_t {
    kOptions,  // "mpiexec -n 8 -ppn 4 BINDING -genv NAME VALUE PROGRAM"
    kSlurm,    // "NAME=VALUE srun -N 2 ... PROGRAM"
    kOpenMpi   // "mpiexec -n 8 --map-by ... -x NAME=VALUE PROGRAM"
  };
  Syntax syntax;
  const char* name = nullptr;      // for people, where it is not the launcher's
  const char* tried_as = nullptr;  // of `hierbar advise --launcher`; null: it is not run
  const char* setting;             // the setting that binds the ranks, by its name
  // For kOptions.
  const char* per_node = "";         // "-ppn ", before the number of ranks of a node
  bool per_node_always = false;      // also where there is one node only
  const char* variable = "";         // "-genv ", before the name of a variable
  const char* before_value = "";     // " ", between the name and the value
  bool setting_is_variable = false;  // the setting is a word of the environment
  bool has_intel_runtime = false;    // its programs have Intel's OpenMP runtime
};

// All that hierbar knows about a launcher of parallel programs. What is not there is not known.
struct Launcher {
  const char* name;  // for people

  // How a rank finds itself: the variables that the launcher sets for each rank before MPI_Init.

  // A variable that this launcher sets. Order matters: a launcher that also sets it must come
  // earlier in the table.
  const char* mark;
  // Variables for the rank in the whole job. The first one that is set counts.
  std::vector<const char*> rank;
  // The rank on the node; null when the launcher does not tell it.
  const char* local_rank = nullptr;
  // The number of ranks on the node, from the first of these that is there: a variable that has it;
  // a list of the ranks of each node as Slurm writes it, and this node's place in it; the ranks and
  // the nodes of the whole job, which give it if the ranks are spread evenly.
  const char* local_size = nullptr;
  const char* ranks_of_nodes = nullptr;
  const char* node_index = nullptr;
  const char* job_size = nullptr;
  const char* num_nodes = nullptr;
  // Their values, joined with dots, name the job. When there are none, the launcher's process does.
  std::vector<const char*> job_id = {};
  // What the launcher runs on each node, by the names to which the kernel shortens them.
  std::vector<const char*> process_names = {};

  // How it is told where ranks run, and how it starts a job.

  int position = 0;  // in lists for people, from 1; 0: it has no settings
  std::vector<BindingSetting> settings = {};
  std::optional<JobLine> line = std::nullopt;
};

// All launchers that are known. Launchers start each other and their variables are inherited, so
// inner ones come first. The last entry stands for any other launcher that uses PMIx. Pages have
// tables of them, docs/guide/placement.md and docs/guide/advice.md, which a test compares.
const std::vector<Launcher>& known_launchers();

// Those that have settings, by their position.
std::vector<const Launcher*> launchers_for_people();

// The setting of some launcher with this name; null if there is none.
const BindingSetting* find_setting(std::string_view name);

// Whether the launcher's variables are set. Those of an outer launcher may be set as well.
bool has_variables_of(const Launcher& launcher, const Environment& environment);

// Whether a rank finds its place by this variable of the launcher. The job's name is none of them.
bool tells_rank_by(const Launcher& launcher, std::string_view variable);

// This process's rank in the whole job, as the innermost launcher wrote it; null when none did.
// Launchers whose mark and local rank are set are asked first. If none of them gives a rank, a rank
// variable counts even where the launcher's other variables are missing.
const char* rank_in_job(const Environment& environment);

// The same for one launcher.
const char* rank_in_job(const Environment& environment, const Launcher& launcher);

}  // namespace hierbar
