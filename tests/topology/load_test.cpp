// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/load.hpp"

#include <gmock/gmock.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "tests/support/machines.hpp"
#include "tests/topology/known_topologies.hpp"
#include "topology/export/lstopo_xml.hpp"
#include "topology/machine.hpp"

// hwloc 2.9, read without its libxml plugin, leaks what it has read of a file that breaks off.
// LeakSanitizer asks for this; in other builds nobody does.
extern "C" [[gnu::visibility("default")]] const char* __lsan_default_suppressions() {
  return "leak:hwloc_alloc_setup_object\nleak:hwloc_bitmap_alloc\n";
}

namespace hierbar {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StrEq;

std::string write_file(const std::string& name, const std::string& text) {
  const std::string path =
      testing::TempDir() + "hierbar_load_test_" + std::to_string(getpid()) + name;
  std::ofstream(path) << text;
  return path;
}

// A file that is removed when the test ends.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& text) : path_(write_file(name, text)) {}
  ~TemporaryFile() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string error_of(const std::string& description) {
  const Result<Machine> machine = load_described_machine(description);
  return machine.ok() ? "loaded" : machine.error();
}

TEST(LoadDescribedMachine, ReadsAnXmlFile) {
  const TemporaryFile file("awkward.xml", awkward_machine());
  const Result<Machine> loaded = load_described_machine(file.path());
  ASSERT_TRUE(loaded.ok()) << loaded.error();
  const Machine& machine = *loaded;
  EXPECT_EQ(machine.present.to_string(), "0-7");
  EXPECT_EQ(machine.allowed.to_string(), "0-5");
  EXPECT_EQ(machine.line_bytes, 128U);
  EXPECT_EQ(machine.l3_bytes, 3U << 20);
  EXPECT_EQ(machine.name, file.path());
  EXPECT_GT(machine.load_ns, 0U);
  EXPECT_THAT(machine.warnings, IsEmpty());
  ASSERT_EQ(machine.units.size(), 7U);
  EXPECT_EQ(machine.units[0].labels,
            label_bits({Level::kMachine, Level::kPackage, Level::kL3, Level::kNuma}));
  EXPECT_EQ(machine.units[1].labels, label_bits({Level::kCluster}));
  EXPECT_EQ(machine.units[2].labels, label_bits({Level::kCore}));
  EXPECT_EQ(machine.units[3].labels, label_bits({Level::kCore, Level::kL2}));
  EXPECT_EQ(machine.units[4].cpus.to_string(), "4-7");
}

TEST(LoadDescribedMachine, TakesAnExistingFileForXmlWhateverItsName) {
  const TemporaryFile file("machine", awkward_machine());
  EXPECT_TRUE(load_described_machine(file.path()).ok());
}

TEST(LoadDescribedMachine, SaysThatAFileCannotBeRead) {
  for (const char* path :
       {"/nonexistent/machine.xml", "./nonexistent", "../nonexistent", "nonexistent.xml"}) {
    EXPECT_THAT(error_of(path),
                AllOf(HasSubstr(path), HasSubstr("No such file"), HasSubstr("allowed")))
        << path;
  }
  EXPECT_THAT(error_of("/"), HasSubstr("not a regular file"));
}

TEST(LoadDescribedMachine, RefusesFilesThatHwlocCannotRead) {
  const std::string good = awkward_machine();
  std::string newer = good;
  newer.replace(newer.find("version=\"2.0\""), 13, "version=\"9.0\"");
  const std::string bad[] = {"", "no xml at all", good.substr(0, good.size() / 2), newer,
                             "<?xml version=\"1.0\"?><html/>"};
  for (const std::string& text : bad) {
    const TemporaryFile file("bad.xml", text);
    EXPECT_THAT(error_of(file.path()),
                AllOf(HasSubstr(file.path()), HasSubstr("not an XML file"), HasSubstr("allowed")))
        << text;
  }
}

TEST(LoadDescribedMachine, RefusesDescriptionsThatHwlocDoesNotUnderstand) {
  for (const char* text : {"", "foo:3", "pack:0", "pack:2 core:2 pu", "l9:4 pu:1", "pack:-1 pu:1",
                           "pack:2 pu:2 core:2"}) {
    EXPECT_THAT(error_of(text),
                AllOf(HasSubstr(text), HasSubstr("synthetic"), HasSubstr("allowed")))
        << text;
  }
}

TEST(LoadDescribedMachine, RefusesMachinesTooLargeToBuild) {
  for (const char* text :
       {"group:1000000000 pu:10000", "pack:65537 pu:1", "300 300", "pu:18446744073709551617"}) {
    EXPECT_THAT(error_of(text), HasSubstr("more than 8192 cpus")) << text;
  }
  for (const char* text : {"core(:65536 pu:1", "core [:65536 pu]:1", "core:+65536 pu:1",
                           "core:0x10000 pu:1", "core: 65536 pu:1", "pack:2\n65536",
                           "pack:1(size=1)65536", "(memory=1)65536", "[numa]core:65536 pu:1"}) {
    EXPECT_THAT(error_of(text), HasSubstr("more than 8192 cpus")) << "as hwloc reads it: " << text;
  }
  // Neither sizes nor memory are cpus.
  EXPECT_EQ(error_of("pack:2 [numa(memory=64GB)] l3:1(size=32000000) core:2 pu:1"), "loaded");
}

TEST(LoadMachine, ReadsTheLiveMachineWithoutASetting) {
  for (const char* setting : {static_cast<const char*>(nullptr), ""}) {
    const Result<Machine> machine = load_machine(setting);
    ASSERT_TRUE(machine.ok()) << machine.error();
    EXPECT_THAT(machine->warnings, IsEmpty());
    EXPECT_TRUE(machine->allowed.test(static_cast<std::uint32_t>(sched_getcpu())));
    EXPECT_EQ(machine->units[0].cpus, machine->present);
    EXPECT_FALSE(machine->name.empty());
  }
}

TEST(LoadMachine, ObeysASetting) {
  const Result<Machine> machine = load_machine(test::kKunpeng);
  ASSERT_TRUE(machine.ok());
  EXPECT_EQ(machine->present.count(), 128U);
  EXPECT_EQ(machine->name, test::kKunpeng);
  EXPECT_THAT(machine->warnings, IsEmpty());
}

TEST(LoadMachine, FallsBackToTheLiveMachineAndSaysSo) {
  const Result<Machine> live = load_machine(nullptr);
  const Result<Machine> machine = load_machine("l9:4");
  ASSERT_TRUE(machine.ok());
  EXPECT_EQ(machine->present, live->present);
  EXPECT_EQ(machine->units.size(), live->units.size());
  EXPECT_THAT(machine->warnings, ElementsAre(AllOf(HasSubstr("HIERBAR_TOPOLOGY: 'l9:4'"),
                                                   HasSubstr("allowed: an hwloc XML file"),
                                                   HasSubstr("the live machine is used instead"))));
}

// awkward_machine() with each `part` replaced.
std::string altered_machine(const std::string& part, const std::string& by) {
  std::string text = awkward_machine();
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + by.size())) {
    text.replace(at, part.size(), by);
  }
  return text;
}

