// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "elf/predict_loads.hpp"

#include <gmock/gmock.h>

#include <set>
#include <sstream>

#include "base/command_output.hpp"
#include "tests/elf/small_programs.hpp"
#include "tests/support/environments.hpp"

namespace hierbar {
namespace {

using test::Variables;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::SizeIs;

std::string real(const std::string& path) { return std::filesystem::canonical(path); }

std::set<std::string> predicted(const std::string& program, const Variables& variables) {
  const LoaderInput input{.environment = test::environment_of(variables), .cache = read_loader_cache()};
  const Result<Loads> loads = predict_loads(program, input);
  std::set<std::string> files;
  EXPECT_TRUE(loads) << loads.error();
  if (!loads) return files;
  const std::string loader = real(loads->files.front().elf.interpreter);
  for (const LoadedFile& file : loads->files) {
    // The loader lists neither the program nor always itself.
    if (&file != &loads->files.front() && file.real_path != loader) files.insert(file.real_path);
  }
  return files;
}

// What the program's own loader lists: lines "libc.so.6 => /lib/libc.so.6 (0x...)" or
// "/a/b.so (0x...)".
std::set<std::string> listed(const std::string& program, const Variables& variables) {
  const Result<ElfFile> elf = read_elf(program);
  std::string command = "env -u LD_PRELOAD -u LD_LIBRARY_PATH";
  for (const auto& [name, value] : variables) command += " " + name + "='" + value + "'";
  std::istringstream lines(command_output(command + " " + elf->interpreter + " --list '" + program + "' 2>/dev/null"));
  std::set<std::string> files;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find('/');
    const std::size_t end = line.find(" (0x");
    if (begin == std::string::npos || end == std::string::npos || end < begin) continue;
    std::string path = line.substr(begin, end - begin);
    if (const std::size_t arrow = path.find(" => "); arrow != std::string::npos) path = path.substr(arrow + 4);
    if (real(path) != real(elf->interpreter)) files.insert(real(path));
  }
  return files;
}

TEST(PredictLoads, AgreesWithTheLoaderAboutInstalledPrograms) {
  std::size_t compared = 0;
  for (const char* program : {"/bin/sh", "/usr/bin/env", "/usr/bin/python3", "/usr/bin/cc", "/usr/bin/cmake", "/usr/bin/srun",
                              "/usr/bin/mpiexec.openmpi", "/usr/bin/git", "/usr/bin/clang-19"}) {
    if (!std::filesystem::exists(program)) continue;
    const std::string file = real(program);
    if (!read_elf(file)) continue;
    ++compared;
    EXPECT_EQ(predicted(file, {}), listed(file, {})) << program;
  }
  EXPECT_GE(compared, 2U);
}

class LoaderOrder : public test::SmallPrograms {
 protected:
  // What is predicted must be what the loader says.
  std::set<std::string> agreed(const std::string& program, const Variables& variables = {}) {
    const std::set<std::string> files = predicted(program, variables);
    EXPECT_EQ(files, listed(program, variables));
    return files;
  }
  static LoaderInput input(const Variables& variables = {}) {
    return {.environment = test::environment_of(variables), .cache = read_loader_cache()};
  }
  Result<Loads> loads(const std::string& program, const LoaderInput& given) { return predict_loads(program, given); }
};

TEST_F(LoaderOrder, PutsRpathBeforeTheVariableAndRunpathBehind) {
  library("a/libone.so.1");
  library("b/libone.so.1");
  const Variables variables = {{"LD_LIBRARY_PATH", "/nowhere:" + at("b")}};
  const std::string old = program("old", at("a/libone.so.1") + " -Wl,--disable-new-dtags,-rpath," + at("a"));
  EXPECT_THAT(agreed(old, variables), IsSupersetOf({real(at("a/libone.so.1"))}));
  const Result<Loads> hidden = loads(old, input(variables));
  ASSERT_TRUE(hidden);
  EXPECT_EQ(hidden->files[1].found, FoundBy::kRpath);
  EXPECT_EQ(hidden->files[1].shadowed_in_path, at("b/libone.so.1"));
  const std::string now = program("now", at("a/libone.so.1") + " -Wl,--enable-new-dtags,-rpath,'$ORIGIN/a'");
  EXPECT_THAT(agreed(now, variables), IsSupersetOf({real(at("b/libone.so.1"))}));
  EXPECT_THAT(agreed(now), IsSupersetOf({real(at("a/libone.so.1"))}));
}

TEST_F(LoaderOrder, HandsRpathDownAndNotRunpath) {
  library("c/libdeep.so.1");
  library("a/libone.so.1", "-Wl,--no-as-needed " + at("c/libdeep.so.1"));
  const std::string path = at("a") + ":" + at("c");
  const std::string old =
      program("old", at("a/libone.so.1") + " -Wl,-rpath-link," + at("c") + " -Wl,--disable-new-dtags,-rpath," + path);
  EXPECT_THAT(agreed(old), IsSupersetOf({real(at("c/libdeep.so.1"))}));
  const std::string now =
      program("now", at("a/libone.so.1") + " -Wl,-rpath-link," + at("c") + " -Wl,--enable-new-dtags,-rpath," + path);
  const Result<Loads> missing = loads(now, input());
  ASSERT_TRUE(missing);
  ASSERT_THAT(missing->missing, SizeIs(1));
  EXPECT_EQ(missing->missing[0].name, "libdeep.so.1");
  EXPECT_EQ(missing->missing[0].asked_by, at("a/libone.so.1"));
}

TEST_F(LoaderOrder, TakesAPreloadedFileForItsSoname) {
  library("a/libone.so.1");
  library("b/libone.so.1");
  const std::string file = program("app", at("a/libone.so.1") + " -Wl,--disable-new-dtags,-rpath," + at("a"));
  const Variables variables = {{"LD_PRELOAD", at("b/libone.so.1")}};
  const std::set<std::string> files = agreed(file, variables);
  EXPECT_THAT(files, IsSupersetOf({real(at("b/libone.so.1"))}));
  EXPECT_THAT(files, Not(IsSupersetOf({real(at("a/libone.so.1"))})));
  const Result<Loads> preloaded = loads(file, input(variables));
  EXPECT_TRUE(preloaded->files[1].is_preloaded);
  LoaderInput privileged = input(variables);
  privileged.is_privileged = true;
  EXPECT_EQ(loads(file, privileged)->files[1].elf.path, at("a/libone.so.1"));
}

TEST_F(LoaderOrder, PassesOverFilesOfOtherMachines) {
  library("a/libone.so.1");
  library("b/libone.so.1");
  std::fstream other(at("b/libone.so.1"), std::ios::in | std::ios::out | std::ios::binary);
  other.seekp(18).put('\x28').put('\0');  // e_machine: 32-bit ARM
  other.close();
  const std::string file = program("app", at("a/libone.so.1") + " -Wl,--disable-new-dtags,-rpath," + at("b") + ":" + at("a"));
  EXPECT_EQ(loads(file, input())->files[1].elf.path, at("a/libone.so.1"));
}

TEST_F(LoaderOrder, LeavesOutWhatAnAuditModuleAnswers) {
  library("a/libone.so.1");
  const std::string file = program("app", at("a/libone.so.1") + " -Wl,--disable-new-dtags,-rpath," + at("a"));
  LoaderInput answered = input();
  answered.is_answered = [](const std::string& name) { return name == "libone.so.1"; };
  const Result<Loads> without = loads(file, answered);
  ASSERT_TRUE(without) << without.error();
  for (const LoadedFile& loaded : without->files) EXPECT_NE(loaded.name, "libone.so.1");
  EXPECT_THAT(without->missing, IsEmpty());
}

TEST_F(LoaderOrder, LoadsNothingForAStaticProgram) {
  const std::string file = build("static", "int main(void) { return 0; }\n", "-static");
  const Result<Loads> none = loads(file, input({{"LD_PRELOAD", "/no/such.so"}}));
  ASSERT_TRUE(none) << none.error();
  EXPECT_THAT(none->files, SizeIs(1));
  EXPECT_THAT(none->missing, IsEmpty());
  EXPECT_FALSE(loads("/no/such/program", input()));
}

}  // namespace
}  // namespace hierbar
