// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/run_hierbar.hpp"

namespace hierbar {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kMachine = " --topology 'pack:2 [numa] l3:2 core:4 pu:1'";

test::CommandResult place(const std::string& arguments) { return test::run_hierbar("place " + arguments, ""); }

TEST(PlaceCommand, PrintsSharesAndSettings) {
  const test::CommandResult result = place("-n 3 -t 8,4,4" + kMachine);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, IsEmpty());
  EXPECT_THAT(result.output, AllOf(HasSubstr("     0        8      8   2     1         1  0-7\n"),
                                   HasSubstr("     2        4      4   1     1         1  12-15\n"),
                                   HasSubstr("mpiexec -n 3 -bind-to user:0+1+2+3+4+5+6+7,8+9+10+11,12+13+14+15\n"),
                                   HasSubstr("srun -n 3 --cpu-bind=mask_cpu:0xff,0xf00,0xf000\n"),
                                   HasSubstr("rank 1: OMP_NUM_THREADS=4 OMP_PLACES={8},{9},{10},{11}\n")));
}

TEST(PlaceCommand, PrintsJson) {
  const test::CommandResult result = place("-n 2 -t 3 --cpus 0-3,8-11 --json" + kMachine);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const nlohmann::json json = nlohmann::json::parse(result.output, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << result.output;
  EXPECT_EQ(json.at("pool"), "0-3,8-11");
  EXPECT_EQ(json.at("ranks").at(1).at("cpus"), "8-11");
  EXPECT_EQ(json.at("ranks").at(1).at("threads"), 3);
  EXPECT_EQ(json.at("ranks").at(1).at("packages"), 1);
  EXPECT_EQ(json.at("mpiexec"), "-bind-to user:0+1+2+3,8+9+10+11");
}

TEST(PlaceCommand, SaysWhenThreadsShareCores) {
  const test::CommandResult result = place("-n 2 -t 9" + kMachine);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.errors, HasSubstr("18 threads share 16 cores"));
}

TEST(PlaceCommand, RefusesBadValues) {
  const struct {
    const char* arguments;
    const char* message;
  } cases[] = {
      {"-n 0 -t 1", "'0': no such number of ranks; allowed: 1 to 65536"},
      {"-n 1x -t 1", "'1x'"},
      {"-n 2 -t 0", "'0' is no number of threads"},
      {"-n 2 -t 1,", "'' is no number of threads"},
      {"-n 2 -t 1,2,3", "'1,2,3': not a number for each of 2"},
      {"-n 2 -t 1 --cpus 15-16", "'15-16': not all are cpus of this machine"},
      {"-n 2 -t 1 --cpus a", "--cpus"},
      {"-n 17 -t 1", "17 ranks for 16 cpus"},
  };
  for (const auto& one : cases) {
    const test::CommandResult result = place(one.arguments + kMachine);
    EXPECT_EQ(result.exit_code, 2) << one.arguments;
    EXPECT_THAT(result.errors, HasSubstr(one.message)) << one.arguments;
    EXPECT_THAT(result.output, IsEmpty()) << one.arguments;
  }
}

}  // namespace
}  // namespace hierbar
