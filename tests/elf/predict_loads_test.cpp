// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "base/files.hpp"
#include "base/process.hpp"
#include "elf/elf_file.hpp"
#include "elf/predict_loads.hpp"
#include "tests/support/surroundings.hpp"

namespace hierbar::test {

// Compiles programs and libraries of one function in a directory that goes with the test.
class SmallPrograms : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return directory_ / name; }

  // `options` may name other files by at().
  std::string build(const std::string& name, const std::string& text, const std::string& options) {
    std::filesystem::create_directories(std::filesystem::path(at(name)).parent_path());
    const std::string source = at("source.c");
    std::ofstream(source) << text;
    const std::string command = "cc " + source + " " + options + " -o " + at(name);
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return at(name);
  }
  // A library with that file name as SONAME.
  std::string library(const std::string& name, const std::string& options = "") {
    const std::string soname = std::filesystem::path(name).filename();
    return build(name, "int f(void) { return 1; }\n",
                 "-shared -fPIC -Wl,-soname," + soname + " " + options);
  }
  std::string program(const std::string& name, const std::string& options) {
    return build(name, "int f(void);\nint main(void) { return f(); }\n", options);
  }

 private:
  TemporaryDirectory directory_;
};

}  // namespace hierbar::test

namespace hierbar {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ElfFiles : public test::SmallPrograms {};

TEST_F(ElfFiles, TellWhatTheyNeedAndWhere) {
  library("libone.so.1");
  const Result<ElfFile> old =
      read_elf(program("old", at("libone.so.1") + " -Wl,--disable-new-dtags,-rpath,'$ORIGIN:/b'"));
  ASSERT_TRUE(old) << old.error();
  EXPECT_TRUE(old->is_dynamic);
  EXPECT_THAT(old->interpreter, HasSubstr("/ld-"));
  EXPECT_THAT(old->needed, Contains("libone.so.1"));
  EXPECT_EQ(old->rpath, "$ORIGIN:/b");
  EXPECT_THAT(old->runpath, IsEmpty());
  const Result<ElfFile> now = read_elf(
      program("now", at("libone.so.1") + " -Wl,--enable-new-dtags,-rpath,/c -Wl,-z,nodefaultlib"));
  ASSERT_TRUE(now) << now.error();
  EXPECT_EQ(now->runpath, "/c");
  EXPECT_THAT(now->rpath, IsEmpty());
  EXPECT_TRUE(now->no_default_libraries);
  const Result<ElfFile> one = read_elf(at("libone.so.1"));
  ASSERT_TRUE(one) << one.error();
  EXPECT_EQ(one->soname, "libone.so.1");
  EXPECT_THAT(one->interpreter, IsEmpty());
}

TEST_F(ElfFiles, KnowTheirSymbolsAndConstants) {
  library("libone.so.1");
  const std::string file = program("uses", at("libone.so.1"));
  EXPECT_THAT(find_symbols(file, {"f", "main", "absent"}),
              ElementsAre(SymbolState::kUsed, SymbolState::kDefined, SymbolState::kNone));
  EXPECT_THAT(find_symbols("/no/such/file", {"f"}), ElementsAre(SymbolState::kNone));
  build("says", "#include <stdio.h>\nint main(void) { return puts(\"a constant text\"); }\n", "");
  EXPECT_TRUE(has_constant(at("says"), "constant text"));
  EXPECT_FALSE(has_constant(at("says"), "another text"));
}

TEST_F(ElfFiles, RefuseWhatIsNone) {
  std::ofstream(at("text")) << "#!/bin/sh\n";
  EXPECT_THAT(read_elf(at("text")).error(), HasSubstr("no ELF file"));
  EXPECT_THAT(read_elf(at("")).error(), HasSubstr("not a regular file"));
  EXPECT_THAT(read_elf(at("none")).error(), HasSubstr("No such file"));
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_THAT(read_elf(at("pipe")).error(), HasSubstr("not a regular file"));
}

// A file that was cut or damaged is refused or read in part; what it cannot do is to lead outside.
TEST_F(ElfFiles, SurviveDamage) {
  library("libone.so.1");
  std::ifstream stream(program("whole", at("libone.so.1") + " -Wl,-rpath,/somewhere"),
                       std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(stream)), {});
  ASSERT_GT(whole.size(), 4096U);
  const auto examine = [&](const std::string& bytes) {
    std::ofstream(at("damaged"), std::ios::binary) << bytes;
    const Result<ElfFile> file = read_elf(at("damaged"));
    EXPECT_TRUE(!file || file->needed.size() < whole.size());
    find_symbols(at("damaged"), {"f"});
    has_constant(at("damaged"), "text");
  };
  for (std::size_t size = 0; size < whole.size(); size += 509) examine(whole.substr(0, size));
  for (std::size_t i = 0; i < 1200; i += 3) {  // the headers of the file and of its segments
    std::string bytes = whole;
    bytes[i] = static_cast<char>(~bytes[i]);
    examine(bytes);
  }
}

std::string bytes_of_this_machine() { return read_small_file("/etc/ld.so.cache", 64U << 20).text; }

TEST(LoaderCache, SaysWhatLdconfigSays) {
  const std::string listed =
      command_output("PATH=\"$PATH:/sbin:/usr/sbin\" exec ldconfig -p 2>/dev/null");
  const std::string bytes = bytes_of_this_machine();
  if (listed.empty() || bytes.empty())
    GTEST_SKIP() << "this machine has no ldconfig or no /etc/ld.so.cache";
  const auto files = parse_loader_cache(bytes);
  ASSERT_TRUE(files);
  EXPECT_EQ(files->count("libc.so.6"), 1U);
  for (const auto& [name, path] : *files) {
    EXPECT_THAT(listed, HasSubstr("\t" + name + " (")) << name;
    EXPECT_THAT(listed, HasSubstr(" => " + path + "\n")) << name;
  }
}

