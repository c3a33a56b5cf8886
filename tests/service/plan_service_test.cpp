// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gmock/gmock.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "service/plan_service.h"

extern "C" std::uint32_t leaders_counted_in_c(std::uint32_t num_participants);

namespace {

// ---- what a process gets from libhierbar.so, as lines of text ----

using Lines = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

constexpr const char* kKunpeng = "pack:2 die:2 [numa] l3:1 group:8 l2:4 core:1 pu:1";

void append_line(void* lines, const char* line) { static_cast<Lines*>(lines)->push_back(line); }

// The library reads settings and the machine once in a process, so every test looks at it from a
// new one. `body` appends what it sees to its argument.
template <typename Body>
Lines in_new_process(const Variables& variables, const Body& body) {
  int ends[2];
  if (pipe(ends) != 0) return {"no pipe"};
  const pid_t child = fork();
  if (child == 0) {
    for (const char* name :
         {"HIERBAR_TOPOLOGY", "HIERBAR_LEVELS", "HIERBAR_RELEASE", "HIERBAR_PROFILE"})
      unsetenv(name);
    setenv("XDG_CONFIG_HOME", "/nowhere", 1);
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    alarm(60);
    Lines lines;
    body(lines);
    std::string text;
    for (const std::string& line : lines) text += line + '\n';
    const bool written =
        write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    std::_Exit(written ? 0 : 1);  // not _exit(): ThreadSanitizer looks there for threads, and
                                  // fork() does not bring the parent's
  }
  close(ends[1]);
  Lines lines;
  FILE* input = fdopen(ends[0], "r");
  char buffer[4096];
  while (fgets(buffer, sizeof buffer, input) != nullptr) {
    lines.emplace_back(buffer);
    lines.back().pop_back();
  }
  fclose(input);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) lines.push_back("the process ended with status " + std::to_string(status));
  return lines;
}

// Bindings of single cpus.
class Bindings {
 public:
  explicit Bindings(const std::vector<std::uint32_t>& cpus)
      : words_(cpus.size()), cpus_(cpus.size()) {
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      words_[i].resize(cpus[i] / 64 + 1);
      words_[i].back() = std::uint64_t{1} << (cpus[i] % 64);
      cpus_[i] = hierbar_cpus{words_[i].data(), static_cast<std::uint32_t>(words_[i].size())};
    }
  }
  const hierbar_cpus* data() const { return cpus_.data(); }

 private:
  std::vector<std::vector<std::uint64_t>> words_;
  std::vector<hierbar_cpus> cpus_;
};

// 14 participants, one on each NUMA node of a Kunpeng in turn.
Bindings by_numa_node() {
  std::vector<std::uint32_t> cpus;
  for (std::uint32_t i = 0; i < 14; ++i) cpus.push_back(i % 4 * 32 + i / 4);
  return Bindings(cpus);
}

// What is reported, then "leaders: 0 1 2" or "error <errno>".
void plan_into(Lines& lines, std::uint32_t num_participants, const hierbar_cpus* cpus = nullptr,
               decltype(&hierbar_plan_create) create = hierbar_plan_create) {
  const hierbar_plan* plan = reinterpret_cast<const hierbar_plan*>(&lines);
  const int error = create(num_participants, cpus, append_line, &lines, &plan);
  if (error != 0) {
    lines.push_back("error " + std::to_string(error) +
                    (plan == nullptr ? "" : ", a plan nevertheless"));
    return;
  }
  std::string leaders = "leaders:";
  for (std::uint32_t i = 0; i < plan->num_leaders; ++i)
    leaders += ' ' + std::to_string(plan->leaders[i]);
  lines.push_back(leaders + (plan->release == HIERBAR_RELEASE_LINES ? ", lines" : ""));
  hierbar_plan_destroy(plan);
}

// ---- the tests ----

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// How many cpus a process has decides the shape for participants that are not bound.
void use_one_cpu() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(sched_getcpu(), &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
}

TEST(PlanService, HasTheVersionOfItsHeader) {
  EXPECT_EQ(hierbar_plan_abi_version(), HIERBAR_PLAN_ABI_VERSION);
}

TEST(PlanService, SpeaksC) {
  EXPECT_THAT(
      in_new_process(
          {}, [](Lines& lines) { lines.push_back(std::to_string(leaders_counted_in_c(3))); }),
      ElementsAre("3"));
}

TEST(PlanService, RefusesNobodyAndTooMany) {
  EXPECT_THAT(in_new_process({}, [](Lines& lines) { plan_into(lines, 0); }),
              ElementsAre(HasSubstr("not 0"), "error " + std::to_string(EINVAL)));
  EXPECT_THAT(in_new_process({}, [](Lines& lines) { plan_into(lines, 4000000000U); }),
              ElementsAre(HasSubstr("not 4000000000"), "error " + std::to_string(EINVAL)));
}

