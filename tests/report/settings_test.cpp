// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/settings.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>

namespace hierbar::report {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class ToolSettings : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"HIERBAR_REPORT", "HIERBAR_OUTPUT", "HIERBAR_SAMPLE", "HIERBAR_TRACE_EVENTS",
          "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "FLUX_TASK_LOCAL_ID", "FLUX_TASK_RANK",
          "SLURM_PROCID", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"})
      unsetenv(name);
  }
  ReportSettings read() {
    problems.clear();
    return read_settings(problems);
  }
  std::vector<std::string> problems;
};

TEST_F(ToolSettings, AreATableOfAllBarriersByDefault) {
  const ReportSettings settings = read();
  EXPECT_TRUE(settings.text);
  EXPECT_FALSE(settings.json || settings.csv);
  EXPECT_EQ(settings.every, 1U);
  EXPECT_TRUE(problems.empty());
}

TEST_F(ToolSettings, TakeAListOfReports) {
  setenv("HIERBAR_REPORT", "csv,json", 1);
  ReportSettings settings = read();
  EXPECT_TRUE(settings.json && settings.csv && !settings.text);
  setenv("HIERBAR_REPORT", "none", 1);
  settings = read();
  EXPECT_FALSE(settings.json || settings.csv || settings.text);
  EXPECT_TRUE(problems.empty());
}

TEST_F(ToolSettings, SayHowMuchOfATraceIsKept) {
  EXPECT_EQ(read().trace_events, 4096U);
  setenv("HIERBAR_REPORT", "perfetto", 1);
  setenv("HIERBAR_TRACE_EVENTS", "100", 1);
  const ReportSettings settings = read();
  EXPECT_TRUE(settings.perfetto && settings.asks_for_any() && !settings.text);
  EXPECT_EQ(settings.trace_events, 100U);
  EXPECT_TRUE(problems.empty());
  setenv("HIERBAR_TRACE_EVENTS", "many", 1);
  EXPECT_EQ(read().trace_events, 4096U);
  EXPECT_THAT(problems, ElementsAre(AllOf(HasSubstr("HIERBAR_TRACE_EVENTS"), HasSubstr("many"),
                                          HasSubstr("using 4096"))));
}

TEST_F(ToolSettings, ThatAreWrongAreNamedOnce) {
  setenv("HIERBAR_SAMPLE", "0", 1);
  for (const char* bad : {"pdf", "text,", "json,none", "JSON"}) {
    setenv("HIERBAR_REPORT", bad, 1);
    const ReportSettings settings = read();
    EXPECT_TRUE(settings.text);
    EXPECT_EQ(settings.every, 1U);
    EXPECT_THAT(problems, ElementsAre(AllOf(HasSubstr("HIERBAR_REPORT"), HasSubstr(bad),
                                            HasSubstr("text, json, csv, html, perfetto, lstopo, ")),
                                      AllOf(HasSubstr("HIERBAR_SAMPLE"), HasSubstr("\"0\""),
                                            HasSubstr("1 to 1000000"))));
  }
  setenv("HIERBAR_REPORT", "text", 1);
  setenv("HIERBAR_SAMPLE", "64", 1);
  for (const char* bad : {"%", "a%x", "%%%"}) {
    setenv("HIERBAR_OUTPUT", bad, 1);
    EXPECT_EQ(read().output, "");
    EXPECT_THAT(problems, ElementsAre(AllOf(HasSubstr("HIERBAR_OUTPUT"), HasSubstr(bad))));
  }
  EXPECT_EQ(read().every, 64U);
}

TEST_F(ToolSettings, TakeANameWithItsEnding) {
  setenv("HIERBAR_OUTPUT", "run-%r.json", 1);
  EXPECT_EQ(read().output, "run-%r");
  setenv("HIERBAR_OUTPUT", "run.html", 1);
  EXPECT_EQ(read().output, "run");
  setenv("HIERBAR_OUTPUT", "run.1", 1);
  EXPECT_EQ(read().output, "run.1");
  setenv("HIERBAR_OUTPUT", ".json", 1);
  EXPECT_EQ(read().output, ".json");
  EXPECT_THAT(problems, testing::IsEmpty());
}

TEST_F(ToolSettings, NameFilesThatRanksDoNotShare) {
  const Process process{.host = "node", .pid = 12, .rank = 3, .job = "77"};
  const auto expand = [&](const char* output) {
    ReportSettings settings;
    settings.output = output;
    return expand_output(settings, process, "json");
  };
  EXPECT_EQ(expand(""), "hierbar-node-12.json");
  EXPECT_EQ(expand("dir/%j-%h-%p-%r-100%%"), "dir/77-node-12-3-100%.json");
  EXPECT_EQ(expand("out"), "out-3.json");
  ReportSettings settings;
  settings.output = "out";
  Process alone;
  alone.host = "node";
  EXPECT_EQ(expand_output(settings, alone, "csv"), "out.csv");
  Process all = process;
  all.rank = Process::kAllRanks;
  EXPECT_EQ(expand_output(settings, all, "csv"), "out.csv");
  settings.output = "out-%r";
  EXPECT_EQ(expand_output(settings, all, "csv"), "out-all.csv");
}

TEST_F(ToolSettings, KnowTheLaunchersRank) {
  EXPECT_EQ(this_process().rank, -1);
  setenv("SLURM_PROCID", "0", 1);
  setenv("PMI_RANK", "5", 1);
  setenv("SLURM_JOB_ID", "42", 1);
  const Process process = this_process();
  EXPECT_EQ(process.rank, 5);
  EXPECT_EQ(process.job, "42");
  EXPECT_EQ(process.pid, getpid());
}

TEST_F(ToolSettings, TakeTheInnerLaunchersRank) {
  setenv("PMI_RANK", "5", 1);
  setenv("FLUX_TASK_LOCAL_ID", "1", 1);
  setenv("FLUX_TASK_RANK", "3", 1);
  EXPECT_EQ(this_process().rank, 3);
}

TEST_F(ToolSettings, TakeNoRankThatIsNoNumber) {
  for (const char* rank : {"", "x", "3x", "-1"}) {
    setenv("PMI_RANK", rank, 1);
    EXPECT_EQ(this_process().rank, -1) << rank;
  }
}

}  // namespace
}  // namespace hierbar::report
