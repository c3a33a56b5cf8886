// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/contention/contention_json.hpp"

#include <gmock/gmock.h>

#include "network/network_profile.hpp"

namespace hierbar::network {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

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
  const MeasuredNetwork network{.mpi_library = "MPICH",
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
  EXPECT_THAT(parse_network_profile(broken).error(), HasSubstr("'networks'[0].contention needs in each table a channel"));
}

TEST(ContentionJson, SaysWhatIsWrong) {
  const char* good = R"({"machine":"m","tables":[{"channel":"l3","cells":[[1,1,1,1,1]]}]})";
  ASSERT_TRUE(read_contention(json::parse(good)).ok());
  for (const char* text :
       {"[]", "{}", R"({"machine":"m"})", R"({"machine":"m","tables":[]})", R"({"machine":"m","tables":[1]})",
        R"({"machine":"m","tables":[{"channel":"l3"}]})", R"({"machine":"m","tables":[{"channel":"l3","cells":[]}]})",
        R"({"machine":"m","tables":[{"channel":"l3","cells":[[1,1,2,1,1]]}]})",
        R"({"machine":"m","tables":[{"channel":"l3","cells":[[1,0,1,1,1]]}]})",
        R"({"machine":"m","tables":[{"channel":"l3","cells":[[1,1,0,1,1]]}]})",
        R"({"machine":"m","tables":[{"channel":"l3","cells":[[1,1,1,1]]}]})"}) {
    EXPECT_FALSE(read_contention(json::parse(text)).ok()) << text;
  }
}

}  // namespace
}  // namespace hierbar::network
