// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/share/places.hpp"

#include <gmock/gmock.h>

#include <set>

#include "tests/support/machines.hpp"

namespace hierbar {
namespace {

using testing::ElementsAre;

CpuSet cpus(const char* list) { return *CpuSet::parse(list); }

Machine eight_cpus() {
  using enum Level;
  return test::make_machine("8 cpus", {{kPackage, 2}, {kCore, 2}},
                            2);  // cpus 2i and 2i + 1 are core i's
}

std::string places(const char* share, std::uint32_t num_threads, ProcBind bind) {
  return to_omp_places(places_in(eight_cpus(), cpus(share), num_threads, bind));
}

TEST(OmpPlaces, AreCoresWhileThereAreEnough) {
  EXPECT_EQ(places("0-3", 2, ProcBind::kSpread), "{0,1},{2,3}");
  EXPECT_EQ(places("1,4-5", 1, ProcBind::kClose), "{1},{4,5}");
}

TEST(OmpPlaces, AreCpusWhenCoresAreFew) {
  EXPECT_EQ(places("0-3", 3, ProcBind::kClose), "{0},{2},{1},{3}");
  EXPECT_EQ(places("0-3", 3, ProcBind::kSpread), "{0},{1},{2},{3}");
}

TEST(OmpPlaces, AreOneUnderPrimary) {
  EXPECT_EQ(places("0-3", 3, ProcBind::kPrimary), "{0,1,2,3}");
}

std::vector<std::string> threads(const std::vector<CpuSet>& places, std::uint32_t num_threads,
                                 ProcBind bind) {
  std::vector<std::string> texts;
  for (const CpuSet& place : bind_threads(places, num_threads, bind))
    texts.push_back(place.to_string());
  return texts;
}

TEST(BindThreads, FollowsThePolicy) {
  const std::vector<CpuSet> four = {cpus("0"), cpus("1"), cpus("2"), cpus("3")};
  EXPECT_THAT(threads(four, 2, ProcBind::kClose), ElementsAre("0", "1"));
  EXPECT_THAT(threads(four, 2, ProcBind::kSpread), ElementsAre("0", "2"));
  EXPECT_THAT(threads(four, 2, ProcBind::kPrimary), ElementsAre("0", "0"));
  EXPECT_THAT(threads({cpus("0"), cpus("1")}, 4, ProcBind::kClose),
              ElementsAre("0", "0", "1", "1"));
}

TEST(BindThreads, UsesEveryCoreBeforeItUsesOneTwice) {
  const Machine machine = eight_cpus();
  for (const ProcBind bind : {ProcBind::kClose, ProcBind::kSpread}) {
    for (std::uint32_t num_threads = 1; num_threads <= 8; ++num_threads) {
      std::set<int> cores;
      CpuSet used;
      for (const CpuSet& place : bind_threads(
               places_in(machine, machine.present, num_threads, bind), num_threads, bind)) {
        cores.insert(machine.smallest_unit_containing(place));
        used |= place;
      }
      EXPECT_EQ(cores.size(), std::min(num_threads, 4U))
          << num_threads << ' ' << proc_bind_name(bind);
      EXPECT_GE(used.count(), num_threads);
    }
  }
}

}  // namespace
}  // namespace hierbar
