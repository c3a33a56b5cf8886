// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/settings/settings.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <string>

namespace hierbar::mpi {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SettingsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"HIERBAR_MPI", "HIERBAR_VERBOSE", "HIERBAR_FAKE_NODES", "HIERBAR_TIMEOUT_S", "HIERBAR_SEGMENT_KIB",
                             "HIERBAR_MPI_SET_UP_AT", "HIERBAR_ALGORITHM", "HIERBAR_SESSIONS"}) {
      unsetenv(name);
    }
  }
  void TearDown() override { SetUp(); }
};

TEST_F(SettingsTest, NothingSetAndEmptyValuesAreTheDefaults) {
  setenv("HIERBAR_MPI", "", 1);
  setenv("HIERBAR_FAKE_NODES", "", 1);
  const ShimSettings settings = read_settings();
  EXPECT_TRUE(settings.enabled);
  EXPECT_FALSE(settings.verbose);
  EXPECT_EQ(settings.num_fake_nodes, 1);
  EXPECT_EQ(settings.timeout_ns, 0);
  EXPECT_EQ(settings.segment_kib, 0);
  EXPECT_EQ(settings.set_up_at, 8U);
  EXPECT_THAT(settings.problems, IsEmpty());
}

TEST_F(SettingsTest, GoodValuesAreTaken) {
  setenv("HIERBAR_MPI", "off", 1);
  setenv("HIERBAR_VERBOSE", "1", 1);
  setenv("HIERBAR_FAKE_NODES", "1024", 1);
  setenv("HIERBAR_TIMEOUT_S", "1000000", 1);
  setenv("HIERBAR_SEGMENT_KIB", "4", 1);
  setenv("HIERBAR_MPI_SET_UP_AT", "1000000", 1);
  setenv("HIERBAR_SESSIONS", "shared", 1);
  const ShimSettings settings = read_settings();
  EXPECT_FALSE(settings.enabled);
  EXPECT_TRUE(settings.verbose);
  EXPECT_EQ(settings.num_fake_nodes, 1024);
  EXPECT_EQ(settings.timeout_ns, 1'000'000'000'000'000);
  EXPECT_EQ(settings.segment_kib, 4);
  EXPECT_EQ(settings.set_up_at, 1'000'000U);
  EXPECT_THAT(settings.problems, IsEmpty());
}

TEST_F(SettingsTest, AnyAlgorithmMayBeChosenAndAnUnknownOneIsReported) {
  EXPECT_EQ(read_settings().algorithm, Algorithm::kHier);
  for (const NamedAlgorithm& named : kAlgorithms) {
    setenv("HIERBAR_ALGORITHM", std::string(named.name).c_str(), 1);
    EXPECT_EQ(read_settings().algorithm, named.algorithm) << named.name;
    EXPECT_THAT(read_settings().problems, IsEmpty());
  }
  setenv("HIERBAR_ALGORITHM", "butterfly", 1);
  EXPECT_EQ(read_settings().algorithm, Algorithm::kHier);
  EXPECT_THAT(read_settings().problems, ElementsAre(::testing::AllOf(::testing::HasSubstr("HIERBAR_ALGORITHM: 'butterfly'"),
                                                                     ::testing::HasSubstr("allowed: hier, topo, "))));
}

TEST_F(SettingsTest, EveryBadValueIsToldWithItsDefault) {
  setenv("HIERBAR_MPI", "ON", 1);
  setenv("HIERBAR_SESSIONS", "one", 1);
  setenv("HIERBAR_FAKE_NODES", "3 nodes", 1);
  setenv("HIERBAR_TIMEOUT_S", "99999999999999999999", 1);
  setenv("HIERBAR_MPI_SET_UP_AT", "0", 1);
  const ShimSettings settings = read_settings();
  EXPECT_TRUE(settings.enabled);
  EXPECT_EQ(settings.num_fake_nodes, 1);
  EXPECT_EQ(settings.timeout_ns, 0);
  EXPECT_EQ(settings.set_up_at, 8U);
  EXPECT_THAT(
      settings.problems,
      ElementsAre("HIERBAR_MPI: 'ON': not understood; allowed: off, on; on used instead",
                  "HIERBAR_SESSIONS: 'one': not understood; allowed: own, shared; own used instead",
                  "HIERBAR_FAKE_NODES: '3 nodes': not a whole number; allowed: 1 to 1024; 1 used instead",
                  "HIERBAR_TIMEOUT_S: '99999999999999999999': out of range; allowed: 0 to 1000000; 0 (never) used instead",
                  "HIERBAR_MPI_SET_UP_AT: '0': out of range; allowed: 1 to 1000000; 8 used instead"));
}

}  // namespace
}  // namespace hierbar::mpi
