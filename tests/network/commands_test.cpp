// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_hierbar.hpp"
#include "tests/network/measured_nodes.hpp"

namespace hierbar {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kPaper = "--parameters L=125.6,o_s=0.43,o_r=123.8,g=0.22 ";

double us_of(const json& size, const std::string& name, const char* column) {
  for (const json& meeting : size["meetings"]) {
    if (meeting["name"] == name) return meeting[column].get<double>();
  }
  return -1;
}

TEST(MeetCommand, GivesThePapersTimes) {
  const auto result = test::run_hierbar(
      "meet --nodes 2,4,8,16,32,64,100 " + kPaper +
      "--meetings linear,combining-tree:2,combining-tree:4,dissemination:1 --json");
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const json root = json::parse(result.output);
  const double golden[][3] = {{499.66, 499.66, 249.83},    {748.12, 999.32, 499.66},
                              {1245.04, 1498.98, 749.49},  {2238.88, 1998.64, 999.32},
                              {4226.56, 2498.30, 1249.15}, {8201.92, 2997.96, 1498.98},
                              {12674.20, 3319.67, 1659.83}};
  ASSERT_EQ(root["sizes"].size(), std::size(golden));
  for (std::size_t i = 0; i < std::size(golden); ++i) {
    const json& size = root["sizes"][i];
    EXPECT_NEAR(us_of(size, "linear", "formula_us"), golden[i][0], 0.01);
    EXPECT_NEAR(us_of(size, "combining-tree:2", "formula_us"), golden[i][1], 0.01);
    EXPECT_NEAR(us_of(size, "dissemination:1", "formula_us"), golden[i][2], 0.01);
    EXPECT_EQ(size["choice"], "dissemination:1");
  }
  EXPECT_NEAR(us_of(root["sizes"][3], "combining-tree:4", "formula_us"), 1994.18, 0.01);
  EXPECT_NEAR(us_of(root["sizes"][5], "combining-tree:4", "formula_us"), 2991.27, 0.01);
}

TEST(MeetCommand, PrintsATableWithUnitsAndTheChoice) {
  const auto result = test::run_hierbar("meet --nodes 64 " + kPaper);
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("L 125.6, o_s 0.43, o_r 123.8, g 0.22 us"), HasSubstr("formula, us"),
                    HasSubstr("> dissemination:3"), HasSubstr("1498.98")));
}

TEST(MeetCommand, MarksTypicalNetworks) {
  const auto text = test::run_hierbar("meet --nodes 16 --network infiniband-hdr");
  ASSERT_EQ(text.exit_code, 0) << text.errors;
  EXPECT_THAT(text.output, AllOf(HasSubstr("from typical infiniband-hdr, not measured here"),
                                 HasSubstr("typical, not measured: ")));
  EXPECT_EQ(
      json::parse(
          test::run_hierbar("meet --nodes 16 --network infiniband-hdr --json").output)["typical"],
      "infiniband-hdr");
  EXPECT_TRUE(json::parse(test::run_hierbar("meet --nodes 16 --json " + kPaper).output)["typical"]
                  .is_null());
  EXPECT_THAT(
      test::run_hierbar("plan --participants 4 --nodes 4 --network ethernet-10g-tcp").output,
      HasSubstr("typical, not measured: "));
}

TEST(MeetCommand, RefusesWithTheReason) {
  const auto errors = [](const std::string& arguments) {
    const auto result = test::run_hierbar("meet " + arguments, "HIERBAR_NETWORK=off");
    EXPECT_EQ(result.exit_code, 2) << arguments;
    return result.errors;
  };
  EXPECT_THAT(errors("--nodes 1 " + kPaper),
              HasSubstr("'1' is not a valid number of nodes; allowed: a comma list of 2 to 16384"));
  EXPECT_THAT(errors("--nodes 2,x " + kPaper), HasSubstr("'x' is not a valid number of nodes"));
  EXPECT_THAT(
      errors("--nodes 4 --parameters L=1"),
      AllOf(HasSubstr("--parameters: 'L=1'"), HasSubstr("'o_s' is missing"), HasSubstr("allowed")));
  EXPECT_THAT(errors("--nodes 4 --meetings ring " + kPaper),
              HasSubstr("'ring' is not a known algorithm"));
  EXPECT_THAT(errors("--nodes 4 --network /nowhere"),
              HasSubstr("--network: '/nowhere': No such file"));
  EXPECT_THAT(errors("--nodes 4 --network x " + kPaper), HasSubstr("excludes"));
  EXPECT_THAT(errors("--nodes 4"), HasSubstr("no costs of a network are known"));
  EXPECT_THAT(errors("-n 4"), HasSubstr("-n: is called --nodes"));
  EXPECT_THAT(errors("--nodes 4 --algorithms bruck"), HasSubstr("is called --meetings"));
}

