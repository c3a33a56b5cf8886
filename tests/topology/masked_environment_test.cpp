// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/masked_environment.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

namespace hierbar {
namespace {

using testing::IsNull;
using testing::StrEq;

constexpr std::array<const char*, 3> kNames = {"HIERBAR_TEST_A", "HIERBAR_TEST_B", "HIERBAR_TEST_UNSET"};

class MaskedEnvironmentTest : public testing::Test {
 protected:
  MaskedEnvironmentTest() {
    setenv("HIERBAR_TEST_A", "1", 1);
    setenv("HIERBAR_TEST_B", "", 1);
    setenv("HIERBAR_TEST_AB", "kept", 1);
    unsetenv("HIERBAR_TEST_UNSET");
  }
};

TEST_F(MaskedEnvironmentTest, HidesTheNamedVariablesWhileItLives) {
  {
    const MaskedEnvironment masked(kNames);
    EXPECT_THAT(getenv("HIERBAR_TEST_A"), IsNull());
    EXPECT_THAT(getenv("HIERBAR_TEST_B"), IsNull());
    EXPECT_THAT(getenv("HIERBAR_TEST_AB"), StrEq("kept"));
  }
  EXPECT_THAT(getenv("HIERBAR_TEST_A"), StrEq("1"));
  EXPECT_THAT(getenv("HIERBAR_TEST_B"), StrEq(""));
  EXPECT_THAT(getenv("HIERBAR_TEST_UNSET"), IsNull());
}

TEST_F(MaskedEnvironmentTest, HidesAllThatBeginsSo) {
  {
    const MaskedEnvironment masked("HIERBAR_TEST_");
    for (const char* name : {"HIERBAR_TEST_A", "HIERBAR_TEST_B", "HIERBAR_TEST_AB"}) EXPECT_THAT(getenv(name), IsNull());
    EXPECT_THAT(getenv("PATH"), testing::NotNull());
  }
  EXPECT_THAT(getenv("HIERBAR_TEST_A"), StrEq("1"));
  EXPECT_THAT(getenv("HIERBAR_TEST_AB"), StrEq("kept"));
}

TEST_F(MaskedEnvironmentTest, HidesAVariableThatIsThereTwice) {
  char first[] = "HIERBAR_TEST_A=1", second[] = "HIERBAR_TEST_A=2";
  char* twice[] = {first, second, nullptr};
  char** const before = environ;
  environ = twice;
  {
    const MaskedEnvironment masked(kNames);
    EXPECT_THAT(getenv("HIERBAR_TEST_A"), IsNull());
  }
  EXPECT_EQ(twice[0], first);
  EXPECT_EQ(twice[1], second);
  environ = before;
}

TEST_F(MaskedEnvironmentTest, SurvivesThatTheHostSetsVariablesMeanwhile) {
  {
    const MaskedEnvironment masked(kNames);
    for (int i = 0; i < 200; ++i) setenv(("HIERBAR_TEST_NEW_" + std::to_string(i)).c_str(), "new", 1);
    unsetenv("HIERBAR_TEST_AB");
  }
  EXPECT_THAT(getenv("HIERBAR_TEST_A"), StrEq("1"));
  EXPECT_THAT(getenv("HIERBAR_TEST_B"), StrEq(""));
  EXPECT_THAT(getenv("HIERBAR_TEST_NEW_199"), StrEq("new"));
}

}  // namespace
}  // namespace hierbar