TEST(LoaderCache, SaysNothingForDamagedBytes) {
  std::string bytes = bytes_of_this_machine();
  if (bytes.empty()) GTEST_SKIP() << "this machine has no /etc/ld.so.cache";
  EXPECT_FALSE(parse_loader_cache(""));
  EXPECT_FALSE(parse_loader_cache("ld.so-1.7.0"));
  EXPECT_FALSE(parse_loader_cache(std::string_view(bytes).substr(0, 200)));
  EXPECT_FALSE(parse_loader_cache(std::string_view(bytes).substr(0, bytes.size() / 2)));
  bytes[0] = 'x';
  EXPECT_FALSE(parse_loader_cache(bytes));
}

using test::Variables;
using testing::IsSupersetOf;
using testing::Not;
using testing::SizeIs;

std::string real(const std::string& path) { return std::filesystem::canonical(path); }

std::set<std::string> predicted(const std::string& program, const Variables& variables) {
  const LoaderInput input{.environment = test::environment_of(variables),
                          .cache = read_loader_cache()};
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
  std::istringstream lines(
      command_output(command + " " + elf->interpreter + " --list '" + program + "' 2>/dev/null"));
  std::set<std::string> files;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find('/');
    const std::size_t end = line.find(" (0x");
    if (begin == std::string::npos || end == std::string::npos || end < begin) continue;
    std::string path = line.substr(begin, end - begin);
    if (const std::size_t arrow = path.find(" => "); arrow != std::string::npos)
      path = path.substr(arrow + 4);
    if (real(path) != real(elf->interpreter)) files.insert(real(path));
  }
  return files;
}

TEST(PredictLoads, AgreesWithTheLoaderAboutInstalledPrograms) {
  std::size_t compared = 0;
  for (const char* program :
       {"/bin/sh", "/usr/bin/env", "/usr/bin/python3", "/usr/bin/cc", "/usr/bin/cmake",
        "/usr/bin/srun", "/usr/bin/mpiexec.openmpi", "/usr/bin/git", "/usr/bin/clang-19"}) {
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
  Result<Loads> loads(const std::string& program, const LoaderInput& given) {
    return predict_loads(program, given);
  }
};

TEST_F(LoaderOrder, PutsRpathBeforeTheVariableAndRunpathBehind) {
  library("a/libone.so.1");
  library("b/libone.so.1");
  const Variables variables = {{"LD_LIBRARY_PATH", "/nowhere:" + at("b")}};
  const std::string old =
      program("old", at("a/libone.so.1") + " -Wl,--disable-new-dtags,-rpath," + at("a"));
  EXPECT_THAT(agreed(old, variables), IsSupersetOf({real(at("a/libone.so.1"))}));
  const Result<Loads> hidden = loads(old, input(variables));
  ASSERT_TRUE(hidden);
  EXPECT_EQ(hidden->files[1].found, FoundBy::kRpath);
  EXPECT_EQ(hidden->files[1].shadowed_in_path, at("b/libone.so.1"));
  const std::string now =
      program("now", at("a/libone.so.1") + " -Wl,--enable-new-dtags,-rpath,'$ORIGIN/a'");
  EXPECT_THAT(agreed(now, variables), IsSupersetOf({real(at("b/libone.so.1"))}));
  EXPECT_THAT(agreed(now), IsSupersetOf({real(at("a/libone.so.1"))}));
}

TEST_F(LoaderOrder, HandsRpathDownAndNotRunpath) {
  library("c/libdeep.so.1");
  library("a/libone.so.1", "-Wl,--no-as-needed " + at("c/libdeep.so.1"));
  const std::string path = at("a") + ":" + at("c");
  const std::string old = program("old", at("a/libone.so.1") + " -Wl,-rpath-link," + at("c") +
                                             " -Wl,--disable-new-dtags,-rpath," + path);
  EXPECT_THAT(agreed(old), IsSupersetOf({real(at("c/libdeep.so.1"))}));
  const std::string now = program("now", at("a/libone.so.1") + " -Wl,-rpath-link," + at("c") +
                                             " -Wl,--enable-new-dtags,-rpath," + path);
  const Result<Loads> missing = loads(now, input());
  ASSERT_TRUE(missing);
  ASSERT_THAT(missing->missing, SizeIs(1));
  EXPECT_EQ(missing->missing[0].name, "libdeep.so.1");
  EXPECT_EQ(missing->missing[0].asked_by, at("a/libone.so.1"));
}

TEST_F(LoaderOrder, TakesAPreloadedFileForItsSoname) {
  library("a/libone.so.1");
  library("b/libone.so.1");
  const std::string file =
      program("app", at("a/libone.so.1") + " -Wl,--disable-new-dtags,-rpath," + at("a"));
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
  const std::string file = program(
      "app", at("a/libone.so.1") + " -Wl,--disable-new-dtags,-rpath," + at("b") + ":" + at("a"));
  EXPECT_EQ(loads(file, input())->files[1].elf.path, at("a/libone.so.1"));
}

TEST_F(LoaderOrder, LeavesOutWhatAnAuditModuleAnswers) {
  library("a/libone.so.1");
  const std::string file =
      program("app", at("a/libone.so.1") + " -Wl,--disable-new-dtags,-rpath," + at("a"));
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