class PredictCommand : public test::MeasuredCommand {
 protected:
  PredictCommand() : MeasuredCommand("predict") {}
};

TEST_F(PredictCommand, OrdersTheSplitsOfAnAllToAll) {
  const test::CommandResult result = run("--traffic alltoall:1M -n 8 --json");
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const json root = json::parse(result.output);
  std::map<std::string, json> splits;
  for (const json& one : root["splits"]) splits[one["split"]] = one;
  EXPECT_EQ(root["splits"].front()["split"], "1x8");
  EXPECT_EQ(splits["1x8"]["binds"], "package");
  EXPECT_EQ(splits["2x4"]["binds"], "network");
  EXPECT_LT(splits["8x1"]["order"], splits["4x2"]["order"]);
  EXPECT_LT(splits["4x2"]["order"], splits["2x4"]["order"]);
  // 16 MiB leave each adapter at 12.5 MB/s.
  EXPECT_NEAR(splits["2x4"]["time_us"]["median"].get<double>(), 16 * 1048576 / 12.5, 3e3);
  EXPECT_EQ(splits["2x4"]["channels"].back()["largest_cf"], 16);
}

TEST_F(PredictCommand, PrintsUnitsAndWhatBinds) {
  EXPECT_THAT(run("--traffic alltoall:1M -n 8 --model paper --alltoall pairwise --nodes 4").output,
              AllOf(HasSubstr("alltoall:1M, pairwise among 8 ranks on nodes like " + kIdentity),
                    HasSubstr("model paper"), HasSubstr("time, ms"), HasSubstr("3+3+2"),
                    HasSubstr("network 2/1.7")));
  EXPECT_THAT(run("--traffic alltoall:1M -n 1").output, HasSubstr("1x1"));
}

TEST_F(PredictCommand, SaysWhenThereIsNoDifference) {
  write("network.json", *network::with_network("", network::test::measured_nodes(kIdentity, 0.9)));
  EXPECT_THAT(run("--traffic alltoall:1M -n 4 --per-node 2").output,
              HasSubstr("no difference among the first"));
}

TEST_F(PredictCommand, ReadsTheProgramsMatrix) {
  const std::string path = write("bytes.csv", "0,1048576\n1048576,0\n");
  const test::CommandResult result = run("--matrix " + path + " -n 2 --json");
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(json::parse(result.output)["splits"].front()["split"], "1x2");
}

// One split took what is predicted, and the other one twice that.
TEST_F(PredictCommand, ComparesWithMeasuredRuns) {
  const json predicted = json::parse(run("--traffic alltoall:1M -n 2 --json").output);
  std::string runs = "# split, microseconds\n";
  for (const json& one : predicted["splits"]) {
    const double us = one["time_us"]["median"].get<double>() * (one["split"] == "2x1" ? 2 : 1);
    for (const double noise : {0.99, 1.0, 1.01})
      runs += one["split"].get<std::string>() + "," + std::to_string(us * noise) + "\n";
  }
  const std::string arguments = "--traffic alltoall:1M -n 2 --measured " + write("runs.csv", runs);
  const json root = json::parse(run(arguments + " --json").output);
  EXPECT_EQ(root["measured"]["num_splits"], predicted["splits"].size());
  EXPECT_NEAR(root["measured"]["mean_error"].get<double>(), 0.25, 1e-3)
      << "none of one, half of the other";
  EXPECT_EQ(root["measured"]["kendall_tau"], 1.0);
  EXPECT_THAT(run(arguments).output,
              AllOf(HasSubstr("measured"), HasSubstr("-50 %"), HasSubstr("Kendall's tau 1.00")));
}

TEST_F(PredictCommand, WritesAPageThatHasAllFigures) {
  const std::string path = directory_ / "page.html";
  const test::CommandResult result = run("--traffic alltoall:1M -n 8 --html " + path);
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, testing::IsEmpty());
  std::ifstream stream(path);
  const std::string page(std::istreambuf_iterator<char>(stream), {});
  const std::string tag = "id=\"data\">";
  const std::size_t begin = page.find(tag) + tag.size();
  const json data = json::parse(page.substr(begin, page.find("</script", begin) - begin));
  EXPECT_EQ(data["splits"], json::parse(run("--traffic alltoall:1M -n 8 --json").output)["splits"]);
  EXPECT_EQ(data["contention"]["tables"].size(), 3U);
  EXPECT_THAT(page, AllOf(HasSubstr("time, ms"), HasSubstr("drawPage((prediction)")));
}

