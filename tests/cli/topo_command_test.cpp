// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/run_hierbar.hpp"

namespace hierbar {
namespace {

using test::CommandResult;
using test::run_hierbar;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

// The tree without the lines above it, which say how long loading took.
std::string tree_of(const std::string& output) {
  return output.substr(std::min(output.find("unit "), output.size()));
}

constexpr const char* kKunpeng = "'pack:2 die:2 [numa] l3:1 group:8 l2:4 core:1 pu:1'";

TEST(TopoCommand, ShowsThisMachine) {
  const CommandResult result = run_hierbar("topo");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output, AllOf(HasSubstr("active levels (*)"), HasSubstr("coherence lines of"),
                                   HasSubstr("loaded in"), HasSubstr("allowed"),
                                   HasSubstr("machine"), HasSubstr("core")));
  EXPECT_THAT(result.errors, IsEmpty());
}

TEST(TopoCommand, ShowsTheMachineThatIsAskedFor) {
  const CommandResult result = run_hierbar(std::string("topo --topology ") + kKunpeng);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("active levels (*): numa (4 of 32 cores), package (2 of 64 cores)"),
                    HasSubstr("2 x numa* + die + l3"), HasSubstr("8 x cluster")));
}

TEST(TopoCommand, ShowsEveryUnitWithAll) {
  const CommandResult result = run_hierbar(std::string("topo --all --topology ") + kKunpeng);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 6 + 1 + 2 + 4 + 32 + 128);
}

TEST(TopoCommand, PrintsJson) {
  const CommandResult result = run_hierbar(std::string("topo --json --topology ") + kKunpeng);
  EXPECT_EQ(result.exit_code, 0);
  const nlohmann::json json = nlohmann::json::parse(result.output, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << result.output;
  EXPECT_EQ(json["num_cpus"], 128);
  EXPECT_EQ(json["active_levels"], nlohmann::json::parse(R"(["numa", "package"])"));
  EXPECT_EQ(json["units"].size(), 1U + 2 + 4 + 32 + 128);
}

TEST(TopoCommand, ObeysTheVariableAndTheOptionBeatsIt) {
  EXPECT_THAT(run_hierbar("topo", "HIERBAR_TOPOLOGY='core:6 pu:2'").output,
              HasSubstr("6 cores, 12 cpus (0-11)"));
  EXPECT_THAT(run_hierbar("topo --topology 'core:5 pu:2'", "HIERBAR_TOPOLOGY='core:6 pu:2'").output,
              HasSubstr("5 cores, 10 cpus"));
}

TEST(TopoCommand, WarnsOfABrokenVariableAndShowsThisMachine) {
  const CommandResult result = run_hierbar("topo", "HIERBAR_TOPOLOGY=nonsense");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(tree_of(result.output), tree_of(run_hierbar("topo").output));
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr("HIERBAR_TOPOLOGY"), HasSubstr("'nonsense'"), HasSubstr("allowed"),
                    HasSubstr("the live machine is used instead")));
  EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1);
}

TEST(TopoCommand, RefusesBadInput) {
  const CommandResult result = run_hierbar("topo --topology nonsense");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.output, IsEmpty());
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr("--topology"), HasSubstr("'nonsense'"), HasSubstr("allowed")));
  for (const char* arguments : {"", "bogus", "topo --bogus", "topo extra", "topo --topology"}) {
    const CommandResult usage = run_hierbar(arguments);
    EXPECT_EQ(usage.exit_code, 2) << arguments;
    EXPECT_THAT(usage.errors, HasSubstr("--help")) << arguments;
  }
}

TEST(TopoCommand, ExplainsItself) {
  const CommandResult help = run_hierbar("topo --help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.output, AllOf(HasSubstr("--json"), HasSubstr("--topology"),
                                 HasSubstr("HIERBAR_TOPOLOGY"), HasSubstr("Examples")));
  EXPECT_THAT(run_hierbar("--help").output, HasSubstr("topo"));
  const CommandResult version = run_hierbar("--version");
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_EQ(version.output.rfind("hierbar ", 0), 0U);
}

// Packages in another order than that of their cpus: hwloc reads the file and says so in a block of
// stars.
constexpr const char* kOutOfOrder = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
 <object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
  <object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" gp_index="2" local_memory="1"/>
  <object type="Package" os_index="0" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1" gp_index="3">
   <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1" gp_index="4"/>
  </object>
  <object type="Package" os_index="1" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="5">
   <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="6"/>
  </object>
 </object>
</topology>
)";

TEST(TopoCommand, TellsInOneLineWhatHwlocComplainsOf) {
  const std::string path =
      testing::TempDir() + "hierbar_out_of_order_" + std::to_string(getpid()) + ".xml";
  std::ofstream(path) << kOutOfOrder;
  const CommandResult result = run_hierbar("topo --topology " + path);
  unlink(path.c_str());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output, HasSubstr("2 cores, 2 cpus (0-1)"));
  EXPECT_EQ(result.errors, "hierbar: '" + path +
                               "': hwloc has encountered an out-of-order XML topology load. Object "
                               "Package cpuset 0x00000001 "
                               "complete 0x00000001 was inserted after object Package with "
                               "0x00000002 and 0x00000002.\n");
}

}  // namespace
}  // namespace hierbar
