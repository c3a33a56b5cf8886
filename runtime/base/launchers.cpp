// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/launchers.hpp"

namespace hierbar {

// Slurm's row lists PMI's and PMIx's ranks before Slurm's own. Under srun they come from Slurm
// itself, or from an inner launcher that this table does not know; then they are the right ones.
const std::vector<Launcher>& known_launchers() {
  static const std::vector<Launcher> launchers = {
      {"Intel MPI",
       "I_MPI_HYDRA_UUID",
       {"PMI_RANK"},
       "MPI_LOCALRANKID",
       "MPI_LOCALNRANKS",
       {"I_MPI_HYDRA_UUID"},
       {"hydra_pmi_proxy"}},
      {"hydra", "MPI_LOCALRANKID", {"PMI_RANK"}, "MPI_LOCALRANKID", "MPI_LOCALNRANKS", {}, {"hydra_pmi_proxy"}},
      {"Open MPI",
       "OMPI_COMM_WORLD_LOCAL_RANK",
       {"OMPI_COMM_WORLD_RANK"},
       "OMPI_COMM_WORLD_LOCAL_RANK",
       "OMPI_COMM_WORLD_LOCAL_SIZE",
       {"PMIX_NAMESPACE"},
       {"prted", "prte", "prterun", "orted", "orterun", "mpirun", "mpirun.openmpi", "mpiexec.openmpi"}},
      {"PALS", "PALS_LOCAL_RANKID", {"PALS_RANKID"}, "PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE", {"PALS_APID"}, {"palsd"}},
      {"Flux", "FLUX_TASK_LOCAL_ID", {"FLUX_TASK_RANK"}, "FLUX_TASK_LOCAL_ID", nullptr, {"FLUX_JOB_ID"}, {"flux-shell"}},
      {"MVAPICH2",
       "MV2_COMM_WORLD_LOCAL_RANK",
       {"MV2_COMM_WORLD_RANK"},
       "MV2_COMM_WORLD_LOCAL_RANK",
       "MV2_COMM_WORLD_LOCAL_SIZE",
       {},
       {"mpispawn"}},
      {"Slurm",
       "SLURM_STEP_ID",
       {"PMI_RANK", "PMIX_RANK", "SLURM_PROCID"},
       "SLURM_LOCALID",
       nullptr,
       {"SLURM_JOB_ID", "SLURM_STEP_ID"},
       {"slurmstepd"}},
      {"PMIx", "PMIX_NAMESPACE", {"PMIX_RANK"}, nullptr, nullptr, {"PMIX_NAMESPACE"}, {}},
  };
  return launchers;
}

bool has_variables_of(const Launcher& launcher, const Environment& environment) {
  return environment(launcher.mark) != nullptr && (launcher.local_rank == nullptr || environment(launcher.local_rank) != nullptr);
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