TEST_F(PredictCommand, RefusesMeasurementsOfSomethingElse) {
  const auto refuses = [&](const std::string& runs) {
    return refused("--traffic alltoall:1K -n 8 --measured " + write("runs.csv", runs));
  };
  EXPECT_THAT(refuses("1x8,5\n2x9,5\n"),
              HasSubstr("line 2: '2x9' is not one of the predicted splits"));
  EXPECT_THAT(refuses("2x4\n"), HasSubstr("line 1: '2x4' is not SPLIT,MICROSECONDS"));
  EXPECT_THAT(refuses("2x4,-1\n"), HasSubstr("'2x4,-1' is not SPLIT,MICROSECONDS"));
  EXPECT_THAT(refuses("2x4,inf\n"), HasSubstr("is not SPLIT,MICROSECONDS"));
  EXPECT_THAT(refuses("# nothing\n"), HasSubstr("it has no runs"));
  EXPECT_THAT(refused("--traffic alltoall:1K -n 8 --measured /nowhere"),
              HasSubstr("--measured: '/nowhere': No such file"));
  EXPECT_THAT(refused("--traffic alltoall:1K -n 8 --html /nowhere/page.html"),
              HasSubstr("--html: '/nowhere/page.html'"));
}

TEST_F(PredictCommand, RefusesWithTheReason) {
  EXPECT_THAT(refused("--traffic alltoall:1M -n 0"),
              HasSubstr("'0': no such number of ranks; allowed: 1 to 1024"));
  EXPECT_THAT(refused("--traffic scatter:1M -n 4"),
              AllOf(HasSubstr("'scatter' is not a known pattern"), HasSubstr("alltoall:SIZE")));
  EXPECT_THAT(refused("--traffic alltoall:x -n 4"), HasSubstr("it needs a size"));
  EXPECT_THAT(refused("-n 4"), HasSubstr("needs --traffic or --matrix"));
  EXPECT_THAT(refused("--traffic halo:1K -n 4 --alltoall bruck"),
              HasSubstr("only an all-to-all has algorithms"));
  EXPECT_THAT(refused("--traffic alltoall:1K -n 4 --alltoall ring"),
              HasSubstr("no such algorithm"));
  EXPECT_THAT(refused("--traffic alltoall:1K -n 4 --model best"),
              HasSubstr("'best': no such model; allowed: paper, shared"));
  EXPECT_THAT(refused("--traffic alltoall:1K -n 64 --nodes 2"),
              HasSubstr("more than 2 nodes of 8 ranks take"));
  EXPECT_THAT(refused("--traffic alltoall:1K -n 4 --nodes 0"), HasSubstr("--nodes: '0'"));
  EXPECT_THAT(refused("--matrix " + write("a", "0,1\n1\n") + " -n 2"), HasSubstr("not square"));
  EXPECT_THAT(refused("--matrix " + write("b", "0,-1\n1,0\n") + " -n 2"),
              HasSubstr("'-1' is negative"));
  EXPECT_THAT(refused("--matrix " + write("c", "0,1\n1,0\n") + " -n 4"),
              HasSubstr("it has 2 ranks"));
  EXPECT_THAT(refused("--matrix /nowhere -n 4"), HasSubstr("No such file"));
  EXPECT_THAT(refused("--traffic alltoall:1K -n 4 --network /nowhere"),
              HasSubstr("--network: '/nowhere': No such file"));
}

TEST_F(PredictCommand, NamesTheOptionsThatItHasInstead) {
  EXPECT_THAT(refused("alltoall:1K -n 4"),
              HasSubstr("'alltoall:1K': the traffic is given by --traffic"));
  EXPECT_THAT(refused("-n 4 --algorithm bruck"), HasSubstr("is called --alltoall"));
  EXPECT_THAT(refused("-n 4 --profile file"), HasSubstr("is called --network here"));
  EXPECT_THAT(refused("-n 4 --nothing"), HasSubstr("not expected: --nothing"));
}