TEST(PlanService, DestroyingNoPlanIsAllowed) { hierbar_plan_destroy(nullptr); }

TEST(PlanService, FollowsTheBindings) {
  EXPECT_THAT(in_new_process({{"HIERBAR_TOPOLOGY", kKunpeng}},
                             [](Lines& lines) { plan_into(lines, 14, by_numa_node().data()); }),
              ElementsAre("leaders: 0 1 2 3"));
}

TEST(PlanService, UnboundParticipantsThatOutnumberTheCpusOfTheProcessAreFlat) {
  const std::string all = "leaders: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19";
  EXPECT_THAT(in_new_process({{"HIERBAR_TOPOLOGY", kKunpeng}},
                             [](Lines& lines) {
                               use_one_cpu();
                               plan_into(lines, 20);
                               const std::vector<hierbar_cpus> unbound(20);
                               plan_into(lines, 20, unbound.data());
                             }),
              ElementsAre(all, all));
}

TEST(PlanService, ParticipantsThatShareCpusHaveALeaderForEachDomain) {
  const Bindings two_cpus({0, 32, 0, 32, 0, 32});
  EXPECT_THAT(in_new_process({{"HIERBAR_TOPOLOGY", kKunpeng}},
                             [&](Lines& lines) { plan_into(lines, 6, two_cpus.data()); }),
              ElementsAre("leaders: 0 1"));
}

TEST(PlanService, SettingsChooseTheDomainAndTheRelease) {
  EXPECT_THAT(in_new_process({{"HIERBAR_TOPOLOGY", kKunpeng},
                              {"HIERBAR_LEVELS", "package"},
                              {"HIERBAR_RELEASE", "lines"}},
                             [](Lines& lines) { plan_into(lines, 14, by_numa_node().data()); }),
              ElementsAre("leaders: 0 2, lines"));
}

// Of a package with one rank on each NUMA node the lowest one leads; a small team's too.
TEST(PlanService, MakesThePapersGroups) {
  const Bindings cpus({0, 32, 64, 96});
  EXPECT_THAT(in_new_process({{"HIERBAR_TOPOLOGY", kKunpeng}, {"HIERBAR_LEVELS", "package"}},
                             [&](Lines& lines) {
                               plan_into(lines, 4, cpus.data(), hierbar_plan_create_groups);
                             }),
              ElementsAre("leaders: 0 2"));
}

TEST(PlanService, SaysWhyThereAreNoGroups) {
  EXPECT_THAT(in_new_process(
                  {{"HIERBAR_TOPOLOGY", kKunpeng}},
                  [](Lines& lines) { plan_into(lines, 4, nullptr, hierbar_plan_create_groups); }),
              ElementsAre(HasSubstr("is not bound to cpus"), "error " + std::to_string(EINVAL)));
}

TEST(PlanService, SmallTeamsNeedNoMachine) {
  EXPECT_THAT(in_new_process({{"HIERBAR_TOPOLOGY", "nonsense"}},
                             [](Lines& lines) {
                               plan_into(lines, 4);
                               lines.emplace_back("now five");
                               plan_into(lines, 5);
                               plan_into(lines, 5);
                             }),
              ElementsAre("leaders: 0 1 2 3", "now five",
                          AllOf(HasSubstr("HIERBAR_TOPOLOGY"), HasSubstr("nonsense")),
                          "leaders: 0 1 2 3 4", "leaders: 0 1 2 3 4"));
}

TEST(PlanService, ChecksAllSettingsAndReportsEachOnce) {
  const Variables bad = {{"HIERBAR_LEVELS", "l9"},
                         {"HIERBAR_RELEASE", "bells"},
                         {"HIERBAR_TOPOLOGY", "/nowhere/node.xml"}};
  EXPECT_THAT(
      in_new_process(
          bad,
          [](Lines& lines) {
            lines.push_back("bad: " + std::to_string(hierbar_check_settings(append_line, &lines)));
            lines.push_back("bad: " + std::to_string(hierbar_check_settings(append_line, &lines)));
            plan_into(lines, 5);
          }),
      ElementsAre(AllOf(HasSubstr("HIERBAR_LEVELS"), HasSubstr("'l9'"), HasSubstr("allowed"),
                        HasSubstr("used instead")),
                  AllOf(HasSubstr("HIERBAR_RELEASE"), HasSubstr("'bells'"), HasSubstr("allowed")),
                  AllOf(HasSubstr("HIERBAR_TOPOLOGY"), HasSubstr("'/nowhere/node.xml'"),
                        HasSubstr("used instead")),
                  "bad: 3", "bad: 3", "leaders: 0 1 2 3 4"));
}