// Sets of cpus without an end are what hwloc means by "all", and its parser lets them pass: whoever
// goes through one comes to no end.
TEST(LoadDescribedMachine, RefusesCpusWithoutAnEnd) {
  const TemporaryFile file("endless.xml",
                           altered_machine(R"(cpuset="0xff" complete_cpuset="0x1ff" )",
                                           R"(cpuset="0xf...f" complete_cpuset="0xf...f" )"));
  EXPECT_THAT(error_of(file.path()), AllOf(HasSubstr(file.path()), HasSubstr("allowed: ")));
}

// hwloc 2.9 follows the null pointer that each of these leaves.
TEST(LoadDescribedMachine, RefusesSetsWithoutTheCompleteOnes) {
  for (const char* set : {"cpuset", "nodeset"}) {
    const TemporaryFile file("incomplete.xml", altered_machine(std::string("complete_") + set,
                                                               std::string("complmte_") + set));
    EXPECT_THAT(error_of(file.path()),
                AllOf(HasSubstr(file.path()), HasSubstr(std::string("no complete_") + set)));
  }
}

// A recorded machine without cpus, and elements in each other far deeper than machines are: hwloc
// calls itself for each.
TEST(LoadDescribedMachine, RefusesWhatIsNoMachine) {
  std::string deep = "<topology>";
  for (int i = 0; i < 100'000; ++i) deep += "<object type=\"Group\">";
  for (const auto& [text, problem] :
       {std::pair(altered_machine("\"PU\"", "\"Misc\""), "there is no cpu in it"),
        std::pair(altered_machine("allowed_cpuset", "a"), "has no allowed_cpuset"),
        std::pair(deep, "too deep")}) {
    const TemporaryFile file("none.xml", text);
    EXPECT_THAT(error_of(file.path()), HasSubstr(problem));
  }
}

// hwloc's own parser takes what follows for a part of the value, or ends there. In both cases it
// misses the complete set.
TEST(LoadDescribedMachine, RefusesAttributesThatDoNotEnd) {
  const TemporaryFile endless("endless.xml",
                              altered_machine(R"(cpuset="0x0c" c)", R"(cpuset="0x0c c)"));
  EXPECT_THAT(error_of(endless.path()), HasSubstr("NAME=\"VALUE\""));
  const TemporaryFile zero("zero.xml", altered_machine("0x0c", std::string("0x\0", 3)));
  EXPECT_THAT(error_of(zero.path()), HasSubstr("a byte of value 0"));
}

TEST(LoadDescribedMachine, IgnoresLinesThatCannotBe) {
  for (const char* bytes : {"4294967295", "8192"}) {
    const TemporaryFile file(
        "lines.xml",
        altered_machine("cache_linesize=\"128\"", std::string("cache_linesize=\"") + bytes + "\""));
    const Result<Machine> machine = load_described_machine(file.path());
    ASSERT_TRUE(machine.ok()) << machine.error();
    EXPECT_EQ(machine->line_bytes, 64U) << "of the L2";
    EXPECT_THAT(machine->warnings, testing::Contains(HasSubstr(bytes)));
  }
}

TEST(LoadDescribedMachine, RefusesFilesThatAreTooLarge) {
  const TemporaryFile file("large.xml", awkward_machine());
  ASSERT_EQ(truncate(file.path().c_str(), static_cast<off_t>(kMaxTopologyBytes) + 1), 0);
  EXPECT_THAT(error_of(file.path()), HasSubstr("larger than 64 MiB"));
}

// hwloc would build it until the memory is full.
TEST(LstopoXml, RefusesMachinesThatAreTooLarge) {
  EXPECT_THAT(write_lstopo_xml("/dev/null", "pack:99999 core:99999", {}),
              HasSubstr("more than 8192 cpus"));
}

// Sets a variable for one test.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(LoadLiveMachine, ObeysHwlocsOwnVariables) {
  const TemporaryFile file("awkward.xml", awkward_machine());
  const ScopedVariable variable("HWLOC_XMLFILE", file.path());
  const Result<Machine> machine = load_live_machine();
  ASSERT_TRUE(machine.ok());
  EXPECT_EQ(machine->present.count(), 8U);
  EXPECT_THAT(machine->warnings, IsEmpty());
}

TEST(LoadLiveMachine, IgnoresThemWhenHwlocFailsBecauseOfThem) {
  const Result<Machine> live = load_live_machine();
  std::string newer = awkward_machine();
  newer.replace(newer.find("version=\"2.0\""), 13, "version=\"9.0\"");
  const TemporaryFile file("newer.xml", newer);
  for (const auto& [name, value] : {std::pair("HWLOC_XMLFILE", file.path()),
                                    std::pair("HWLOC_COMPONENTS", std::string("stop"))}) {
    const ScopedVariable variable(name, value);
    const Result<Machine> machine = load_live_machine();
    ASSERT_TRUE(machine.ok()) << name;
    EXPECT_EQ(machine->present, live->present);
    EXPECT_THAT(machine->warnings,
                ElementsAre(AllOf(HasSubstr(name), HasSubstr(value), HasSubstr("ignored"))));
    EXPECT_THAT(getenv(name), StrEq(value));
  }
}

}  // namespace
}  // namespace hierbar