TEST_F(PredictCommand, MarksWhatComesFromATypicalNetwork) {
  const std::string arguments = "--traffic alltoall:1M -n 8 --network infiniband-hdr";
  EXPECT_THAT(
      run(arguments).output,
      AllOf(HasSubstr("costs from typical infiniband-hdr, not measured here: InfiniBand"),
            HasSubstr("\ntypical, not measured: "), HasSubstr("hierbar tune --between-nodes")));
  const json root = json::parse(run(arguments + " --json").output);
  EXPECT_EQ(root["typical"], "infiniband-hdr");
  EXPECT_THAT(root["source"].get<std::string>(), HasSubstr("not measured here"));
  EXPECT_EQ(root["splits"].size(),
            json::parse(run("--traffic alltoall:1M -n 8 --json").output)["splits"].size());
  // What was measured has no such mark.
  EXPECT_TRUE(json::parse(run("--traffic alltoall:1M -n 8 --json").output)["typical"].is_null());
  EXPECT_THAT(run("--traffic alltoall:1M -n 8").output, testing::Not(HasSubstr("typical")));
}

TEST_F(PredictCommand, MarksThePageOfATypicalNetwork) {
  const std::string path = directory_ / "page.html";
  ASSERT_EQ(run("--traffic alltoall:1M -n 8 --network ethernet-10g-tcp --html " + path).exit_code,
            0);
  std::ifstream stream(path);
  const std::string page(std::istreambuf_iterator<char>(stream), {});
  EXPECT_THAT(page, AllOf(HasSubstr("typical ethernet-10g-tcp, not measured here"),
                          HasSubstr("typical, not measured: ")));
}

TEST_F(PredictCommand, ListsTypicalNetworksWithoutAnythingElse) {
  const test::CommandResult result = test::run_hierbar("predict --network list");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, AllOf(HasSubstr("infiniband-hdr\n"), HasSubstr("ethernet-10g-tcp\n"),
                                   HasSubstr("published  "), HasSubstr("Yours may differ")));
  EXPECT_EQ(test::run_hierbar("meet --network list").output, result.output);
  EXPECT_EQ(test::run_hierbar("advise --network list").output, result.output);
}

TEST_F(PredictCommand, SuggestsTypicalNetworks) {
  EXPECT_THAT(
      refused("--traffic alltoall:1M -n 8 --network infiniband-hrd"),
      AllOf(HasSubstr("--network: 'infiniband-hrd': there is no typical network and no file of "
                      "this name"),
            HasSubstr("did you mean 'infiniband-hdr'?"), HasSubstr("allowed: infiniband-hdr, ")));
  const test::CommandResult result =
      test::run_hierbar("predict --traffic alltoall:1M -n 8", "HIERBAR_NETWORK=off");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, AllOf(HasSubstr("the costs of this network are not known"),
                                   HasSubstr("hierbar tune --between-nodes"),
                                   HasSubstr("or the name of a typical network: infiniband-hdr")));
}

// Without a slash a name is a typical network's, also beside a file that is called so.
TEST_F(PredictCommand, TakesANameBeforeAFile) {
  const std::string path =
      write("infiniband-hdr", *network::with_network("", network::test::measured_nodes(kIdentity)));
  const auto from = [&](const std::string& text) {
    const test::CommandResult result = test::run_shell(
        "-C '" + std::string(directory_ / ".") +
        "' '" HIERBAR_COMMAND "' predict --traffic alltoall:1M -n 8 --json --topology '" + kShape +
        "' --network " + text);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return json::parse(result.output, nullptr, false)["typical"];
  };
  EXPECT_EQ(from("infiniband-hdr"), "infiniband-hdr");
  EXPECT_TRUE(from("./infiniband-hdr").is_null());
  EXPECT_TRUE(from("network.json").is_null()) << "a file needs no slash";
}

TEST_F(PredictCommand, RefusesCostsOfAnotherMachine) {
  write("network.json",
        *network::with_network("", network::test::measured_nodes("EPYC, 64 cores")));
  EXPECT_THAT(
      refused("--traffic alltoall:1K -n 4"),
      HasSubstr("it was measured on 'EPYC, 64 cores', and this machine is '" + kIdentity + "'"));
  network::MeasuredNetwork without = network::test::measured_nodes("x");
  without.contention.reset();
  write("network.json", *network::with_network("", without));
  EXPECT_THAT(refused("--traffic alltoall:1K -n 4"),
              HasSubstr("it contains no costs of shared channels"));
}

}  // namespace
}  // namespace hierbar