TEST(PlanService, GoodSettingsAreCheckedInSilence) {
  EXPECT_THAT(in_new_process({{"HIERBAR_LEVELS", "numa"},
                              {"HIERBAR_RELEASE", "flags"},
                              {"HIERBAR_TOPOLOGY", kKunpeng}},
                             [](Lines& lines) {
                               if (hierbar_check_settings(append_line, &lines) != 0)
                                 lines.emplace_back("bad");
                             }),
              IsEmpty());
}

TEST(PlanService, ALevelThatTheMachineLacksIsReportedOnce) {
  EXPECT_THAT(in_new_process({{"HIERBAR_TOPOLOGY", "core:8 pu:1"}, {"HIERBAR_LEVELS", "l3"}},
                             [](Lines& lines) {
                               plan_into(lines, 5);
                               plan_into(lines, 5);
                             }),
              ElementsAre(AllOf(HasSubstr("HIERBAR_LEVELS"), HasSubstr("'l3'"),
                                HasSubstr("allowed"), HasSubstr("used instead")),
                          "leaders: 0 1 2 3 4", "leaders: 0 1 2 3 4"));
}

TEST(PlanService, WhatNobodyListenedToIsToldToTheNext) {
  EXPECT_THAT(in_new_process({{"HIERBAR_RELEASE", "bells"}},
                             [](Lines& lines) {
                               hierbar_check_settings(nullptr, nullptr);
                               hierbar_check_settings(append_line, &lines);
                             }),
              ElementsAre(HasSubstr("HIERBAR_RELEASE")));
}

TEST(PlanService, ManyThreadsLoadTheMachineOnce) {
  EXPECT_THAT(in_new_process({{"HIERBAR_TOPOLOGY", "nonsense"}},
                             [](Lines& lines) {
                               std::vector<Lines> seen(8);
                               std::vector<std::thread> threads;
                               for (Lines& own : seen)
                                 threads.emplace_back([&own] { plan_into(own, 5); });
                               for (std::thread& thread : threads) thread.join();
                               for (const Lines& own : seen)
                                 lines.insert(lines.end(), own.begin(), own.end());
                               std::erase(lines, "leaders: 0 1 2 3 4");
                             }),
              ElementsAre(HasSubstr("nonsense")));
}

TEST(PlanService, AChildForkedDuringTheLoadCanMakePlans) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP()
      << "the sanitizer's own allocator may be locked in a child of a process with threads";
#endif
  for (int repetition = 0; repetition < 20; ++repetition) {
    const Lines lines = in_new_process({{"HIERBAR_TOPOLOGY", kKunpeng}}, [](Lines& result) {
      std::atomic<bool> started = false;
      Lines of_thread;
      std::thread loader([&] {
        started = true;
        plan_into(of_thread, 14, by_numa_node().data());
      });
      while (!started) std::this_thread::yield();
      const pid_t grandchild = fork();
      if (grandchild == 0) {
        alarm(30);
        Lines of_child;
        plan_into(of_child, 14, by_numa_node().data());
        std::_Exit(of_child == Lines{"leaders: 0 1 2 3"} ? 0 : 1);
      }
      int status = 0;
      waitpid(grandchild, &status, 0);
      loader.join();
      if (status != 0) result.push_back("the child ended with status " + std::to_string(status));
    });
    ASSERT_THAT(lines, IsEmpty());
  }
}

TEST(PlanService, OutOfMemoryIsReported) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need more address space than the limit that this test sets";
#endif
  EXPECT_THAT(
      in_new_process({},
                     [](Lines& lines) {
                       plan_into(lines, 5);
                       rlimit limit{};
                       getrlimit(RLIMIT_AS, &limit);
                       limit.rlim_cur = 60 << 20;
                       setrlimit(RLIMIT_AS, &limit);
                       plan_into(lines, 1U << 20);
                     }),
      ElementsAre("leaders: 0 1 2 3 4", HasSubstr("alloc"), "error " + std::to_string(ENOMEM)));
}

TEST(PlanService, DescribesTheMachineAndThePlan) {
  const Lines lines = in_new_process({{"HIERBAR_TOPOLOGY", kKunpeng}}, [](Lines& result) {
    hierbar_describe_machine(append_line, &result);
    const hierbar_plan* plan = nullptr;
    hierbar_plan_create(14, by_numa_node().data(), append_line, &result, &plan);
    hierbar_describe_plan(plan, append_line, &result);
    hierbar_plan_destroy(plan);
  });
  EXPECT_THAT(lines, ::testing::Contains(HasSubstr("numa")));
  EXPECT_THAT(lines, ::testing::Contains(HasSubstr("loaded in")));
  EXPECT_THAT(lines, ::testing::Contains("engine: 14 participants, depth 3 line transfers"));
}

