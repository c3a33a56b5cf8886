// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include "placement/meeting/rendezvous.hpp"
#include "tests/support/machines.hpp"

namespace hierbar::test {

inline constexpr std::uint32_t kMaxRanks = 16;
inline constexpr std::uint64_t kLong_ns = 60'000'000'000;
inline constexpr std::uint64_t kShort_ns = 50'000'000;

// What the ranks, which are processes, tell the test.
struct Shared {
  std::atomic<int> loads;
  struct Result {
    std::atomic<int> verdict;  // of Verdict; -1 not yet, -2 an error
    std::atomic<std::uint32_t> num_facts;
    std::atomic<std::uint32_t> sum_of_threads;
    std::atomic<std::size_t> num_units;
  } results[kMaxRanks];
};

class Rendezvous : public testing::Test {
 protected:
  Rendezvous() {
    std::string directory = "/dev/shm/hierbar-test-XXXXXX";
    EXPECT_NE(mkdtemp(directory.data()), nullptr);
    directory_ = directory;
    shared_ = new (mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                        -1, 0)) Shared;
    forget();
  }
  ~Rendezvous() override {
    std::filesystem::remove_all(directory_);
    munmap(shared_, sizeof(Shared));
  }

  void forget() {
    shared_->loads = 0;
    for (Shared::Result& result : shared_->results) result.verdict = -1;
  }

  void take_part(std::uint32_t rank, std::uint32_t num_ranks, std::uint64_t patience_ns,
                 Shared::Result& result) const {
    MeetingRequest request{.job_key = "test",
                           .rank = rank,
                           .num_ranks = num_ranks,
                           .patience_ns = patience_ns,
                           .directory = directory_};
    request.facts = {{CpuSet::range(rank, rank), rank + 1}, CpuSet::range(0, 15)};
    const Machine machine = make_kunpeng();
    Result<Meeting> meeting = meet(
        request,
        [&] {
          ++shared_->loads;
          return &machine;
        },
        [](const std::vector<RankFacts>&) { return Verdict::kEqualParts; });
    if (meeting) {
      for (const RankFacts& facts : meeting->facts) result.sum_of_threads += facts.need.num_threads;
      result.num_facts = static_cast<std::uint32_t>(meeting->facts.size());
      result.num_units = meeting->machine ? meeting->machine->units.size() : 0;
      if (meeting->is_maker) result.num_units = machine.units.size();
    }
    result.verdict = meeting ? static_cast<int>(meeting->verdict) : -2;
  }

  // A process that takes part and ends. Its result goes to entry `entry`.
  pid_t start(std::uint32_t rank, std::uint32_t num_ranks, std::uint64_t patience_ns,
              std::uint32_t entry) {
    const pid_t child = fork();
    if (child != 0) return child;
    try {
      take_part(rank, num_ranks, patience_ns, shared_->results[entry]);
    } catch (...) {  // the result stays -1, and nothing of the test runs twice
    }
    _exit(0);
  }
  pid_t start(std::uint32_t rank, std::uint32_t num_ranks, std::uint64_t patience_ns) {
    return start(rank, num_ranks, patience_ns, rank);
  }

  static void await(const std::vector<pid_t>& children) {
    for (const pid_t child : children) waitpid(child, nullptr, 0);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_))
      names.push_back(entry.path().filename());
    return names;
  }
  // Looks again and again, so that nothing depends on how long it takes.
  void await_name() const {
    while (names().empty()) usleep(100);
  }
  Verdict verdict(std::uint32_t entry) const {
    return static_cast<Verdict>(shared_->results[entry].verdict.load());
  }

  std::string directory_;
  Shared* shared_;
};

}  // namespace hierbar::test
