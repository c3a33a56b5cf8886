// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "network/network_json.hpp"
#include "network/network_profile.hpp"

namespace hierbar::network {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

PairClass pair_class(const char* name, double latency_us) {
  return {name,        6,        {latency_us, latency_us, latency_us + 1}, {1, 2, 3}, {2, 3, 4},
          {0, 0.5, 1}, {0, 0, 0}};
}

MeasuredNetwork measured(const char* library, std::uint32_t num_nodes) {
  return {library,
          "UCX_TLS=tcp",
          num_nodes,
          {pair_class("same switch", 10), pair_class("farther", 20)},
          {"L was clamped"}};
}

std::string file_of(const std::vector<MeasuredNetwork>& networks) {
  std::string text;
  for (const MeasuredNetwork& network : networks) text = *with_network(text, network);
  return text;
}

TEST(NetworkProfile, IsReadAsItWasWritten) {
  const std::vector<MeasuredNetwork> networks{measured("Open MPI v4", 8), measured("MPICH 4", 4)};
  const auto read = parse_network_profile(file_of(networks));
  ASSERT_TRUE(read.ok()) << read.error();
  ASSERT_EQ(read->networks.size(), 2U);
  EXPECT_EQ(read->networks[0].classes, networks[0].classes);
  EXPECT_EQ(read->networks[0].transport, "UCX_TLS=tcp");
  EXPECT_THAT(read->networks[1].notes, ElementsAre("L was clamped"));
  EXPECT_EQ(read->networks[1].slowest(), (Parameters{20, 2, 3, 0.5, 0}));
}

TEST(NetworkProfile, TheNearestNumberOfNodesCounts) {
  NetworkProfile profile;
  for (const std::uint32_t nodes : {2U, 8U, 64U})
    profile.networks.push_back(measured("Open MPI v4", nodes));
  const auto nodes = [&](std::uint32_t wanted) {
    return profile.find("Open MPI v4", "UCX_TLS=tcp", wanted)->num_nodes;
  };
  EXPECT_EQ(nodes(3), 2U);
  EXPECT_EQ(nodes(10), 8U);
  EXPECT_EQ(nodes(1000), 64U);
  EXPECT_EQ(profile.find("Open MPI v5", "UCX_TLS=tcp", 8), nullptr);
  EXPECT_EQ(profile.find("Open MPI v4", "", 8), nullptr);
}

TEST(NetworkProfile, ANewMeasurementReplacesTheOldOneAndNoOther) {
  MeasuredNetwork again = measured("Open MPI v4", 8);
  again.notes.clear();
  const auto read = parse_network_profile(
      file_of({measured("Open MPI v4", 8), measured("Open MPI v4", 4), again}));
  ASSERT_TRUE(read.ok()) << read.error();
  ASSERT_EQ(read->networks.size(), 2U);
  EXPECT_EQ(read->networks[0].num_nodes, 4U);
  EXPECT_THAT(read->networks[1].notes, IsEmpty());
}

// Others add to the file what is not known here.
TEST(NetworkProfile, WhatIsNotKnownIsKept) {
  std::string text = file_of({measured("Open MPI v4", 8)});
  text.replace(text.find("{"), 1, R"({"of the root": 1,)");
  text.replace(text.find("\"mpi\""), 5, R"("of the network": [2], "mpi")");
  const auto added = with_network(text, measured("Open MPI v4", 8));
  ASSERT_TRUE(added.ok()) << added.error();
  EXPECT_THAT(*added, AllOf(HasSubstr("\"of the root\": 1"), HasSubstr("\"of the network\"")));
  EXPECT_EQ(parse_network_profile(*added)->networks.size(), 1U);
}

TEST(NetworkProfile, NetworksOfAnotherVersionAreKeptAndNotRead) {
  std::string text = file_of({measured("Open MPI v4", 8)});
  text.replace(text.find("\"hierbar\": \""), 12, "\"hierbar\": \"9");
  EXPECT_THAT(parse_network_profile(text)->networks, IsEmpty());
  const auto added = with_network(text, measured("Open MPI v4", 8));
  ASSERT_TRUE(added.ok()) << added.error();
  EXPECT_THAT(*added, HasSubstr("\"hierbar\": \"9"));
  EXPECT_EQ(parse_network_profile(*added)->networks.size(), 1U);
}

TEST(NetworkProfile, NothingIsAddedToAnotherFile) {
  EXPECT_FALSE(with_network("{\"a\": 1}", measured("Open MPI v4", 8)).ok());
}

// The text with one part replaced.
std::string with(const std::string& part, const std::string& other) {
  std::string text = file_of({measured("Open MPI v4", 8)});
  const std::size_t at = text.find(part);
  return at == std::string::npos ? "the test is wrong: no " + part
                                 : text.replace(at, part.size(), other);
}

struct Broken {
  const char* name;
  std::string text;
  const char* complaint;
};
class BrokenNetworkProfiles : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenNetworkProfiles, AreRefusedWithTheReason) {
  const auto profile = parse_network_profile(GetParam().text);
  ASSERT_FALSE(profile.ok());
  EXPECT_THAT(profile.error(), HasSubstr(GetParam().complaint));
}

