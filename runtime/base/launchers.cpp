// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/launchers.hpp"

#include <algorithm>
#include <iterator>

namespace hierbar {

namespace {

using Form = BindingSetting::Form;
using Syntax = JobLine::Syntax;

Launcher intel_mpi() {
  return {.name = "Intel MPI",
          .mark = "I_MPI_HYDRA_UUID",
          .rank = {"PMI_RANK"},
          .local_rank = "MPI_LOCALRANKID",
          .local_size = "MPI_LOCALNRANKS",
          .job_id = {"I_MPI_HYDRA_UUID"},
          .process_names = {"hydra_pmi_proxy"},
          .position = 4,
          .settings = {{.name = "intel",
                        .meaning = "Intel MPI, for its environment",
                        .form = Form::kBareMasks,
                        .before = "I_MPI_PIN_DOMAIN=[",
                        .between_ranks = ",",
                        .after = "]"}},
          .line = JobLine{.syntax = Syntax::kOptions,
                          .setting = "intel",
                          .per_node = "-ppn ",
                          .variable = "-genv ",
                          .before_value = " ",
                          .setting_is_variable = true,
                          .has_intel_runtime = true}};
}

Launcher hydra() {
  return {.name = "hydra",
          .mark = "MPI_LOCALRANKID",
          .rank = {"PMI_RANK"},
          .local_rank = "MPI_LOCALRANKID",
          .local_size = "MPI_LOCALNRANKS",
          .process_names = {"hydra_pmi_proxy"},
          .position = 1,
          .settings = {{.name = "mpiexec",
                        .meaning = "MPICH and its kin, by cpu",
                        .form = Form::kCpus,
                        .before = "-bind-to user:",
                        .between_cpus = "+",
                        .between_ranks = ","}},
          .line = JobLine{.syntax = Syntax::kOptions,
                          .name = "MPICH",
                          .tried_as = "hydra",
                          .setting = "mpiexec",
                          .per_node = "-ppn ",
                          .variable = "-genv ",
                          .before_value = " "}};
}

Launcher open_mpi() {
  return {
      .name = "Open MPI",
      .mark = "OMPI_COMM_WORLD_LOCAL_RANK",
      .rank = {"OMPI_COMM_WORLD_RANK"},
      .local_rank = "OMPI_COMM_WORLD_LOCAL_RANK",
      .local_size = "OMPI_COMM_WORLD_LOCAL_SIZE",
      .job_id = {"PMIX_NAMESPACE"},
      .process_names = {"prted", "prte", "prterun", "orted", "orterun", "mpirun", "mpirun.openmpi",
                        "mpiexec.openmpi"},
      .position = 3,
      .settings = {{.name = "rankfile", .meaning = "Open MPI, a file", .form = Form::kRankfile},
                   {.name = "map-by",
                    .meaning = "Open MPI chooses, by a rule",
                    .form = Form::kMapBy}},
      .line = JobLine{.syntax = Syntax::kOpenMpi, .tried_as = "openmpi", .setting = "rankfile"}};
}

Launcher pals() {
  return {.name = "PALS",
          .mark = "PALS_LOCAL_RANKID",
          .rank = {"PALS_RANKID"},
          .local_rank = "PALS_LOCAL_RANKID",
          .local_size = "PALS_LOCAL_SIZE",
          .job_id = {"PALS_APID"},
          .process_names = {"palsd"},
          .position = 6,
          .settings = {{.name = "pals",
                        .meaning = "HPE Cray's mpiexec",
                        .form = Form::kCpus,
                        .before = "--cpu-bind list:",
                        .between_cpus = ",",
                        .between_ranks = ":"}},
          .line = JobLine{.syntax = Syntax::kOptions,
                          .setting = "pals",
                          .per_node = "--ppn ",
                          .per_node_always = true,
                          .variable = "--env ",
                          .before_value = "="}};
}

Launcher flux() {
  return {.name = "Flux",
          .mark = "FLUX_TASK_LOCAL_ID",
          .rank = {"FLUX_TASK_RANK"},
          .local_rank = "FLUX_TASK_LOCAL_ID",
          .job_size = "FLUX_JOB_SIZE",
          .num_nodes = "FLUX_JOB_NNODES",
          .job_id = {"FLUX_JOB_ID"},
          .process_names = {"flux-shell"}};
}

Launcher mvapich2() {
  return {.name = "MVAPICH2",
          .mark = "MV2_COMM_WORLD_LOCAL_RANK",
          .rank = {"MV2_COMM_WORLD_RANK"},
          .local_rank = "MV2_COMM_WORLD_LOCAL_RANK",
          .local_size = "MV2_COMM_WORLD_LOCAL_SIZE",
          .process_names = {"mpispawn"},
          .position = 5,
          .settings = {{.name = "mvapich2",
                        .meaning = "MVAPICH2, for its environment",
                        .form = Form::kCpus,
                        .before = "MV2_ENABLE_AFFINITY=1 MV2_CPU_MAPPING=",
                        .between_cpus = ",",
                        .between_ranks = ":"}}};
}

// PMI's and PMIx's ranks stand before Slurm's own. Under srun they come from Slurm itself, or from
// an inner launcher that this table does not know; then they are the right ones.
Launcher slurm() {
  return {.name = "Slurm",
          .mark = "SLURM_STEP_ID",
          .rank = {"PMI_RANK", "PMIX_RANK", "SLURM_PROCID"},
          .local_rank = "SLURM_LOCALID",
          .ranks_of_nodes = "SLURM_STEP_TASKS_PER_NODE",
          .node_index = "SLURM_NODEID",
          .job_id = {"SLURM_JOB_ID", "SLURM_STEP_ID"},
          .process_names = {"slurmstepd"},
          .position = 2,
          .settings = {{.name = "srun",
                        .meaning = "Slurm, a mask for each rank of a node",
                        .form = Form::kMasks,
                        .before = "--cpu-bind=mask_cpu:",
                        .between_ranks = ","},
                       {.name = "map_cpu",
                        .meaning = "Slurm, one cpu for each rank of a node",
                        .form = Form::kOneCpu,
                        .before = "--cpu-bind=map_cpu:",
                        .between_ranks = ","},
                       {.name = "sockets",
                        .meaning = "Slurm chooses, whole packages",
                        .form = Form::kPolicy,
                        .before = "--cpus-per-task=",
                        .after = " --cpu-bind=sockets"},
                       {.name = "cores",
                        .meaning = "Slurm chooses, whole cores",
                        .form = Form::kPolicy,
                        .before = "--cpus-per-task=",
                        .after = " --cpu-bind=cores"},
                       {.name = "threads",
                        .meaning = "Slurm chooses, hardware threads",
                        .form = Form::kPolicy,
                        .before = "--cpus-per-task=",
                        .after = " --cpu-bind=threads"},
                       {.name = "rank",
                        .meaning = "Slurm chooses, by the rank's number",
                        .form = Form::kPolicy,
                        .before = "--cpus-per-task=",
                        .after = " --cpu-bind=rank"}},
          .line = JobLine{.syntax = Syntax::kSlurm, .tried_as = "srun", .setting = "srun"}};
}

Launcher pmix() {
  return {.name = "PMIx",
          .mark = "PMIX_NAMESPACE",
          .rank = {"PMIX_RANK"},
          .job_id = {"PMIX_NAMESPACE"}};
}

}  // namespace

const std::vector<Launcher>& known_launchers() {
  static const std::vector<Launcher> launchers = {intel_mpi(), hydra(),    open_mpi(), pals(),
                                                  flux(),      mvapich2(), slurm(),    pmix()};
  return launchers;
}

std::vector<const Launcher*> launchers_for_people() {
  std::vector<const Launcher*> listed;
  for (const Launcher& launcher : known_launchers()) {
    if (launcher.position > 0) listed.push_back(&launcher);
  }
  std::sort(listed.begin(), listed.end(), [](const Launcher* one, const Launcher* other) {
    return one->position < other->position;
  });
  return listed;
}

const BindingSetting* find_setting(std::string_view name) {
  for (const Launcher& launcher : known_launchers()) {
    for (const BindingSetting& setting : launcher.settings) {
      if (setting.name == name) return &setting;
    }
  }
  return nullptr;
}

bool has_variables_of(const Launcher& launcher, const Environment& environment) {
  return environment(launcher.mark) != nullptr &&
         (launcher.local_rank == nullptr || environment(launcher.local_rank) != nullptr);
}

bool tells_rank_by(const Launcher& launcher, std::string_view variable) {
  const auto is_it = [variable](const char* name) { return name != nullptr && variable == name; };
  const char* const single[] = {launcher.mark,           launcher.local_rank, launcher.local_size,
                                launcher.ranks_of_nodes, launcher.node_index, launcher.job_size,
                                launcher.num_nodes};
  return std::any_of(std::begin(single), std::end(single), is_it) ||
         std::any_of(launcher.rank.begin(), launcher.rank.end(), is_it);
}

const char* rank_in_job(const Environment& environment, const Launcher& launcher) {
  for (const char* name : launcher.rank) {
    if (const char* rank = environment(name)) return rank;
  }
  return nullptr;
}

const char* rank_in_job(const Environment& environment) {
  for (const bool may_miss_others : {false, true}) {
    for (const Launcher& launcher : known_launchers()) {
      if (!may_miss_others && !has_variables_of(launcher, environment)) continue;
      if (const char* rank = rank_in_job(environment, launcher)) return rank;
    }
  }
  return nullptr;
}

}  // namespace hierbar
