// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/common/child_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "bench/common/stop_requests.hpp"

namespace hierbar::bench {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

ChildResult shell(const std::string& script, const Variables& variables = {},
                  milliseconds timeout = milliseconds(20000)) {
  return run_child({"/bin/sh", "-c", script}, variables, timeout);
}

TEST(ChildProcess, ReturnsWhatItWroteToEachStream) {
  const ChildResult result = shell("echo out; echo err >&2");
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
  EXPECT_EQ(result.failure, "");
}

TEST(ChildProcess, CanWriteMoreThanAPipeHolds) {
  const ChildResult result = shell(
      "i=0; while [ $i -lt 4000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); "
      "done");
  EXPECT_EQ(result.output.size(), 4000u * 41u);
}

TEST(ChildProcess, SeesNoRuntimeSettingOfItsParentButTheGivenOnes) {
  setenv("KMP_BLOCKTIME", "7", 1);
  setenv("OMP_NUM_THREADS", "7", 1);
  const ChildResult result = shell("echo \"$KMP_BLOCKTIME,$OMP_NUM_THREADS,$KMP_LIBRARY\"",
                                   {{"KMP_LIBRARY", "turnaround"}});
  unsetenv("KMP_BLOCKTIME");
  unsetenv("OMP_NUM_THREADS");
  EXPECT_EQ(result.output, ",,turnaround\n");
}

TEST(ChildProcess, SeesHierbarsOwnSettings) {
  setenv("HIERBAR_LEVELS", "numa", 1);
  EXPECT_EQ(shell("echo $HIERBAR_LEVELS").output, "numa\n");
  unsetenv("HIERBAR_LEVELS");
}

TEST(ChildProcess, ThatFailsSaysWithWhichStatusAndWhy) {
  EXPECT_EQ(shell("echo no such team >&2; exit 3").failure, "exit status 3: no such team");
}

TEST(ChildProcess, ThatIsKilledSaysBySignal) {
  EXPECT_THAT(shell("kill -SEGV $$").failure, HasSubstr("signal 11"));
}

TEST(ChildProcess, ThatHangsIsKilledAtTheTimeout) {
  // `exec`, so that no grandchild is left behind.
  EXPECT_THAT(shell("exec sleep 100", {}, milliseconds(50)).failure, HasSubstr("no result within"));
}

TEST(ChildProcess, EndsWhenTheBenchmarkIsAskedToStop) {
  const StopRequests stops(/*after_s=*/0);
  EXPECT_EQ(shell("kill -TERM $PPID; exec sleep 100").failure, "stopped");
}

TEST(ChildProcess, ThatCannotBeStartedSaysWhy) {
  const ChildResult result = run_child({"/nonexistent/program"}, {}, milliseconds(20000));
  EXPECT_THAT(result.failure, HasSubstr("cannot run /nonexistent/program"));
}

}  // namespace
}  // namespace hierbar::bench