// The path of a profile of kKunpeng that gives 14 participants on 14 cores of 4 domains 2 leaders.
std::string written_profile(const std::string& name, const std::string& text) {
  std::string path = "plan_service_" + std::to_string(getpid()) + name;
  std::ofstream(path) << text;
  return path;
}
const std::string kProfile =
    R"({"format": "hierbar-profile-1", "hierbar": ")" HIERBAR_VERSION_STRING
    R"(", "machine": {"cpu": ")" +
    std::string(kKunpeng) +
    R"(", "shape": "package 2, numa 4, die 4, l3 4, cluster 32, l2 128, core 128, cpu 128"}, "plans": )" +
    R"([{"participants": 14, "cores": 14, "domains": 4, "shape": {"leaders": 2, "release": "lines"}}]})";

TEST(PlanService, AProfileOfTheMachineShapesThePlanAndSaysSo) {
  const std::string path = written_profile("good.json", kProfile);
  const Lines lines = in_new_process(
      {{"HIERBAR_TOPOLOGY", kKunpeng}, {"HIERBAR_PROFILE", path}}, [](Lines& result) {
        plan_into(result, 14, by_numa_node().data());
        plan_into(result, 13, by_numa_node().data());
        hierbar_describe_machine(append_line, &result);
        const hierbar_plan* plan = nullptr;
        hierbar_plan_create(14, by_numa_node().data(), append_line, &result, &plan);
        hierbar_describe_plan(plan, append_line, &result);
        hierbar_plan_destroy(plan);
      });
  unlink(path.c_str());
  ASSERT_GE(lines.size(), 2U);
  EXPECT_EQ(lines[0], "leaders: 0 2, lines");
  EXPECT_EQ(lines[1], "leaders: 0 1 2 3") << "not a team that was measured";
  EXPECT_THAT(lines, ::testing::Contains("profile " + path + ": measured shapes for teams of 14"));
  EXPECT_THAT(lines, ::testing::Contains(HasSubstr("from the profile of this machine")));
}

TEST(PlanService, AStaleOrBrokenProfileIsToldOnceAndIgnored) {
  const std::string stale = written_profile("stale.json", kProfile);
  EXPECT_THAT(in_new_process({{"HIERBAR_TOPOLOGY", "l3:2 core:8 pu:1"}, {"HIERBAR_PROFILE", stale}},
                             [](Lines& lines) {
                               lines.push_back("bad: " + std::to_string(hierbar_check_settings(
                                                             append_line, &lines)));
                               plan_into(lines, 5);
                               plan_into(lines, 14);
                               hierbar_describe_machine(append_line, &lines);
                               lines.resize(4);
                             }),
              ElementsAre("bad: 0", AllOf(HasSubstr(stale), HasSubstr("another machine")),
                          "leaders: 0 1 2 3 4", HasSubstr("leaders: 0 1")));
  unlink(stale.c_str());
  EXPECT_THAT(in_new_process({{"HIERBAR_PROFILE", "/nowhere/profile.json"}},
                             [](Lines& lines) {
                               lines.push_back("bad: " + std::to_string(hierbar_check_settings(
                                                             append_line, &lines)));
                               plan_into(lines, 5);
                             }),
              ElementsAre(AllOf(HasSubstr("/nowhere/profile.json"), HasSubstr("No such file")),
                          "bad: 1", "leaders: 0 1 2 3 4"));
}

TEST(PlanService, SettingsWinOverTheProfileAndOffLeavesItOut) {
  const std::string path = written_profile("settings.json", kProfile);
  const auto planned_with = [&](const Variables& more) {
    Variables variables = {{"HIERBAR_TOPOLOGY", kKunpeng}, {"HIERBAR_PROFILE", path}};
    for (const auto& [name, value] : more) variables[name] = value;
    return in_new_process(variables,
                          [](Lines& lines) { plan_into(lines, 14, by_numa_node().data()); });
  };
  EXPECT_THAT(planned_with({{"HIERBAR_RELEASE", "auto"}}), ElementsAre("leaders: 0 2, lines"));
  EXPECT_THAT(planned_with({{"HIERBAR_RELEASE", "flags"}}), ElementsAre("leaders: 0 2"));
  EXPECT_THAT(planned_with({{"HIERBAR_LEVELS", "numa"}}), ElementsAre("leaders: 0 1 2 3"));
  EXPECT_THAT(planned_with({{"HIERBAR_PROFILE", "off"}}), ElementsAre("leaders: 0 1 2 3"));
  unlink(path.c_str());
}

}  // namespace