INSTANTIATE_TEST_SUITE_P(
    NetworkProfile, BrokenNetworkProfiles,
    ::testing::Values(
        Broken{"Empty", "", "it is not JSON"}, Broken{"CutOff", with("]", ""), "it is not JSON"},
        Broken{"Format", with("network-1", "network-0"), "its format is 'hierbar-network-0'"},
        Broken{"NoNetworks", with("\"networks\"", "\"x\""), "its 'networks' are not an array"},
        Broken{"NoLibrary", with("\"mpi\"", "\"x\""), "'networks'[0] needs mpi"},
        Broken{"OneNode", with("\"nodes\": 8", "\"nodes\": 1"), "needs nodes: 2 to"},
        Broken{"NoClasses", with("\"classes\"", "\"x\""), "needs classes"},
        Broken{"NoPairs", with("\"pairs\": 6", "\"pairs\": 0"), "classes[0] needs pairs"},
        Broken{"Negative", with("\"q1\": 10.0", "\"q1\": -1"), "needs L_us: q1 <= median <= q3"},
        Broken{"Unordered", with("\"q1\": 10.0", "\"q1\": 99"), "needs L_us: q1 <= median <= q3"},
        Broken{"Huge", with("\"q3\": 11.0", "\"q3\": 1e300"), "needs L_us"},
        Broken{"NotANumber", with("\"q3\": 11.0", "\"q3\": \"11\""), "needs L_us"}),
    [](const auto& one) { return one.param.name; });

class NetworkProfileFile : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ =
        std::filesystem::temp_directory_path() / ("network_profile_" + std::to_string(getpid()));
    std::filesystem::create_directories(directory_ / "hierbar");
    setenv("XDG_CONFIG_HOME", directory_.c_str(), 1);
    unsetenv(kNetworkVariable);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string write(const std::string& text) const {
    const std::string path = directory_ / "hierbar" / "network.json";
    std::ofstream(path) << text;
    return path;
  }
  std::filesystem::path directory_;
  std::vector<std::string> problems_;
};

TEST_F(NetworkProfileFile, IsFoundWithoutASetting) {
  const std::string path = write(with("L was", "L is"));
  const NetworkProfile profile = read_network_profile(own_environment(), problems_);
  EXPECT_EQ(profile.path, path);
  EXPECT_EQ(profile.networks.size(), 1U);
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(NetworkProfileFile, NoFileIsNoProblemUnlessItIsNamed) {
  EXPECT_THAT(read_network_profile(own_environment(), problems_).networks, IsEmpty());
  EXPECT_THAT(problems_, IsEmpty());
  setenv(kNetworkVariable, "/nowhere/network.json", 1);
  EXPECT_THAT(read_network_profile(own_environment(), problems_).networks, IsEmpty());
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("'/nowhere/network.json' ignored: No such file")));
}

TEST_F(NetworkProfileFile, OffMeansOff) {
  write(with("L was", "L is"));
  setenv(kNetworkVariable, "OFF", 1);
  EXPECT_THAT(read_network_profile(own_environment(), problems_).networks, IsEmpty());
}

TEST_F(NetworkProfileFile, ABrokenOneIsReportedAndIgnored) {
  write("{");
  EXPECT_THAT(read_network_profile(own_environment(), problems_).networks, IsEmpty());
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("correct it, or set HIERBAR_NETWORK=off")));
}

TEST_F(NetworkProfileFile, WhatIsNoSmallFileIsRefused) {
  write(std::string(kMaxNetworkBytes + 1, ' '));
  EXPECT_FALSE(load_network_profile(default_network_path(own_environment())).ok());
  EXPECT_THAT(load_network_profile(default_network_path(own_environment())).error(),
              HasSubstr("larger than 2048 KiB"));
  const std::string pipe = directory_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(load_network_profile(pipe).error(), HasSubstr("not a regular file"));
}

using nlohmann::json;

Contention measured() {
  Contention contention{"a machine, 2 cores", "cma", {}};
  contention.tables[ChannelKind::kL3].put(1024, 1, {1, 2, 3});
  contention.tables[ChannelKind::kNetwork].put(1024, 1, {10, 20, 30});
  contention.tables[ChannelKind::kNetwork].put(1024, 2, {10, 25, 30});
  return contention;
}

TEST(ContentionJson, IsReadAsItWasWritten) {
  const auto read = read_contention(json::parse(contention_json(measured()).dump()));
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(*read, measured());
}

TEST(ContentionJson, IsPartOfTheNetworksFile) {
  const MeasuredNetwork network{
      .mpi_library = "MPICH",
      .transport = "",
      .num_nodes = 2,
      .classes = {{"all", 1, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}}},
      .notes = {},
      .contention = measured()};
  const std::string text = *with_network("", network);
  const auto read = parse_network_profile(text);
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(read->networks.at(0).contention, measured());
  std::string broken = text;
  broken.replace(broken.find("\"l3\""), 4, "\"l9\"");
  EXPECT_THAT(parse_network_profile(broken).error(),
              HasSubstr("'networks'[0].contention needs in each table a channel"));
}

TEST(ContentionJson, SaysWhatIsWrong) {
  const char* good = R"({"machine":"m","tables":[{"channel":"l3","cells":[[1,1,1,1,1]]}]})";
  ASSERT_TRUE(read_contention(json::parse(good)).ok());
  for (const char* text :
       {"[]", "{}", R"({"machine":"m"})", R"({"machine":"m","tables":[]})",
        R"({"machine":"m","tables":[1]})", R"({"machine":"m","tables":[{"channel":"l3"}]})",
        R"({"machine":"m","tables":[{"channel":"l3","cells":[]}]})",
        R"({"machine":"m","tables":[{"channel":"l3","cells":[[1,1,2,1,1]]}]})",
        R"({"machine":"m","tables":[{"channel":"l3","cells":[[1,0,1,1,1]]}]})",
        R"({"machine":"m","tables":[{"channel":"l3","cells":[[1,1,0,1,1]]}]})",
        R"({"machine":"m","tables":[{"channel":"l3","cells":[[1,1,1,1]]}]})"}) {
    EXPECT_FALSE(read_contention(json::parse(text)).ok()) << text;
  }
}

}  // namespace
}  // namespace hierbar::network
