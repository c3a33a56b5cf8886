// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "elf/elf_file.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <iterator>

#include "tests/elf/small_programs.hpp"

namespace hierbar {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ElfFiles : public test::SmallPrograms {};

TEST_F(ElfFiles, TellWhatTheyNeedAndWhere) {
  library("libone.so.1");
  const Result<ElfFile> old = read_elf(program("old", at("libone.so.1") + " -Wl,--disable-new-dtags,-rpath,'$ORIGIN:/b'"));
  ASSERT_TRUE(old) << old.error();
  EXPECT_TRUE(old->is_dynamic);
  EXPECT_THAT(old->interpreter, HasSubstr("/ld-"));
  EXPECT_THAT(old->needed, Contains("libone.so.1"));
  EXPECT_EQ(old->rpath, "$ORIGIN:/b");
  EXPECT_THAT(old->runpath, IsEmpty());
  const Result<ElfFile> now =
      read_elf(program("now", at("libone.so.1") + " -Wl,--enable-new-dtags,-rpath,/c -Wl,-z,nodefaultlib"));
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
  EXPECT_THAT(read_elf(at("")).error(), HasSubstr("no regular file"));
  EXPECT_THAT(read_elf(at("none")).error(), HasSubstr("No such file"));
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_THAT(read_elf(at("pipe")).error(), HasSubstr("no regular file"));
}

// A file that was cut or damaged is refused or read in part; what it cannot do is to lead outside.
TEST_F(ElfFiles, SurviveDamage) {
  library("libone.so.1");
  std::ifstream stream(program("whole", at("libone.so.1") + " -Wl,-rpath,/somewhere"), std::ios::binary);
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

}  // namespace
}  // namespace hierbar
