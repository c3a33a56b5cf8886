// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/evidence/launcher.hpp"

#include <gmock/gmock.h>

#include "tests/support/surroundings.hpp"

namespace hierbar {
namespace {

using test::environment_of;
using test::Variables;

Process process(int pid, const char* name) {
  return {.pid = pid,
          .parent = 1,
          .start_ticks = 7000ULL + pid,
          .user = 1000,
          .name = name,
          .cpus = CpuSet::range(0, 7)};
}

// Under a shell that a launcher's processes run; nearest first.
ProcessFacts below(std::vector<Process> ancestors) {
  ancestors.insert(ancestors.begin(), process(900, "bash"));
  return {.ancestors = std::move(ancestors), .boot_id = "boot"};
}

std::string found(const Variables& variables, const ProcessFacts& facts) {
  const Result<Launch> launch = find_launch(environment_of(variables), facts);
  if (!launch) return launch.error();
  return std::to_string(launch->local_rank) + " of " + std::to_string(launch->local_size) + ", " +
         launch->job_key + (launch->size_is_assumed ? ", assumed" : "");
}

// Each environment: what of it a launcher set, as a rank of the named version saw it when the
// command was run, unless it says that it is from documentation. Names of hosts are replaced.

// MPICH 4.0.2 (Debian 12): mpiexec.mpich -bind-to core -n 2.
const Variables kHydra = {{"HYDRA_USER_PROVIDED_BINDING", "1"},
                          {"MPI_LOCALNRANKS", "2"},
                          {"MPI_LOCALRANKID", "1"},
                          {"PMI_FD", "8"},
                          {"PMI_RANK", "1"},
                          {"PMI_SIZE", "2"}};
const ProcessFacts kHydraFacts =
    below({process(500, "hydra_pmi_proxy"), process(499, "mpiexec.mpich")});

// Intel MPI 2021.18.1: mpirun -n 2.
const Variables kIntel = {{"HYDRA_LAUNCH_TYPE", "2"},
                          {"I_MPI_HYDRA_UUID", "35720000-7b3c-a8f6-ce60-0600eb402d65"},
                          {"I_MPI_MPIRUN", "mpirun"},
                          {"I_MPI_PIN_INFO", "1"},
                          {"I_MPI_PIN_MAPPING", "2:0 0,1 1"},
                          {"MPI_LOCALNRANKS", "2"},
                          {"MPI_LOCALRANKID", "1"},
                          {"PMI_FD", "11"},
                          {"PMI_RANK", "1"},
                          {"PMI_SIZE", "2"}};

// Open MPI 4.1.4 (Debian 12): mpiexec.openmpi -n 2.
const Variables kOpenMpi4 = {
    {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
    {"OMPI_COMM_WORLD_NODE_RANK", "1"},  {"OMPI_COMM_WORLD_RANK", "1"},
    {"OMPI_COMM_WORLD_SIZE", "2"},       {"OMPI_MCA_orte_ess_num_procs", "2"},
    {"OMPI_UNIVERSE_SIZE", "2"},         {"PMIX_ID", "636223489.1"},
    {"PMIX_NAMESPACE", "636223489"},     {"PMIX_RANK", "1"}};

// Open MPI 5.0.11: mpirun -n 2, which is PRRTE with Open MPI's personality.
const Variables kOpenMpi5 = {{"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                             {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                             {"OMPI_COMM_WORLD_SIZE", "2"},
                             {"PMIX_NAMESPACE", "prterun-node1-29297@1"},
                             {"PMIX_RANK", "0"},
                             {"PRTE_LAUNCHED", "1"}};

// PRRTE of Open MPI 5.0.11: prterun -n 2, with PRRTE's own personality.
const Variables kPrrte = {{"PMIX_NAMESPACE", "prterun-node1-28972@1"},
                          {"PMIX_RANK", "1"},
                          {"PMIX_VERSION", "5.0.11rc1"},
                          {"PRTE_LAUNCHED", "1"}};

// HPE's list of what PALS sets, quoted in github.com/flux-framework/flux-coral2/issues/79 (2023).
// Not run.
const Variables kPals = {{"PALS_APID", "f2d9a1c4-7c1e-4b0f-a3a5-2f5b1d3b0c11"},
                         {"PALS_DEPTH", "8"},
                         {"PALS_LOCAL_RANKID", "3"},
                         {"PALS_LOCAL_SIZE", "4"},
                         {"PALS_NODEID", "1"},
                         {"PALS_RANKID", "7"}};

// flux-environment(7) of flux-core, section "Job environment". Not run.
const Variables kFlux = {{"FLUX_JOB_ID", "f2NXDxQnW"},
                         {"FLUX_JOB_NNODES", "1"},
                         {"FLUX_JOB_SIZE", "4"},
                         {"FLUX_TASK_LOCAL_ID", "3"},
                         {"FLUX_TASK_RANK", "3"},
                         {"PMI_FD", "12"},
                         {"PMI_RANK", "3"},
                         {"PMI_SIZE", "4"}};

// src/pm/mpirun/mpispawn.c of MVAPICH2. Not run.
const Variables kMvapich = {{"MV2_COMM_WORLD_LOCAL_RANK", "0"},
                            {"MV2_COMM_WORLD_LOCAL_SIZE", "2"},
                            {"MV2_COMM_WORLD_RANK", "2"},
                            {"MV2_COMM_WORLD_SIZE", "4"},
                            {"PMI_ID", "2"}};

// Slurm 22.05.8 (Debian 12): srun -n 2.
const Variables kSlurm = {
    {"SLURM_CPUS_ON_NODE", "2"},   {"SLURM_CPU_BIND", "quiet,mask_cpu:0x1,0x2"},
    {"SLURM_JOB_ID", "1"},         {"SLURM_LOCALID", "1"},
    {"SLURM_NODEID", "0"},         {"SLURM_NTASKS", "2"},
    {"SLURM_PROCID", "1"},         {"SLURM_STEP_ID", "0"},
    {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_STEP_TASKS_PER_NODE", "2"},
    {"SLURM_TASKS_PER_NODE", "2"}};
const ProcessFacts kSlurmFacts = below({process(300, "slurmstepd")});

// Slurm 22.05.8: salloc -n 2 mpiexec.mpich -n 2. MPICH 4.0.2 starts its proxy with srun, as one
// task of step 0.
const Variables kHydraInSlurm = [] {
  Variables variables = kSlurm;
  variables["SLURM_LOCALID"] = variables["SLURM_PROCID"] = "0";
  variables["SLURM_STEP_NUM_TASKS"] = variables["SLURM_STEP_TASKS_PER_NODE"] =
      variables["SLURM_TASKS_PER_NODE"] = "1";
  variables.insert(kHydra.begin(), kHydra.end());
  return variables;
}();

// Slurm 22.05.8: the script of sbatch -n 2, before any srun.
const Variables kBatchScript = {{"SLURM_CPUS_ON_NODE", "2"},   {"SLURM_JOB_ID", "5"},
                                {"SLURM_LOCALID", "0"},        {"SLURM_NODEID", "0"},
                                {"SLURM_NTASKS", "2"},         {"SLURM_PROCID", "0"},
                                {"SLURM_TASKS_PER_NODE", "2"}, {"SLURM_TASK_PID", "29957"}};

TEST(Launcher, RecognisesHydra) {
  EXPECT_EQ(found(kHydra, kHydraFacts), "1 of 2, hydra/process 500 started 7500/boot");
}

TEST(Launcher, RecognisesIntelMpi) {
  EXPECT_EQ(found(kIntel, below({process(500, "hydra_pmi_proxy"), process(499, "mpiexec.hydra")})),
            "1 of 2, Intel MPI/35720000-7b3c-a8f6-ce60-0600eb402d65/boot");
}

TEST(Launcher, RecognisesOpenMpi) {
  EXPECT_EQ(found(kOpenMpi4, below({process(18706, "mpiexec.openmpi")})),
            "1 of 2, Open MPI/636223489/boot");
  EXPECT_EQ(found(kOpenMpi5, below({process(29297, "prterun")})),
            "0 of 2, Open MPI/prterun-node1-29297@1/boot");
}

TEST(Launcher, KnowsThatPmixAloneDoesNotTellThePosition) {
  EXPECT_EQ(found(kPrrte, below({process(28972, "prterun")})),
            "PMIx launched this process but does not give its position on the node");
}

TEST(Launcher, RecognisesPals) {
  EXPECT_EQ(found(kPals, below({})), "3 of 4, PALS/f2d9a1c4-7c1e-4b0f-a3a5-2f5b1d3b0c11/boot");
}

TEST(Launcher, RecognisesFluxAndAssumesAnEvenSpread) {
  EXPECT_EQ(found(kFlux, below({process(40, "flux-shell")})), "3 of 4, Flux/f2NXDxQnW/boot");
  Variables several = kFlux;
  several["FLUX_JOB_SIZE"] = "8";
  several["FLUX_JOB_NNODES"] = "2";
  EXPECT_EQ(found(several, below({})), "3 of 4, Flux/f2NXDxQnW/boot, assumed");
  several["FLUX_JOB_SIZE"] = "7";
  EXPECT_EQ(
      found(several, below({})),
      "Flux: FLUX_JOB_SIZE: '7' tasks cannot be spread evenly over FLUX_JOB_NNODES: '2' nodes");
  several["FLUX_JOB_NNODES"] = "0";
  EXPECT_EQ(
      found(several, below({})),
      "Flux: FLUX_JOB_SIZE: '7' tasks cannot be spread evenly over FLUX_JOB_NNODES: '0' nodes");
}

TEST(Launcher, RecognisesMvapich) {
  EXPECT_EQ(found(kMvapich, below({process(60, "mpispawn")})),
            "0 of 2, MVAPICH2/process 60 started 7060/boot");
  EXPECT_EQ(found(kMvapich, below({})),
            "MVAPICH2: it gives no job id, and its process is not among the ancestors");
}

TEST(Launcher, RecognisesSlurm) {
  EXPECT_EQ(found(kSlurm, kSlurmFacts), "1 of 2, Slurm/1.0/boot");
  Variables uneven = kSlurm;
  uneven["SLURM_STEP_TASKS_PER_NODE"] = "4(x2),3";
  uneven["SLURM_NODEID"] = "2";
  EXPECT_EQ(found(uneven, kSlurmFacts), "1 of 3, Slurm/1.0/boot");
  uneven["SLURM_NODEID"] = "3";
  EXPECT_EQ(found(uneven, kSlurmFacts),
            "Slurm: SLURM_STEP_TASKS_PER_NODE: '4(x2),3' has no node 3");
  uneven["SLURM_STEP_TASKS_PER_NODE"] = "many";
  EXPECT_EQ(found(uneven, kSlurmFacts),
            "Slurm: SLURM_STEP_TASKS_PER_NODE: 'many' is not a list such as 4(x2),3");
}

TEST(Launcher, DoesNotTakeABatchScriptForARank) {
  EXPECT_EQ(found(kBatchScript, kSlurmFacts), "no launcher is known from the environment");
}

TEST(Launcher, PrefersTheInnerOneWhoseProcessIsNearest) {
  const std::vector<Process> proxy_in_step = {process(500, "hydra_pmi_proxy"),
                                              process(300, "slurmstepd")};
  EXPECT_EQ(found(kHydraInSlurm, below(proxy_in_step)),
            "1 of 2, hydra/process 500 started 7500/boot");
  // A rank of hydra that is itself a script with an srun in it: what srun starts is below
  // slurmstepd alone.
  EXPECT_EQ(found(kHydraInSlurm, kSlurmFacts), "0 of 1, Slurm/1.0/boot");
}

TEST(Launcher, PrefersTheInnerOneByTableWhereNoProcessIsSeen) {
  Variables both = kOpenMpi4;
  both.insert(kSlurm.begin(), kSlurm.end());
  EXPECT_EQ(found(both, below({})), "1 of 2, Open MPI/636223489/boot");
  EXPECT_EQ(found(kHydraInSlurm, below({})),
            "hydra: it gives no job id, and its process is not among the ancestors");
}

TEST(Launcher, DoesNotReplaceABrokenInnerLauncherByAnOuterOne) {
  Variables broken = kHydraInSlurm;
  broken.erase("MPI_LOCALNRANKS");
  EXPECT_EQ(found(broken, kHydraFacts), "hydra: MPI_LOCALNRANKS is not set");
}

TEST(Launcher, SaysWhenThereIsNone) {
  EXPECT_EQ(found({{"PATH", "/bin"}}, kHydraFacts), "no launcher is known from the environment");
}

TEST(Launcher, RefusesNumbersThatCannotBe) {
  Variables hydra = kHydra;
  hydra["MPI_LOCALRANKID"] = "2";
  EXPECT_EQ(found(hydra, kHydraFacts),
            "hydra: MPI_LOCALRANKID: '2' is not below the 2 ranks of this node");
  for (const char* bad : {"", "-1", "+1", "1x", " 1", "4294967296", "0x1"}) {
    hydra["MPI_LOCALRANKID"] = bad;
    EXPECT_EQ(found(hydra, kHydraFacts),
              "hydra: MPI_LOCALRANKID: '" + std::string(bad) + "' is not a number");
  }
}

TEST(Launcher, FindsTheNearestLauncherProcess) {
  const std::vector<Process> ancestors = {process(9, "sh"), process(8, "prted"),
                                          process(7, "hydra_pmi_proxy")};
  ASSERT_NE(find_launcher_process(ancestors), nullptr);
  EXPECT_EQ(find_launcher_process(ancestors)->pid, 8);
  EXPECT_EQ(find_launcher_process({process(9, "sh")}), nullptr);
}

TEST(TasksOnNode, ReadsRunLengths) {
  const auto tasks = [](const char* list, std::uint32_t node) {
    const Result<std::uint32_t> count = tasks_on_node(list, node);
    return count ? std::to_string(*count) : count.error();
  };
  EXPECT_EQ(tasks("4(x2),3", 0), "4");
  EXPECT_EQ(tasks("4(x2),3", 1), "4");
  EXPECT_EQ(tasks("4(x2),3", 2), "3");
  EXPECT_EQ(tasks("4(x2),3", 3), "has no node 3");
  EXPECT_EQ(tasks("1,2,3(x4000000000)", 4000000000U), "3");
  for (const char* bad :
       {"", ",", "4,", "4(x2", "4(2)", "4(x)", "(x2)", "x", "4(x2)3", "-4", "4 ,3"}) {
    EXPECT_EQ(tasks(bad, 0), "is not a list such as 4(x2),3") << bad;
  }
}

}  // namespace
}  // namespace hierbar
