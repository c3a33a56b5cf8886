// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/launchers.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/pages.hpp"
#include "tests/support/surroundings.hpp"

namespace hierbar {
namespace {

using test::environment_of;
using test::has_row_with;
using test::table_rows;
using test::text_of_page;
using test::Variables;

std::string rank_in(const Variables& variables) {
  const Environment environment = environment_of(variables);
  const char* rank = rank_in_job(environment);
  return rank == nullptr ? "none" : rank;
}

Variables both(Variables inner, const Variables& outer) {
  inner.insert(outer.begin(), outer.end());
  return inner;
}

const Variables kHydra = {{"MPI_LOCALRANKID", "0"}, {"PMI_RANK", "4"}};
const Variables kOpenMpi = {{"OMPI_COMM_WORLD_LOCAL_RANK", "0"}, {"OMPI_COMM_WORLD_RANK", "5"}};
const Variables kFlux = {{"FLUX_TASK_LOCAL_ID", "0"}, {"FLUX_TASK_RANK", "6"}};
const Variables kSlurm = {{"SLURM_STEP_ID", "0"}, {"SLURM_LOCALID", "0"}, {"SLURM_PROCID", "7"}};

TEST(RankInJob, IsWhatTheLauncherSays) {
  EXPECT_EQ(rank_in(kHydra), "4");
  EXPECT_EQ(rank_in(kOpenMpi), "5");
  EXPECT_EQ(rank_in(kFlux), "6");
  EXPECT_EQ(rank_in(kSlurm), "7");
  EXPECT_EQ(rank_in({{"PALS_LOCAL_RANKID", "0"}, {"PALS_RANKID", "2"}}), "2");
  EXPECT_EQ(rank_in({{"MV2_COMM_WORLD_LOCAL_RANK", "0"}, {"MV2_COMM_WORLD_RANK", "3"}}), "3");
  EXPECT_EQ(rank_in({{"PMIX_NAMESPACE", "x"}, {"PMIX_RANK", "8"}}), "8");
}

TEST(RankInJob, IsTheInnerLaunchers) {
  EXPECT_EQ(rank_in(both(kHydra, kSlurm)), "4");
  EXPECT_EQ(rank_in(both(kOpenMpi, kSlurm)), "5");
  EXPECT_EQ(rank_in(both(kFlux, kSlurm)), "6");
  EXPECT_EQ(rank_in(both(kHydra, kOpenMpi)), "4");
}

// srun serves PMI and PMIx itself, and gives the same rank in all variables. Another one is of a
// launcher that is not known.
TEST(RankInJob, UnderSlurmIsPmisOrPmixsIfThereIsOne) {
  EXPECT_EQ(rank_in(both({{"PMI_RANK", "1"}}, kSlurm)), "1");
  EXPECT_EQ(rank_in(both({{"PMIX_RANK", "1"}}, kSlurm)), "1");
}

// A process manager of PMI's that is not in the table.
TEST(RankInJob, CountsWithoutTheLaunchersOtherVariables) {
  EXPECT_EQ(rank_in({{"PMI_RANK", "9"}}), "9");
  EXPECT_EQ(rank_in(both({{"PMI_RANK", "9"}}, kFlux)), "6");
}

TEST(RankInJob, IsNotThereWithoutALauncher) { EXPECT_EQ(rank_in({{"HOME", "/"}}), "none"); }

// docs/guide/placement.md names each launcher with the variables by which a rank finds itself.
TEST(KnownLaunchers, AreThoseOfThePageAboutPlacement) {
  const std::vector<std::string> rows = table_rows("guide/placement.md");
  for (const Launcher& launcher : known_launchers()) {
    std::vector<std::string> words{launcher.name};
    for (const char* variable : {launcher.local_rank, launcher.local_size, launcher.ranks_of_nodes})
      if (variable != nullptr) words.push_back("`" + std::string(variable) + "`");
    if (launcher.local_rank != nullptr) {
      for (const char* variable : launcher.job_id)
        words.push_back("`" + std::string(variable) + "`");
    }
    EXPECT_TRUE(has_row_with(rows, words)) << testing::PrintToString(words);
  }
}

// The page also says in which order they are tried.
TEST(KnownLaunchers, AreInTheOrderOfThePageAboutPlacement) {
  std::string order;
  for (const Launcher& launcher : known_launchers()) {
    if (launcher.local_rank != nullptr)
      order += (order.empty() ? "" : ", ") + std::string(launcher.name);
  }
  EXPECT_NE(text_of_page("guide/placement.md").find("in the order " + order + ". "),
            std::string::npos)
      << order;
}

// docs/guide/advice.md names each launcher for which `hierbar advise` prints a line.
TEST(KnownLaunchers, WithALineAreThoseOfThePageAboutAdvice) {
  const std::vector<std::string> rows = table_rows("guide/advice.md");
  for (const Launcher& launcher : known_launchers()) {
    if (!launcher.line) continue;
    const char* name = launcher.line->name != nullptr ? launcher.line->name : launcher.name;
    EXPECT_TRUE(has_row_with(rows, {std::string("| ") + name})) << name;
  }
}

// Those that have settings: 1, 2, 3, ...
TEST(KnownLaunchers, HaveAPositionOfTheirOwn) {
  int position = 0;
  for (const Launcher* launcher : launchers_for_people())
    EXPECT_EQ(launcher->position, ++position) << launcher->name;
  for (const Launcher& launcher : known_launchers())
    EXPECT_EQ(launcher.position > 0, !launcher.settings.empty()) << launcher.name;
}

TEST(KnownLaunchers, EachHaveAMarkAndARank) {
  for (const Launcher& launcher : known_launchers()) {
    EXPECT_NE(launcher.mark, nullptr) << launcher.name;
    EXPECT_FALSE(launcher.rank.empty()) << launcher.name;
  }
}

}  // namespace
}  // namespace hierbar
