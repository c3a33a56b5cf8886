// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/evidence/veto.hpp"

#include <gmock/gmock.h>

#include <set>

#include "tests/support/machines.hpp"
#include "tests/support/surroundings.hpp"

namespace hierbar {
namespace {

using testing::HasSubstr;

CpuSet cpus(const char* list) { return *CpuSet::parse(list); }

std::string text_of(const std::optional<Veto>& veto) {
  return veto ? std::string(veto_name(veto->reason)) + ": " + veto->text : "none";
}

std::string by_environment(const test::Variables& variables, const char* setting = "auto") {
  return text_of(
      veto_by_environment(*parse_place_setting(setting), test::environment_of(variables)));
}

TEST(Veto, ObeysTheSwitch) {
  EXPECT_EQ(by_environment({}, "off"), "off: HIERBAR_PLACE is off");
  EXPECT_EQ(by_environment({}, "check"), "none");
  EXPECT_EQ(by_environment({}), "none");
}

TEST(Veto, RespectsPlacesThatAreListed) {
  EXPECT_EQ(by_environment({{"OMP_PLACES", "{0,1},{2,3}"}}),
            "user-placed: OMP_PLACES={0,1},{2,3} lists the places");
  for (const char* list : {" {0:4}:4:4", "0", "!{0},{1:3}"})
    EXPECT_NE(by_environment({{"OMP_PLACES", list}}), "none") << list;
  for (const char* name : {"", "cores", "threads(4)", "SOCKETS", "ll_caches", "numa_domains"}) {
    EXPECT_EQ(by_environment({{"OMP_PLACES", name}}), "none") << name;
  }
}

TEST(Veto, RespectsThreadsThatShallNotBeBound) {
  EXPECT_THAT(by_environment({{"OMP_PROC_BIND", "false"}}),
              HasSubstr("user-placed: OMP_PROC_BIND=false "));
  EXPECT_NE(by_environment({{"OMP_PROC_BIND", "FALSE "}}), "none");
  for (const char* bind : {"true", "close", "spread,close", "primary"}) {
    EXPECT_EQ(by_environment({{"OMP_PROC_BIND", bind}}), "none") << bind;
  }
}

TEST(Veto, RespectsOtherRuntimesVariables) {
  for (const char* affinity : {"explicit,proclist=[0-3]", "disabled", "verbose,none",
                               "granularity=fine,NoRespect,compact", "proclist=[1]"}) {
    EXPECT_THAT(by_environment({{"KMP_AFFINITY", affinity}}),
                HasSubstr("user-placed: KMP_AFFINITY="))
        << affinity;
  }
  for (const char* affinity :
       {"compact", "verbose,granularity=core,scatter,1,0", "respect,balanced", ""}) {
    EXPECT_EQ(by_environment({{"KMP_AFFINITY", affinity}}), "none") << affinity;
  }
  EXPECT_EQ(by_environment({{"GOMP_CPU_AFFINITY", "0-3"}}),
            "user-placed: GOMP_CPU_AFFINITY=0-3 lists the cpus");
}

TEST(Veto, LeavesItToForeignPlacers) {
  for (const test::Variables& variables : std::vector<test::Variables>{
           {{"LIKWID_PIN", "1,2,3,0"}},
           {{"LD_PRELOAD", "/usr/lib/libfoo.so:/opt/likwid/lib/liblikwidpin.so"}},
           {{"LD_PRELOAD", "libdplace.so"}},
           {{"MPIBIND", "on"}},
           {{"DLB_ARGS", "--lewi --lewi-mpi"}},
           {{"DLB_ARGS", "--talp --drom"}},
           {{"GEOPM_CTL", "process"}},
           {{"I_MPI_PIN_DOMAIN", "omp"}},
           {{"I_MPI_PIN", "1"}, {"I_MPI_PIN_PROCESSOR_LIST", "0,2"}}}) {
    EXPECT_THAT(by_environment(variables),
                HasSubstr("foreign-placer: " + variables.rbegin()->first + "="));
  }
}

TEST(Veto, IsNotFooledByWhatToolsAlwaysSet) {
  for (const test::Variables& variables : std::vector<test::Variables>{
           {{"I_MPI_PIN_INFO", "1"},
            {"I_MPI_PIN_MAPPING", "2:0 0,1 1"}},  // Intel MPI 2021.18.1, without any setting
           {{"I_MPI_PIN", "off"}, {"I_MPI_PIN_DOMAIN", "omp"}},
           {{"MPIBIND", "off"}},
           {{"DLB_ARGS", "--talp --lewi=no --no-drom"}},
           {{"HYDRA_USER_PROVIDED_BINDING", "1"}},
           {{"SLURM_CPU_BIND_TYPE", "mask_cpu:"}},
           {{"LD_PRELOAD", "libdlb_mpi.so"}}}) {
    EXPECT_EQ(by_environment(variables), "none") << variables.begin()->first;
  }
}

TEST(Veto, LooksAtTheProcess) {
  BindingFacts state{.mask = cpus("0"), .has_explicit_threads = true};
  EXPECT_EQ(text_of(veto_by_binding(state)), "none");
  state.first_mask = cpus("0");
  EXPECT_EQ(text_of(veto_by_binding(state)), "none");
  state.first_mask = cpus("0-3");
  EXPECT_EQ(text_of(veto_by_binding(state)),
            "mask-changed: the program was started on cpus 0-3 and bound itself to 0");
  state.is_forked_child = true;
  EXPECT_EQ(text_of(veto_by_binding(state)),
            "forked-child: this process was forked from one that uses OpenMP");
  EXPECT_EQ(text_of(veto_by_binding({.mask = cpus("0")})),
            "threads-unknown: OMP_NUM_THREADS is not set, so there are as many threads as the rank "
            "has cpus; "
            "HIERBAR_PLACE=threads=share takes a thread for each cpu of a share");
}

// 8 cores with two cpus each, side by side.
Machine eight_cores() {
  return test::make_machine("8 cores", {{Level::kPackage, 2}, {Level::kCore, 4}}, 2);
}

TEST(Veto, SeesNoNeedWhereEachThreadHasACore) {
  const Machine machine = eight_cores();
  EXPECT_EQ(text_of(veto_by_need(machine, {{cpus("0-7"), 4}, {cpus("8-15"), 4}})),
            "sufficient: each rank has a core of its own for every thread");
  EXPECT_EQ(text_of(veto_by_need(machine, {{cpus("0-1"), 1}})),
            "sufficient: each rank has a core of its own for every thread");
}

TEST(Veto, SeesStackedThreadsAndOverlappingRanks) {
  const Machine machine = eight_cores();
  EXPECT_EQ(text_of(veto_by_need(machine, {{cpus("0-1"), 4}, {cpus("8-15"), 4}})), "none");
  EXPECT_EQ(text_of(veto_by_need(machine, {{cpus("0-7"), 4}, {cpus("8-13"), 4}})), "none")
      << "3 cores for 4 threads";
  EXPECT_EQ(text_of(veto_by_need(machine, {{cpus("0-15"), 4}, {cpus("0-15"), 4}})), "none");
  EXPECT_EQ(text_of(veto_by_need(machine, {{cpus("0-7"), 1}, {cpus("7-15"), 1}})), "none");
}

CpuPool pool_of(const char* list, bool is_exclusive = true) {
  return {.cpus = cpus(list),
          .source = PoolChoice::kGrant,
          .capacity = cpus(list).count(),
          .is_exclusive = is_exclusive,
          .why = "these"};
}

TEST(Veto, LooksAtThePool) {
  EXPECT_EQ(text_of(veto_by_pool(pool_of("0-15"), {{cpus("0"), 8}, {cpus("2"), 8}})), "none");
  EXPECT_EQ(text_of(veto_by_pool(pool_of("0-15"), {{cpus("0"), 8}, {cpus("2"), 9}})),
            "oversubscribed: 17 threads for 16 cpus: the pool is these");
  EXPECT_EQ(text_of(veto_by_pool(pool_of("0"), {{cpus("0"), 2}})),
            "oversubscribed: 2 threads for 1 cpu: the pool is these");
  EXPECT_EQ(text_of(veto_by_pool(pool_of("0-3"), {{cpus("0-3"), 4}})),
            "sufficient: the only rank has the whole pool: these");
  EXPECT_EQ(text_of(veto_by_pool(pool_of("0-3"), {{cpus("0"), 4}})), "none");
  EXPECT_THAT(
      text_of(veto_by_pool(pool_of("0-15", false), {{cpus("0"), 8}})),
      HasSubstr(
          "not-exclusive: nothing shows that the cpus are this job's alone: the pool is these"));
}

TEST(Veto, CountsTheCapacityAndNotTheCpus) {
  CpuPool pool = pool_of("0-15");
  pool.capacity = 4;
  EXPECT_EQ(text_of(veto_by_pool(pool, {{cpus("0"), 8}})),
            "oversubscribed: 8 threads for 4 cpus: the pool is these");
}

TEST(Veto, HasAnotherNameForEachReason) {
  std::set<std::string> names;
  for (int reason = 0; reason <= static_cast<int>(VetoReason::kOversubscribed); ++reason) {
    names.insert(veto_name(static_cast<VetoReason>(reason)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(VetoReason::kOversubscribed) + 1);
  EXPECT_EQ(names.count(""), 0U);
}

}  // namespace
}  // namespace hierbar
