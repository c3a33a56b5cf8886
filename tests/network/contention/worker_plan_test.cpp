// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/contention/worker_plan.hpp"

#include <gmock/gmock.h>

namespace hierbar::network {
namespace {

using ::testing::HasSubstr;

TEST(WorkerPlan, IsReadAsItWasWritten) {
  const WorkerPlan plan{.time_limit_s = 12.5,
                        .most_pairs = 3,
                        .oversubscribed = true,
                        .sizes = {1024, 4096},
                        .channels = {{"l3", {{0, 1}, {2, 3}}}, {"network", {}}}};
  const Result<WorkerPlan> read = read_worker_plan(worker_arguments(plan));
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(*read, plan);
  EXPECT_EQ(*read_worker_plan(worker_arguments({})), WorkerPlan{});
}

TEST(WorkerPlan, SaysWhatItDoesNotUnderstand) {
  EXPECT_THAT(read_worker_plan({"--pairs"}).error(), HasSubstr("'--pairs' has no value"));
  EXPECT_THAT(read_worker_plan({"--speed", "1"}).error(), HasSubstr("'--speed' is no option"));
  EXPECT_THAT(read_worker_plan({"--channel", "l3"}).error(), HasSubstr("no channel"));
  EXPECT_THAT(read_worker_plan({"--channel", "l3=0-1,2"}).error(), HasSubstr("'2' is no pair"));
  EXPECT_THAT(read_worker_plan({"--channel", "l3=0-1x"}).error(), HasSubstr("no pair"));
}

TEST(WorkerPlan, LinesBecomeCells) {
  Contention contention;
  ASSERT_TRUE(put_cell_line("network 1048576 2 1.5 2 2.5", contention).ok());
  EXPECT_EQ(contention.tables[ChannelKind::kNetwork].time_us(1048576, 2), (Quartiles{1.5, 2, 2.5}));
  for (const char* line :
       {"", "wire 1 1 1 1 1", "l3 0 1 1 1 1", "l3 1 0 1 1 1", "l3 1 1 1 1", "l3 1 1 0 1 1", "l3 1 1 nan 1 1"}) {
    EXPECT_FALSE(put_cell_line(line, contention).ok()) << line;
  }
}

}  // namespace
}  // namespace hierbar::network
